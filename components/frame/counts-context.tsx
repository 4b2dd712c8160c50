"use client";

import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from "react";
import { useSWRConfig } from "swr";
import { type Stamped, usePoll } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type ConnectionStatus, type ConnectionView } from "@/lib/contract/console";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { useConnection, useSeenConnection } from "./connection/connection-context";
import { type LastResponse, statusNow } from "./connection/connection-status";

export const totalOf = (answer: JobsAnswer) => answer.pagination.total;
const quick = () => "counting" as const;
const slow = () => "background" as const;

export function countPaths(connection: string) {
  const path = (status?: string) => withQuery("/api/jobs", { status, limit: 1, connection });
  return { jobs: path(), running: path("in_progress"), pending: path("pending") };
}

/** The numbers of all, running and pending jobs; absent until known, or if the service does not say. */
export type Counts = {
  jobs?: number;
  running?: number;
  pending?: number;
  /** The service's last response: nothing yet, an answer, or a failure. */
  lastResponse?: LastResponse;
};
const CountsContext = createContext<Counts>({});

/** Requests the counts once for all that show them: navigation, filters and others. */
export function CountsProvider({ children }: { children: ReactNode }) {
  const connection = useSeenConnection()?.id;
  const paths = connection ? countPaths(connection) : undefined;
  const [isBusy, setBusy] = useState(false);
  const options = { read: totalOf, motion: isBusy ? quick : slow };
  const all = usePoll(paths?.jobs, options);
  const jobs = all.value;
  const running = usePoll(paths?.running, options).value;
  const pending = usePoll(paths?.pending, options).value;
  const isMoving = (running ?? 0) + (pending ?? 0) > 0;
  if (isMoving !== isBusy) setBusy(isMoving);
  const failedWith = all.failure?.code;
  // A first request that failed counts too.
  const lastResponse = failedWith ?? (all.atMs === undefined ? undefined : "answer");
  const counts = useMemo((): Counts => ({ jobs, running, pending, lastResponse }), [jobs, running, pending, lastResponse]);
  return <CountsContext value={counts}>{children}</CountsContext>;
}

export function useCounts(): Counts {
  return useContext(CountsContext);
}

/** A connection's status: for the current one by the last answer to the pages, for any other by its last check. */
export function useConnectionStatus(): (connection: Pick<ConnectionView, "id" | "status">) => ConnectionStatus {
  const currentId = useConnection()?.id;
  const { lastResponse } = useCounts();
  return ({ id, status }) => statusNow(status, id === currentId ? lastResponse : undefined);
}

/** To be called after an act that changes the counts. */
export function useRefreshCounts(): () => Promise<void> {
  const { mutate } = useSWRConfig();
  const connection = useConnection()?.id;
  return async () => {
    if (connection) await Promise.all(Object.values(countPaths(connection)).map((path) => mutate(path)));
  };
}

export type CountName = "jobs" | "running" | "pending";
/** Counts that a page has loaded itself. */
export type ReadCounts = Partial<Record<CountName, number>>;

/** Shares counts that a page loaded at `atMs`, so that the navigation, the filters and the page agree. */
export function useTellCounts({ jobs, running, pending }: ReadCounts, atMs = 0): void {
  const { mutate } = useSWRConfig();
  const connection = useConnection()?.id;
  useEffect(() => {
    if (!connection) return;
    const paths = countPaths(connection);
    const tell = (path: string, value: number | undefined) => {
      const newest = (known?: Stamped<number>) => (value === undefined || (known && known.atMs > atMs) ? known : { value, atMs });
      if (value !== undefined) void mutate(path, newest, { revalidate: false });
    };
    tell(paths.jobs, jobs);
    tell(paths.running, running);
    tell(paths.pending, pending);
  }, [mutate, connection, jobs, running, pending, atMs]);
}

/** Requests the counts again whenever `seen`, a text of what the page sees, changes. */
export function useFollowCounts(seen: string | undefined): void {
  const refresh = useRefreshCounts();
  const last = useRef<string>(undefined);
  useEffect(() => {
    if (seen === undefined || seen === last.current) return;
    const isFirst = last.current === undefined;
    last.current = seen;
    if (!isFirst) void refresh();
  }, [seen, refresh]);
}
