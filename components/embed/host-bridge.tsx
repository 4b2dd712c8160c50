import { useSearchParams } from "next/navigation";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useSWRConfig } from "swr";
import { turnEmbedTheme } from "@/components/frame/look/embed-theme";
import { usePathname, useRouter } from "@/components/ui/link";
import { showToast } from "@/components/ui/toast-store";
import { callApi } from "@/lib/browser/api";
import { beginSession, endEmbedSession, keepsMemory, shareBearer } from "@/lib/browser/embed/embed-session";
import { type EndReason, type HostMessage, onHostMessage, tellHost } from "@/lib/browser/embed/host-page";
import { ofTab, persisted } from "@/lib/browser/persisted";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type EmbedLook } from "@/lib/contract/embed/embed-pages";
import { type Renewal, startRenewal } from "./renewal";
import { useDownloads } from "./use-downloads";
import { useHostJobs } from "./use-host-jobs";

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
