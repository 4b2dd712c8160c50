"use client";

import dynamic from "next/dynamic";
import { createContext, type ReactNode, useContext, useEffect, useEffectEvent, useTransition } from "react";
import { useSWRConfig } from "swr";
import { useRouter } from "@/components/ui/link";
import { loadEmptyComponent } from "@/components/ui/skeleton";
import { onResponse } from "@/lib/browser/api";
import { setSessionEnded } from "@/lib/browser/live/live-state";
import { restartLive, SESSION_PATH, useLive } from "@/lib/browser/live/use-live";
import { type SessionState } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/people/roles";
import { useCanChange } from "./member-context";
import { type Notice } from "./session-notice";

const SessionNotice = dynamic(() => import("./session-notice").then((module) => module.SessionNotice, loadEmptyComponent), { ssr: false });

const OwnJobs = dynamic(() => import("./own-jobs").then((module) => module.OwnJobs, loadEmptyComponent), { ssr: false });

const WatchedContext = createContext(false);

/** Whether a banner already shows the end of the session, so that other components need not. */
export function useIsSessionWatched(): boolean {
  return useContext(WatchedContext);
}

/** How often an ended session is checked, since a sign-in in another tab restores it. */
const REPEAT_MS = 3_000;

type SessionWatchProps = {
  /** Undefined on embedded pages: the host page identifies the user. */
  memberId?: string;
  role: Role;
  children: ReactNode;
};

/**
 * Shows one banner when the session ends or its role changes, until the user signs in in another tab. Refreshes the page when it becomes read-only
 * or writable.
 */
export function SessionWatch({ memberId, role, children }: SessionWatchProps) {
  const { value, refresh } = useLive<SessionState, SessionState>(SESSION_PATH, { read: identity, isStreamed: true });
  const checkSession = useEffectEvent((status: number, path: string) => {
    if ((status === 401 || status === 403) && path !== SESSION_PATH) void refresh();
  });
  useEffect(() => onResponse(({ status, path }) => checkSession(status, path)), []);
  const router = useRouter();
  const canChange = useCanChange();
  const isOutdated = value?.state === "live" && value.canChange !== canChange;
  const [isPending, startTransition] = useTransition();
  const refreshPage = useEffectEvent(() => (isPending ? undefined : startTransition(() => router.refresh())));
  // Repeated, since a refresh may fail.
  useEffect(() => {
    if (!isOutdated) return;
    refreshPage();
    const timer = setInterval(refreshPage, REPEAT_MS);
    return () => clearInterval(timer);
  }, [isOutdated]);
  const { mutate } = useSWRConfig();
  const hasEnded = value?.state === "ended";
  // Embedded pages keep sending requests, since a refused one makes them fetch a new ticket.
  const isOver = hasEnded && memberId !== undefined;
  useEffect(() => {
    if (!setSessionEnded(isOver)) return;
    void mutate(() => true);
    void restartLive();
  }, [isOver, mutate]);
  const refreshSession = useEffectEvent(() => void refresh());
  useEffect(() => {
    if (!hasEnded) return;
    const timer = setInterval(refreshSession, REPEAT_MS);
    return () => clearInterval(timer);
  }, [hasEnded]);
  useEffect(() => () => void setSessionEnded(false), []);
  const notice = value && getNotice(value, { memberId, role });
  return (
    <WatchedContext value={true}>
      {notice ? (
        <div className="sticky top-12 z-20 bg-bg p-3 md:top-0">
          <SessionNotice notice={notice} isEmbedded={memberId === undefined} />
        </div>
      ) : null}
      {children}
      {memberId === undefined ? null : <OwnJobs />}
    </WatchedContext>
  );
}

const identity = (state: SessionState) => state;

function getNotice(now: SessionState, page: { memberId?: string; role: Role }): Notice | undefined {
  if (now.state === "ended") return now;
  if (page.memberId !== undefined && now.memberId !== page.memberId) return { cause: "other", isLive: true };
  return now.role === page.role ? undefined : { cause: "role", from: page.role, to: now.role, isLive: true };
}
