import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useSWRConfig } from "swr";
import { setEmbedTheme } from "@/components/frame/appearance/theme";
import { useConnection } from "@/components/frame/connection/connection-context";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { followJobs } from "@/components/frame/follow-jobs";
import { usePathname, useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi, onResponse } from "@/lib/browser/api";
import { isFailure, toFailure } from "@/lib/browser/api-failure";
import {
  endEmbedSession,
  isSessionInMemory,
  shareBearer,
  startEmbedSession,
  type StartEmbedSessionResult,
} from "@/lib/browser/embed/embed-session";
import { type EndReason, type HostMessage, onHostMessage, postToHost, type TicketMessage } from "@/lib/browser/embed/host-page";
import { saveFile } from "@/lib/browser/files/save-file";
import { restartLive } from "@/lib/browser/live/use-live";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { createPersistedValue, tabStorage } from "@/lib/browser/persisted-value";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type EmbedAppearance } from "@/lib/contract/embed/embed-pages";
import { decodePercent } from "@/lib/contract/plain-line";
import { parseEmbedPath } from "@/lib/shared/console-paths";

/** Replaces the window height, since elements that fill the window would grow each time the host resizes the frame. */
const MIN_HEIGHT = "8px";
const getRightsChangedFlag = () => createPersistedValue("lightdesk.rights-changed", (storedValue) => storedValue === true, tabStorage);

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
  const [shouldReportHeight, setShouldReportHeight] = useState(false);
  const sentPath = useRef<string>(undefined);

  function leaveSession(reason: EndReason) {
    postToHost(origins, { type: "session-ended", reason });
    // A full page load, so that no user data remains in memory.
    const { lang: language, dataset } = document.documentElement;
    window.location.replace(apiPath(withQuery("/start", { ended: reason, language, theme: dataset.theme })));
  }
  function handleRenewal(isSame: boolean) {
    if (isSame) {
      void restartLive();
      return void mutate(() => true);
    }
    postToHost(origins, { type: "session-ended", reason: "changed" });
    getRightsChangedFlag().set(true);
    window.location.reload();
  }
  const renewal = useRef<Renewal>(undefined);
  const onSessionRenewed = useEffectEvent(handleRenewal);
  const onSessionEnded = useEffectEvent(leaveSession);
  useEffect(() => {
    const newRenewal = startRenewal(leftMs, {
      requestTicket: () => postToHost(origins, { type: "want-ticket" }),
      createSession: (ticket) => startEmbedSession(ticket, origin),
      onRenewed: (isSame) => onSessionRenewed(isSame),
      onEnded: (reason) => onSessionEnded(reason),
    });
    renewal.current = newRenewal;
    return () => newRenewal.stop();
  }, [leftMs, origin, origins]);
  async function updateAppearance(change: EmbedAppearance) {
    if (change.theme) setEmbedTheme(change.theme);
    const result = await callApi("/api/embed/session", { method: "PATCH", json: change });
    if (result.ok && change.language) router.refresh();
  }
  const handleMessage = useEffectEvent((message: HostMessage) => {
    if (message.type === "navigate") router.push(message.to);
    else if (message.type === "theme") void updateAppearance({ theme: message.theme });
    else if (message.type === "language") void updateAppearance({ language: message.language });
    else if (message.type === "height") setShouldReportHeight(message.follow);
    else if (message.type === "choose-asset") router.push("/choose");
    else if (message.type === "end") void endEmbedSession().then(() => leaveSession("host"));
    else if (message.type === "ticket") void renewal.current?.receive(message);
  });

  useEffect(() => onHostMessage(origins, (message) => handleMessage(message)), [origins]);
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    if (sentPath.current === path) return;
    if (sentPath.current === undefined)
      postToHost(origins, { type: "ready", page: path, keeps: isSessionInMemory() ? "memory" : "cookie" });
    else postToHost(origins, { type: "navigated", path });
    sentPath.current = path;
  }, [origins, path]);
  const showRightsChanged = useEffectEvent(() => showToast({ tone: "wait", text: t("changed") }));
  useEffect(() => {
    const flag = getRightsChangedFlag();
    if (!flag.get()) return;
    flag.remove();
    showRightsChanged();
  }, []);
  useDownloads();
  useJobReports(origins);
  useContentHeight(shouldReportHeight, origins);
  return null;
}

