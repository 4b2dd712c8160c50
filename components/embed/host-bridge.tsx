import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useSWRConfig } from "swr";
import { useConnection } from "@/components/frame/connection/connection-context";
import { turnEmbedTheme } from "@/components/frame/look/theme";
import { usePathname, useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi, onAnswer } from "@/lib/browser/api";
import { beginSession, type Begun, endEmbedSession, keepsMemory, shareBearer } from "@/lib/browser/embed/embed-session";
import { type EndReason, type HostMessage, onHostMessage, tellHost, type TicketMessage } from "@/lib/browser/embed/host-page";
import { ofTab, persisted } from "@/lib/browser/persisted";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type EmbedLook } from "@/lib/contract/embed/embed-pages";
import { isTerminalWord, toJobState } from "@/lib/contract/jobs/job-list";
import { objectOf, textOf } from "@/lib/contract/json/json";
import { useDownloads } from "./use-downloads";

/** An element as high as the window would grow the page each time the host grows the window to the page's height. */
const STEADY = "8px";
/** Kept across the reload that follows a change of rights. */
const changedRights = () => persisted("lightdesk.rights-changed", (kept) => kept === true, ofTab);

/** `leftMs`: the session's remaining time when the page was rendered. */
export type EmbeddedSession = { origin: string; leftMs: number };

/** Exchanges messages with the surrounding page: reports events, carries out requests, and renews the session. */
export function HostBridge({ session: { origin, leftMs } }: { session: EmbeddedSession }) {
  const t = useTranslations("frame.embedded");
  const router = useRouter();
  const pathname = usePathname();
  const search = useSearchParams()?.toString() ?? "";
  const path = search === "" ? pathname : `${pathname}?${search}`;
  const { mutate } = useSWRConfig();
  const [origins] = useState([origin]);
  const [isFollowed, setFollowed] = useState(false);
  const sentPath = useRef<string>(undefined);

  function leave(reason: EndReason) {
    tellHost(origins, { type: "session-ended", reason });
    // A full page load, so that nothing of the person stays in memory.
    const { lang: language, dataset } = document.documentElement;
    window.location.replace(apiPath(withQuery("/start", { ended: reason, language, theme: dataset.theme })));
  }
  function goOn(isSame: boolean) {
    if (isSame) return void mutate(() => true);
    tellHost(origins, { type: "session-ended", reason: "changed" });
    changedRights().set(true);
    window.location.reload();
  }
  const renewal = useRef<Renewal>(undefined);
  const renewed = useEffectEvent(goOn);
  const ended = useEffectEvent(leave);
  useEffect(() => {
    const started = startRenewal(leftMs, {
      ask: () => tellHost(origins, { type: "want-ticket" }),
      begin: (ticket) => beginSession(ticket, origin),
      onRenewed: (isSame) => renewed(isSame),
      onEnded: (reason) => ended(reason),
    });
    renewal.current = started;
    return () => started.stop();
  }, [leftMs, origin, origins]);
  async function look(change: EmbedLook) {
    if (change.theme) turnEmbedTheme(change.theme);
    const kept = await callApi("/api/embed/session", { method: "PATCH", json: change });
    if (kept.ok && change.language) router.refresh();
  }
  const receive = useEffectEvent((message: HostMessage) => {
    if (message.type === "navigate") router.push(message.to);
    else if (message.type === "theme") void look({ theme: message.theme });
    else if (message.type === "language") void look({ language: message.language });
    else if (message.type === "height") setFollowed(message.follow);
    else if (message.type === "choose-asset") router.push("/choose");
    else if (message.type === "end") void endEmbedSession().then(() => leave("host"));
    else if (message.type === "ticket") void renewal.current?.receive(message);
  });

  useEffect(() => onHostMessage(origins, (message) => receive(message)), [origins]);
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    if (sentPath.current === path) return;
    if (sentPath.current === undefined) tellHost(origins, { type: "ready", page: path, keeps: keepsMemory() ? "memory" : "cookie" });
    else tellHost(origins, { type: "navigated", path });
    sentPath.current = path;
  }, [origins, path]);
  const sayChanged = useEffectEvent(() => showToast({ tone: "wait", text: t("changed") }));
  useEffect(() => {
    const changed = changedRights();
    if (!changed.get()) return;
    changed.forget();
    sayChanged();
  }, []);
  useDownloads();
  useHostJobs(origins);
  useContentHeight(isFollowed, origins);
  return null;
}

/** Reports the page's height to the host at each change, if the host asked for it. */
function useContentHeight(isOn: boolean, origins: readonly string[]): void {
  useEffect(() => {
    const content = document.getElementById("content");
    if (!isOn || !content) return;
    document.documentElement.style.setProperty("--dvh", STEADY);
    let sentHeight = 0;
    const tell = () => {
      const height = Math.ceil(content.getBoundingClientRect().height);
      if (height !== sentHeight) tellHost(origins, { type: "height", height });
      sentHeight = height;
    };
    const watching = new ResizeObserver(tell);
    watching.observe(content);
    tell();
    return () => {
      watching.disconnect();
      document.documentElement.style.removeProperty("--dvh");
    };
  }, [isOn, origins]);
}

const LOOK_MS = 2000;
const MAX_COUNT = 100;

/** Tells the host of each job submitted in this page, and of its end. */
export function useHostJobs(origins: readonly string[]): void {
  const connection = useConnection()?.id;
  const connectionNow = useEffectEvent(() => connection);
  useEffect(() => {
    const open = new Map<string, string | undefined>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    async function look() {
      for (const [id, of] of [...open]) {
        const answer = await callApi<unknown>(withQuery(`/api/job/${encodeURIComponent(id)}/status`, { connection: of }));
        const word = answer.ok ? textOf(objectOf(answer.value)?.status) : undefined;
        // The end of a job that no longer exists will never be reported.
        if (!answer.ok && answer.failure.status === 404) open.delete(id);
        if (word === undefined || !isTerminalWord(word)) continue;
        open.delete(id);
        tellHost(origins, { type: "job-ended", id, status: toJobState(word) });
      }
      timer = open.size > 0 ? setTimeout(() => void look(), LOOK_MS) : undefined;
    }
    const stop = onAnswer(({ path, method, value }) => {
      const id = method === "POST" && /^\/api\/prompt(\?|$)/.test(path) ? textOf(objectOf(value)?.prompt_id) : undefined;
      if (id === undefined) return;
      tellHost(origins, { type: "job-submitted", id });
      if (open.size >= MAX_COUNT) return;
      open.set(id, new URLSearchParams(path.split("?")[1]).get("connection") ?? connectionNow());
      timer ??= setTimeout(() => void look(), LOOK_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [origins]);
}

// Renews the session of an embedded page: asks the host for the next ticket before the session ends, or at once when the console says
// that it has ended. A refused ticket ends the session; if the host or the console does not or cannot answer, it is asked again until the
// session's time is over. Must never: accept a ticket that it did not ask for.

/** A session is renewed this long before its end. */
const EARLY_MS = 3 * 60_000;
const AGAIN_MS = 20_000;

type Asks = {
  ask: () => void;
  begin: (ticket: TicketMessage) => Promise<Begun>;
  onRenewed: (isSame: boolean) => void;
  onEnded: (reason: Exclude<EndReason, "host">) => void;
};
type Renewal = { receive(ticket: TicketMessage): Promise<void>; stop(): void };

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
