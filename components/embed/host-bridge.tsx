import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useSWRConfig } from "swr";
import { useConnection } from "@/components/frame/connection/connection-context";
import { failureText } from "@/components/frame/failure/failure-message";
import { followJobs } from "@/components/frame/follow-jobs";
import { setEmbedTheme } from "@/components/frame/look/theme";
import { usePathname, useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi, onResponse } from "@/lib/browser/api";
import { beginSession, type BeginSessionResult, endEmbedSession, isSessionInMemory, shareBearer } from "@/lib/browser/embed/embed-session";
import { type EndReason, type HostMessage, onHostMessage, postToHost, type TicketMessage } from "@/lib/browser/embed/host-page";
import { saveFile } from "@/lib/browser/files/save-file";
import { restartLive } from "@/lib/browser/live/use-live";
import { persisted, tabStorage } from "@/lib/browser/persisted";
import { readFailure } from "@/lib/browser/read-answer";
import { isFailure, toFailure } from "@/lib/browser/read-failure";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type EmbedAppearance } from "@/lib/contract/embed/embed-pages";
import { parseEmbedPath } from "@/lib/shared/console-paths";

/** A fixed height, since elements as high as the window would grow each time the host adapts the frame to the page. */
const MIN_HEIGHT = "8px";
const rightsChangedFlag = () => persisted("lightdesk.rights-changed", (storedValue) => storedValue === true, tabStorage);

/** `leftMs`: the session's remaining time when the page was rendered. */
export type EmbeddedSession = { origin: string; leftMs: number };

/** Exchanges messages with the host page: reports events, handles requests, and renews the session. */
export function HostBridge({ session: { origin, leftMs } }: { session: EmbeddedSession }) {
  const t = useTranslations("frame.embedded");
  const router = useRouter();
  const pathname = usePathname();
  const search = useSearchParams()?.toString() ?? "";
  const path = search === "" ? pathname : `${pathname}?${search}`;
  const { mutate } = useSWRConfig();
  const [origins] = useState([origin]);
  const [isHeightReported, setHeightReported] = useState(false);
  const sentPath = useRef<string>(undefined);

  function leave(reason: EndReason) {
    postToHost(origins, { type: "session-ended", reason });
    // A full page load, so that no user data remains in memory.
    const { lang: language, dataset } = document.documentElement;
    window.location.replace(apiPath(withQuery("/start", { ended: reason, language, theme: dataset.theme })));
  }
  function resume(isSame: boolean) {
    if (isSame) {
      void restartLive();
      return void mutate(() => true);
    }
    postToHost(origins, { type: "session-ended", reason: "changed" });
    rightsChangedFlag().set(true);
    window.location.reload();
  }
  const renewal = useRef<Renewal>(undefined);
  const renewed = useEffectEvent(resume);
  const ended = useEffectEvent(leave);
  useEffect(() => {
    const started = startRenewal(leftMs, {
      requestTicket: () => postToHost(origins, { type: "want-ticket" }),
      begin: (ticket) => beginSession(ticket, origin),
      onRenewed: (isSame) => renewed(isSame),
      onEnded: (reason) => ended(reason),
    });
    renewal.current = started;
    return () => started.stop();
  }, [leftMs, origin, origins]);
  async function updateAppearance(change: EmbedAppearance) {
    if (change.theme) setEmbedTheme(change.theme);
    const result = await callApi("/api/embed/session", { method: "PATCH", json: change });
    if (result.ok && change.language) router.refresh();
  }
  const receive = useEffectEvent((message: HostMessage) => {
    if (message.type === "navigate") router.push(message.to);
    else if (message.type === "theme") void updateAppearance({ theme: message.theme });
    else if (message.type === "language") void updateAppearance({ language: message.language });
    else if (message.type === "height") setHeightReported(message.follow);
    else if (message.type === "choose-asset") router.push("/choose");
    else if (message.type === "end") void endEmbedSession().then(() => leave("host"));
    else if (message.type === "ticket") void renewal.current?.receive(message);
  });

  useEffect(() => onHostMessage(origins, (message) => receive(message)), [origins]);
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    if (sentPath.current === path) return;
    if (sentPath.current === undefined)
      postToHost(origins, { type: "ready", page: path, keeps: isSessionInMemory() ? "memory" : "cookie" });
    else postToHost(origins, { type: "navigated", path });
    sentPath.current = path;
  }, [origins, path]);
  const showChanged = useEffectEvent(() => showToast({ tone: "wait", text: t("changed") }));
  useEffect(() => {
    const rights = rightsChangedFlag();
    if (!rights.get()) return;
    rights.forget();
    showChanged();
  }, []);
  useDownloads();
  useHostJobs(origins);
  useContentHeight(isHeightReported, origins);
  return null;
}