/** Reports changes of the page's height to the host, if requested. */
function useContentHeight(isEnabled: boolean, origins: readonly string[]): void {
  useEffect(() => {
    const content = document.getElementById("content");
    if (!isEnabled || !content) return;
    document.documentElement.style.setProperty("--dvh", MIN_HEIGHT);
    let sentHeight = 0;
    const reportHeight = () => {
      const height = Math.ceil(content.getBoundingClientRect().height);
      if (height !== sentHeight) postToHost(origins, { type: "height", height });
      sentHeight = height;
    };
    const observer = new ResizeObserver(reportHeight);
    observer.observe(content);
    reportHeight();
    return () => {
      observer.disconnect();
      document.documentElement.style.removeProperty("--dvh");
    };
  }, [isEnabled, origins]);
}

/** Reports to the host when a job submitted on this page starts or ends. Ignores app runs. */
export function useJobReports(origins: readonly string[]): void {
  const connection = useConnection()?.id;
  const getCurrentConnection = useEffectEvent(() => connection);
  useEffect(
    () =>
      followJobs({
        currentConnection: () => getCurrentConnection(),
        onSubmitted: ({ id, app }) => app === undefined && postToHost(origins, { type: "job-submitted", id }),
        onEnded({ id, app }, status) {
          // The status of a deleted job is unknown.
          if (app === undefined && status !== "unknown") postToHost(origins, { type: "job-ended", id, status });
        },
      }),
    [origins],
  );
}

/** Fetches downloads with scripts, since the browser would request them without the frame's cookie and token. */
function useDownloads(): void {
  const tErrors = useTranslations("errors");
  const save = useEffectEvent(async (href: string, name: string) => {
    try {
      const response = await fetch(href);
      if (!response.ok) throw parseFailureResponse(response.status, response.headers.get("retry-after"), await response.text());
      saveFile(name || parseFileName(response.headers.get("content-disposition") ?? ""), await response.blob());
    } catch (error) {
      const failure = isFailure(error) ? error : toFailure(error);
      showToast({ tone: "bad", text: formatFailure(tErrors, failure) });
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
  const [, utf8Name] = /filename\*=UTF-8''([^;]+)/i.exec(disposition) ?? [];
  const [, asciiName] = /filename="([^"]*)"/i.exec(disposition) ?? [];
  return (utf8Name === undefined ? undefined : decodePercent(utf8Name)) ?? asciiName ?? "";
}

// Renews an embedded session by requesting a ticket before the session ends, or as soon as the console rejects a request. A refused ticket
// ends the session. Without a response, it retries until the session expires. Never accepts a ticket that was not requested.

const RENEW_BEFORE_MS = 3 * 60_000;
const RETRY_INTERVAL_MS = 20_000;

type RenewalDependencies = {
  requestTicket: () => void;
  createSession: (ticket: TicketMessage) => Promise<StartEmbedSessionResult>;
  onRenewed: (isSame: boolean) => void;
  onEnded: (reason: Exclude<EndReason, "host">) => void;
};
type Renewal = { receive(ticket: TicketMessage): Promise<void>; stop(): void };

export function startRenewal(leftMs: number, { requestTicket, createSession, onRenewed, onEnded }: RenewalDependencies): Renewal {
  let endMs = Date.now() + leftMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRequested = false;
  let hasEnded = false;

  function scheduleRenewal(waitMs: number): void {
    clearTimeout(timer);
    if (!hasEnded) timer = setTimeout(renew, Math.max(0, waitMs));
  }
  function renew(): void {
    if (Date.now() >= endMs) return end("expired");
    isRequested = true;
    requestTicket();
    scheduleRenewal(Math.min(RETRY_INTERVAL_MS, endMs - Date.now()));
  }
  function end(reason: Exclude<EndReason, "host">): void {
    if (hasEnded) return;
    hasEnded = true;
    clearTimeout(timer);
    onEnded(reason);
  }
  const stopListening = onResponse(({ path, status }) => {
    if (status !== 401 || isRequested || path === "/api/embed/tickets") return;
    // The host may still send another ticket, since the member's role may have changed.
    endMs = Math.min(endMs, Date.now() + RETRY_INTERVAL_MS);
    renew();
  });
  scheduleRenewal(leftMs - RENEW_BEFORE_MS);
  return {
    async receive(ticket) {
      if (!isRequested) return;
      isRequested = false;
      const sessionResult = await createSession(ticket);
      if (hasEnded) return;
      if (sessionResult.ok) {
        endMs = Date.now() + sessionResult.leftMs;
        scheduleRenewal(sessionResult.leftMs - RENEW_BEFORE_MS);
        onRenewed(sessionResult.isSame);
      } else if (sessionResult.reason !== "unreachable" && sessionResult.reason !== "console") end("refused");
    },
    stop() {
      hasEnded = true;
      stopListening();
      clearTimeout(timer);
    },
  };
}
