"use client";

import dynamic from "next/dynamic";
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useTransition } from "react";
import { useSWRConfig } from "swr";
import { useRouter } from "@/components/ui/link";
import { onAnswer } from "@/lib/browser/api";
import { SESSION_PATH, setSessionEnded, usePoll } from "@/lib/browser/poll/use-poll";
import { type SessionState } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/people/roles";
import { useCanChange } from "./member-context";
import { type Notice } from "./session-notice";

const SessionNotice = dynamic(() => import("./session-notice").then((module) => module.SessionNotice), { ssr: false });

const Watched = createContext(false);

/** Whether a banner already shows that the session has ended, so that other parts of the page need not. */
export function useIsSessionWatched(): boolean {
  return useContext(Watched);
}

type SessionWatchProps = {
  /** Undefined on embedded pages: the host page identifies the user. */
  memberId?: string;
  role: Role;
  children: ReactNode;
};

/**
 * Shows one banner when the page's session ends or its role changes. Signing in in another tab removes it. Renders the page again when
 * changes become possible or impossible.
 */
export function SessionWatch({ memberId, role, children }: SessionWatchProps) {
  const { value, atMs, refresh } = usePoll<SessionState, SessionState>(SESSION_PATH, { read: asIs, motion: () => "counting" });
  const lookAgain = useEffectEvent((status: number, path: string) => {
    if ((status === 401 || status === 403) && path !== SESSION_PATH) void refresh();
  });
  useEffect(() => onAnswer(({ status, path }) => lookAgain(status, path)), []);
  const router = useRouter();
  const canChange = useCanChange();
  const isOutdated = value?.state === "live" && value.canChange !== canChange;
  const [isPending, startTransition] = useTransition();
  const renderAgain = useEffectEvent(() => (isPending ? undefined : startTransition(() => router.refresh())));
  // With each answer, as a refresh may fail.
  useEffect(() => {
    if (isOutdated) renderAgain();
  }, [isOutdated, atMs]);
  const { mutate } = useSWRConfig();
  // Embedded pages keep polling, because a refused request makes them fetch a new ticket.
  const isOver = value?.state === "ended" && memberId !== undefined;
  useEffect(() => {
    if (setSessionEnded(isOver)) void mutate(() => true);
  }, [isOver, mutate]);
  useEffect(() => () => void setSessionEnded(false), []);
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

function noticeOf(now: SessionState, page: { memberId?: string; role: Role }): Notice | undefined {
  if (now.state === "ended") return now;
  if (page.memberId !== undefined && now.memberId !== page.memberId) return { cause: "other", isLive: true };
  return now.role === page.role ? undefined : { cause: "role", from: page.role, to: now.role, isLive: true };
}