/** Reports changes of the page's height to the host, if requested. */
function useContentHeight(isOn: boolean, origins: readonly string[]): void {
  useEffect(() => {
    const content = document.getElementById("content");
    if (!isOn || !content) return;
    document.documentElement.style.setProperty("--dvh", MIN_HEIGHT);
    let sentHeight = 0;
    const notify = () => {
      const height = Math.ceil(content.getBoundingClientRect().height);
      if (height !== sentHeight) postToHost(origins, { type: "height", height });
      sentHeight = height;
    };
    const observer = new ResizeObserver(notify);
    observer.observe(content);
    notify();
    return () => {
      observer.disconnect();
      document.documentElement.style.removeProperty("--dvh");
    };
  }, [isOn, origins]);
}

/** Reports jobs submitted on this page to the host, and their ends. App runs are not reported. */
export function useHostJobs(origins: readonly string[]): void {
  const connection = useConnection()?.id;
  const currentConnection = useEffectEvent(() => connection);
  useEffect(
    () =>
      followJobs({
        currentConnection: () => currentConnection(),
        onSubmitted: ({ id, app }) => app === undefined && postToHost(origins, { type: "job-submitted", id }),
        onEnded({ id, app }, status) {
          // The state of a removed job is unknown.
          if (app === undefined && status !== "unknown") postToHost(origins, { type: "job-ended", id, status });
        },
      }),
    [origins],
  );
}

/** Fetches downloads itself, since the browser would request them without the frame's cookie and token. */
function useDownloads(): void {
  const errors = useTranslations("errors");
  const save = useEffectEvent(async (href: string, name: string) => {
    try {
      const response = await fetch(href);
      if (!response.ok) throw readFailure(response.status, response.headers.get("retry-after"), await response.text());
      saveFile(name || parseFileName(response.headers.get("content-disposition") ?? ""), await response.blob());
    } catch (error) {
      const failure = isFailure(error) ? error : toFailure(error);
      showToast({ tone: "bad", text: failureText(errors, failure) });
    }
  });
  useEffect(() => {
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest("a[download]") : null;
      if (event.defaultPrevented || !(link instanceof HTMLAnchorElement) || !parseEmbedPath(link.pathname)) return;
      event.preventDefault();
      void save(link.href, link.download);
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
}

/** Parses the file name from the header, which has an ASCII and a full version. */
function parseFileName(disposition: string): string {
  const [, whole] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  const [, plain] = /filename="([^"]*)"/i.exec(disposition) ?? [];
  return whole === undefined ? (plain ?? "") : decodeURIComponent(whole);
}

// Renews an embedded session: requests a ticket before the session ends, or immediately when the console reports its end. A refused ticket ends
// the session. Without a response, it retries until the session expires. Must never accept a ticket that was not requested.

const RENEW_BEFORE_MS = 3 * 60_000;
const RETRY_MS = 20_000;

type TicketRequests = {
  requestTicket: () => void;
  begin: (ticket: TicketMessage) => Promise<BeginSessionResult>;
  onRenewed: (isSame: boolean) => void;
  onEnded: (reason: Exclude<EndReason, "host">) => void;
};
type Renewal = { receive(ticket: TicketMessage): Promise<void>; stop(): void };

export function startRenewal(leftMs: number, { requestTicket, begin, onRenewed, onEnded }: TicketRequests): Renewal {
  let endMs = Date.now() + leftMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRequested = false;
  let isOver = false;

  function scheduleRenewal(waitMs: number): void {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(renew, Math.max(0, waitMs));
  }
  function renew(): void {
    if (Date.now() >= endMs) return end("expired");
    isRequested = true;
    requestTicket();
    scheduleRenewal(Math.min(RETRY_MS, endMs - Date.now()));
  }
  function end(reason: Exclude<EndReason, "host">): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    onEnded(reason);
  }
  const stopListening = onResponse(({ path, status }) => {
    if (status !== 401 || isRequested || path === "/api/embed/tickets") return;
    // The host may still send another ticket, since the member's role may have changed.
    endMs = Math.min(endMs, Date.now() + RETRY_MS);
    renew();
  });
  scheduleRenewal(leftMs - RENEW_BEFORE_MS);
  return {
    async receive(ticket) {
      if (!isRequested) return;
      isRequested = false;
      const sessionResult = await begin(ticket);
      if (isOver) return;
      if (sessionResult.ok) {
        endMs = Date.now() + sessionResult.leftMs;
        scheduleRenewal(sessionResult.leftMs - RENEW_BEFORE_MS);
        onRenewed(sessionResult.isSame);
      } else if (sessionResult.reason !== "unreachable" && sessionResult.reason !== "console") end("refused");
    },
    stop() {
      isOver = true;
      stopListening();
      clearTimeout(timer);
    },
  };
}
