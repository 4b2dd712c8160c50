// Renews the session of an embedded page: asks the host for the next ticket before the session ends, or at once when the console says
// that it has ended. A refused ticket ends the session; if the host or the console does not or cannot answer, it is asked again until the
// session's time is over. Must never: accept a ticket that it did not ask for.

import { onAnswer } from "@/lib/browser/api";
import { type Begun } from "@/lib/browser/embed/embed-session";
import { type EndReason, type TicketMessage } from "@/lib/browser/embed/host-page";

/** A session is renewed this long before its end. */
const EARLY_MS = 3 * 60_000;
const AGAIN_MS = 20_000;

type Asks = {
  ask: () => void;
  begin: (ticket: TicketMessage) => Promise<Begun>;
  onRenewed: (isSame: boolean) => void;
  onEnded: (reason: Exclude<EndReason, "host">) => void;
};
export type Renewal = { receive(ticket: TicketMessage): Promise<void>; stop(): void };

export function startRenewal(leftMs: number, { ask, begin, onRenewed, onEnded }: Asks): Renewal {
  let endMs = Date.now() + leftMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsked = false;
  let isOver = false;

  function plan(waitMs: number): void {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(renew, Math.max(0, waitMs));
  }
  function renew(): void {
    if (Date.now() >= endMs) return end("expired");
    isAsked = true;
    ask();
    plan(Math.min(AGAIN_MS, endMs - Date.now()));
  }
  function end(reason: Exclude<EndReason, "host">): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    onEnded(reason);
  }
  const stopListening = onAnswer(({ path, status }) => {
    if (status !== 401 || isAsked || path === "/api/embed/tickets") return;
    // The host may still give another ticket: the member's role may have changed.
    endMs = Math.min(endMs, Date.now() + AGAIN_MS);
    renew();
  });
  plan(leftMs - EARLY_MS);
  return {
    async receive(ticket) {
      if (!isAsked) return;
      isAsked = false;
      const begun = await begin(ticket);
      if (isOver) return;
      if (begun.ok) {
        endMs = Date.now() + begun.leftMs;
        plan(begun.leftMs - EARLY_MS);
        onRenewed(begun.isSame);
      } else if (begun.reason !== "unreachable" && begun.reason !== "console") end("refused");
    },
    stop() {
      isOver = true;
      stopListening();
      clearTimeout(timer);
    },
  };
}
