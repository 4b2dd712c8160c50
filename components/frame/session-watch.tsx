"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent } from "react";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/failure-notice";
import { onAnswer } from "@/lib/browser/answers";
import { usePoll } from "@/lib/browser/poll/use-poll";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type EndedSession, type SessionState } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/people/roles";

const Watched = createContext(false);

/** Whether the page shows by itself that its session has ended, so that its parts need not. */
export function useIsSessionWatched(): boolean {
  return useContext(Watched);
}

type SessionWatchProps = {
  /** Absent on embedded pages: the host page says who it is. */
  memberId?: string;
  role: Role;
  children: ReactNode;
};

/** Shows one banner when the session of the page ends or its role changes. A sign-in in another tab removes it again. */
export function SessionWatch({ memberId, role, children }: SessionWatchProps) {
  const { value, refresh } = usePoll<SessionState, SessionState>("/api/console/session", { read: asIs, motion: () => "counting" });
  const lookAgain = useEffectEvent((status: number, path: string) => {
    if (status === 401 && path !== "/api/console/session") void refresh();
  });
  useEffect(() => onAnswer(({ status, path }) => lookAgain(status, path)), []);
  const notice = value && noticeOf(value, { memberId, role });
  return (
    <Watched value={true}>
      {notice ? (
        <div className="sticky top-12 z-20 bg-bg p-3 md:top-0">
          <SessionNotice notice={notice} isEmbedded={memberId === undefined} />
        </div>
      ) : null}
      {children}
    </Watched>
  );
}

const asIs = (state: SessionState) => state;

/** `isLive`: signed in, but the page was rendered for another role or member. */
type Notice = (EndedSession & { isLive?: true }) | { cause: "other"; isLive: true };

function noticeOf(now: SessionState, page: { memberId?: string; role: Role }): Notice | undefined {
  if (now.state === "ended") return now;
  if (page.memberId !== undefined && now.memberId !== page.memberId) return { cause: "other", isLive: true };
  return now.role === page.role ? undefined : { cause: "role", from: page.role, to: now.role, isLive: true };
}

function SessionNotice({ notice, isEmbedded }: { notice: Notice; isEmbedded: boolean }) {
  const t = useTranslations("frame.session");
  const roleName = useTranslations("frame.member.role");
  const action =
    notice.cause === "suspended" || notice.cause === "removed" ? notice.cause : notice.isLive || isEmbedded ? "reload" : "signIn";
  return (
    <FailureNotice
      title={notice.cause === "role" ? t("role", { from: roleName(notice.from), to: roleName(notice.to) }) : t(notice.cause)}
      next={t(`next.${action}`)}
      actions={
        action === "signIn" ? (
          // In another tab: this page keeps what was typed.
          <a href={apiPath(withQuery("/sign-in", { callbackUrl: "/confirmed" }))} target="_blank" rel="noopener" className={buttonStyle()}>
            {t("signIn")}
          </a>
        ) : action === "reload" ? (
          <Button onClick={() => window.location.reload()}>{t("reload")}</Button>
        ) : undefined
      }
    />
  );
}
