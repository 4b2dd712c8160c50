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
import { type Role } from "@/lib/contract/members/roles";
import { useCanChange } from "./member-context";
import { type SessionNoticeState } from "./session-notice";

const SessionNotice = dynamic(() => import("./session-notice").then((module) => module.SessionNotice, loadEmptyComponent), { ssr: false });

const OwnJobs = dynamic(() => import("./own-jobs").then((module) => module.OwnJobs, loadEmptyComponent), { ssr: false });

const SessionWatchContext = createContext(false);

/** Whether a banner reports the end of the session, so that other components don't have to. */
export function useIsSessionWatched(): boolean {
  return useContext(SessionWatchContext);
}

/** The interval at which an ended session is checked, since a sign-in in another tab restores it. */
const RETRY_INTERVAL_MS = 3_000;

type SessionWatchProps = {
  /** Undefined on embedded pages: the host page identifies the user. */
  memberId?: string;
  role: Role;
  children: ReactNode;
};

/**
 * Shows a banner when the session ends or its role changes, until the user signs in from another tab. Refreshes the page when it becomes
 * read-only or writable.
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
    const timer = setInterval(refreshPage, RETRY_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [isOutdated]);
  const { mutate } = useSWRConfig();
  const hasEnded = value?.state === "ended";
  // Embedded pages keep sending requests, because a rejected request makes them fetch a new ticket.
  const shouldStopRequests = hasEnded && memberId !== undefined;
  useEffect(() => {
    if (!setSessionEnded(shouldStopRequests)) return;
    void mutate(() => true);
    void restartLive();
  }, [shouldStopRequests, mutate]);
  const refreshSession = useEffectEvent(() => void refresh());
  useEffect(() => {
    if (!hasEnded) return;
    const timer = setInterval(refreshSession, RETRY_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [hasEnded]);
  useEffect(() => () => void setSessionEnded(false), []);
  const notice = value && getNotice(value, { memberId, role });
  return (
    <SessionWatchContext value={true}>
      {notice ? (
        <div className="sticky top-12 z-20 bg-bg p-3 md:top-0">
          <SessionNotice notice={notice} isEmbedded={memberId === undefined} />
        </div>
      ) : null}
      {children}
      {memberId === undefined ? null : <OwnJobs />}
    </SessionWatchContext>
  );
}

const identity = (state: SessionState) => state;

function getNotice(state: SessionState, page: { memberId?: string; role: Role }): SessionNoticeState | undefined {
  if (state.state === "ended") return state;
  if (page.memberId !== undefined && state.memberId !== page.memberId) return { cause: "other", isLive: true };
  return state.role === page.role ? undefined : { cause: "role", from: page.role, to: state.role, isLive: true };
}
