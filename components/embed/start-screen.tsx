"use client";

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { buttonStyle } from "@/components/ui/controls/button";
import { FullPageMessage } from "@/components/ui/empty-state";
import { useHydrated } from "@/components/ui/time";
import { shareBearer, startEmbedSession } from "@/lib/browser/embed/embed-session";
import {
  type EndReason,
  type HostMessage,
  isEmbedUrl,
  isFileUrl,
  isFramed,
  onHostMessage,
  postToHost,
} from "@/lib/browser/embed/host-page";
import { apiPath, toSessionlessPath } from "@/lib/browser/urls";

type Problem = "no-ticket" | "ticket" | "unreachable" | "console" | "storage" | "unknown-host";

/** Requests a ticket from the host page, starts a session and opens the page. Shows an error if that fails. */
export function StartScreen({ origins, from, endReason }: { origins: readonly string[]; from: string; endReason: EndReason | undefined }) {
  const t = useTranslations("embedding.start");
  const isUnframed = useHydrated() && !isFramed();
  const [problem, setProblem] = useState<Problem>();
  const hasTicket = useRef(false);
  const destination = from === "/choose" || isEmbedUrl(from) ? from : "/";

  function reportProblem(reason: Problem) {
    hasTicket.current = false;
    setProblem(reason);
    postToHost(origins, { type: "error", reason });
  }
  const handleMessage = useEffectEvent(async (message: HostMessage, origin: string) => {
    if (message.type === "no-ticket") return reportProblem("no-ticket");
    if (message.type !== "ticket" || hasTicket.current) return;
    hasTicket.current = true;
    const sessionResult = await startEmbedSession(message, origin);
    if (!sessionResult.ok) return reportProblem(sessionResult.reason);
    // A full page load, so that everything belongs to this session.
    window.location.replace(apiPath(destination));
  });
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    if (endReason) return;
    const unsubscribe = onHostMessage(origins, (message, origin) => void handleMessage(message, origin));
    postToHost(origins, { type: "want-ticket" });
    return unsubscribe;
  }, [origins, endReason]);

  if (isUnframed) {
    const signInLink = (
      <a href={toSessionlessPath(isEmbedUrl(from) ? from : "/")} className={buttonStyle()}>
        {t("alone.signIn")}
      </a>
    );
    return <FullPageMessage title={t("alone.title")} text={t(isFileUrl(from) ? "alone.file" : "alone.text")} action={signInLink} />;
  }
  if (endReason) return <FullPageMessage title={t("ended.title")} text={t(`ended.why.${endReason}`)} />;
  if (problem) return <FullPageMessage title={t("problem")} text={t(`why.${problem}`)} />;
  return <p className="p-6 text-ink-3">{t("opening")}</p>;
}
