"use client";

import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useSWRConfig } from "swr";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type ConnectionStatus, type ConnectionView } from "@/lib/contract/console";
import { useConnection, useSeenConnection } from "./connection/connection-context";
import { type LastResponse, statusNow } from "./connection/connection-status";

/** Counts of all, running and pending jobs; absent until loaded or if the service reports none. */
export type JobCounts = { jobs?: number; running?: number; pending?: number };
/** `lastResponse`: the service's last response or failure, if any. */
export type Counts = JobCounts & { lastResponse?: LastResponse };
const CountsContext = createContext<Counts>({});

export function countsPath(connection: string): `/${string}` {
  return withQuery("/api/console/counts", { connection });
}

const identity = (counts: JobCounts) => counts;

/** Fetches the counts once for all consumers, such as navigation and filters. */
export function CountsProvider({ children }: { children: ReactNode }) {
  const connection = useSeenConnection()?.id;
  const { value, atMs, failure } = useLive(connection ? countsPath(connection) : undefined, { read: identity, isStreamed: true });
  // A failed first request counts, too.
  const lastResponse = failure?.code ?? (atMs === undefined ? undefined : "answer");
  const counts = useMemo((): Counts => ({ ...value, lastResponse }), [value, lastResponse]);
  return <CountsContext value={counts}>{children}</CountsContext>;
}

export function useCounts(): Counts {
  return useContext(CountsContext);
}

/** A connection's status: for the current one from the last response, for others from the last check. */
export function useConnectionStatus(): (connection: Pick<ConnectionView, "id" | "status">) => ConnectionStatus {
  const currentId = useConnection()?.id;
  const { lastResponse } = useCounts();
  return ({ id, status }) => statusNow(status, id === currentId ? lastResponse : undefined);
}

export function useRefreshCounts(): () => Promise<void> {
  const { mutate } = useSWRConfig();
  const connection = useConnection()?.id;
  return async () => {
    if (connection) await mutate(countsPath(connection));
  };
}
