// Timeouts of upstream calls, and unresponsive services.

import "server-only";

export function createDeadline(limitMs: number, outer?: AbortSignal | null, mostMs = Infinity) {
  const controller = new AbortController();
  const endMs = performance.now() + mostMs;
  let expired = false;
  const expire = () => {
    expired = true;
    controller.abort(new Error("time limit"));
  };
  let timer: NodeJS.Timeout | undefined = setTimeout(expire, Math.min(limitMs, mostMs));
  return {
    // With the caller's own reason, so that code that pipes a body to the caller recognises it and does not take it for a fault. No
    // listener of ours stays on the caller's signal, which may see hundreds of calls.
    signal: outer ? AbortSignal.any([controller.signal, outer]) : controller.signal,
    expire,
    touch(): void {
      if (timer === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(expire, Math.min(limitMs, endMs - performance.now()));
    },
    /** The caller's signal stays joined: it may still end a body that is being read. */
    clear(): void {
      clearTimeout(timer);
      timer = undefined;
    },
    get expired(): boolean {
      return expired;
    },
  };
}

export type ResponseTracker = {
  answered(service: string): void;
  /** Returns the function that ends it; the caller must call it. */
  begin(service: string, unresponsiveMs: number, giveUp: GiveUp): () => void;
};
/** Why the read is given up: for how many ms there was no answer, or because another request got one. */
export type GiveUp = (reason: { quietMs: number } | "answered") => void;

/** The patient read, and one that finds out whether the service is back; all others get only SHORT_MS. */
const MAX_WHILE_UNRESPONSIVE = 2;
const SHORT_MS = 500;

type PendingRead = { startMs: number; giveUp: GiveUp };
type State = { underWay: Set<PendingRead>; lastReplyMs: number; unresponsiveSinceMs?: number; patient?: PendingRead };

export function createResponseTracker(now: () => number = () => performance.now()): ResponseTracker {
  const states = new Map<string, State>();
  return {
    answered(service) {
      const state = states.get(service);
      if (!state) return;
      state.lastReplyMs = now();
      const wasUnresponsive = state.unresponsiveSinceMs !== undefined;
      state.unresponsiveSinceMs = undefined;
      state.patient = undefined;
      // A read that has just begun may be the next to be answered.
      if (wasUnresponsive)
        for (const { startMs, giveUp } of [...state.underWay]) if (startMs < state.lastReplyMs - SHORT_MS) giveUp("answered");
    },
    begin(service, unresponsiveMs, giveUp) {
      const state = states.get(service) ?? { underWay: new Set<PendingRead>(), lastReplyMs: -Infinity };
      states.set(service, state);
      const startMs = now();
      const readState: PendingRead = { startMs, giveUp };
      const isShort = state.unresponsiveSinceMs !== undefined && state.underWay.size >= MAX_WHILE_UNRESPONSIVE;
      let timer: NodeJS.Timeout | undefined;
      const look = () => {
        const fromMs = Math.max(startMs, state.lastReplyMs);
        const leftMs = fromMs + (isShort && state.lastReplyMs < startMs ? SHORT_MS : unresponsiveMs) - now();
        if (leftMs > 0) return void (timer = setTimeout(look, leftMs));
        state.unresponsiveSinceMs ??= fromMs;
        state.patient ??= readState;
        if (state.patient !== readState) giveUp({ quietMs: now() - state.unresponsiveSinceMs });
      };
      look();
      state.underWay.add(readState);
      return () => {
        clearTimeout(timer);
        state.underWay.delete(readState);
        if (state.patient === readState) state.patient = undefined;
        if (state.underWay.size === 0) states.delete(service);
      };
    },
  };
}
