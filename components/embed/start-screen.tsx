"use client";

import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { buttonStyle } from "@/components/ui/controls/button";
import { WholePageNote } from "@/components/ui/empty-state";
import { useHydrated } from "@/components/ui/time";
import { beginSession, shareBearer } from "@/lib/browser/embed/embed-session";
import {
  type EndReason,
  type HostMessage,
  isEmbedUrl,
  isFileUrl,
  isFramed,
  onHostMessage,
  postToHost,
} from "@/lib/browser/embed/host-page";
import { apiPath, toOutsidePath } from "@/lib/browser/urls";

type Problem = "no-ticket" | "ticket" | "unreachable" | "console" | "storage" | "unknown-host";

/** Requests a ticket from the host page, starts a session and opens the page. Shows only problems. */
export function StartScreen({ origins, from, ended }: { origins: readonly string[]; from: string; ended: EndReason | undefined }) {
  const t = useTranslations("embedding.start");
  const isUnframed = useHydrated() && !isFramed();
  const [problem, setProblem] = useState<Problem>();
  const hasTicket = useRef(false);
  const to = from === "/choose" || isEmbedUrl(from) ? from : "/";

  function fail(reason: Problem) {
    hasTicket.current = false;
    setProblem(reason);
    postToHost(origins, { type: "error", reason });
  }
  const receive = useEffectEvent(async (message: HostMessage, origin: string) => {
    if (message.type === "no-ticket") return fail("no-ticket");
    if (message.type !== "ticket" || hasTicket.current) return;
    hasTicket.current = true;
    const sessionResult = await beginSession(message, origin);
    if (!sessionResult.ok) return fail(sessionResult.reason);
    // A full page load, so that everything belongs to this session.
    window.location.replace(apiPath(to));
  });
  useEffect(() => shareBearer(), []);
  useEffect(() => {
    if (ended) return;
    const stop = onHostMessage(origins, (message, origin) => void receive(message, origin));
    postToHost(origins, { type: "want-ticket" });
    return stop;
  }, [origins, ended]);

  if (isUnframed) {
    const signIn = (
      <a href={toOutsidePath(isEmbedUrl(from) ? from : "/")} className={buttonStyle()}>
        {t("alone.signIn")}
      </a>
    );
    return <WholePageNote title={t("alone.title")} text={t(isFileUrl(from) ? "alone.file" : "alone.text")} action={signIn} />;
  }
  if (ended) return <WholePageNote title={t("ended.title")} text={t(`ended.why.${ended}`)} />;
  if (problem) return <WholePageNote title={t("problem")} text={t(`why.${problem}`)} />;
  return <p className="p-6 text-ink-3">{t("opening")}</p>;
}
