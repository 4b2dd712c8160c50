"use client";

import { useTranslations } from "next-intl";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useSWRConfig } from "swr";
import { type Tone } from "@/components/ui/status-badge";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { hasFeature } from "@/lib/contract/connections";
import { type ConnectionStatus, type ConnectionView } from "@/lib/contract/console";
import { getOwn } from "@/lib/contract/json/json";
import { useConnection, useDirectConnection } from "./connection/connection-context";

/** Counts of all, running and pending jobs. Absent until loaded, or if the service reports none. */
export type JobCounts = { jobs?: number; running?: number; pending?: number };
/** `lastResponse`: the service's last response or failure, if any. */
export type Counts = JobCounts & { lastResponse?: LastResponse };
const CountsContext = createContext<Counts>({});

export function getCountsPath(connection: string): `/${string}` {
  return withQuery("/api/console/counts", { connection });
}

const identity = (counts: JobCounts) => counts;

/** Fetches the counts once for all consumers, such as navigation and filters. */
export function CountsProvider({ children }: { children: ReactNode }) {
  const connection = useDirectConnection()?.id;
  const { value, atMs, failure } = useLive(connection ? getCountsPath(connection) : undefined, { read: identity, isStreamed: true });
  // The failure of the first request also counts as a response.
  const lastResponse = failure?.code ?? (atMs === undefined ? undefined : "answer");
  const counts = useMemo((): Counts => ({ ...value, lastResponse }), [value, lastResponse]);
  return <CountsContext value={counts}>{children}</CountsContext>;
}

export function useCounts(): Counts {
  return useContext(CountsContext);
}

/** Returns a connection's status. It comes from the last response for the current connection, and from the last check for others. */
export function useConnectionStatus(): (connection: Pick<ConnectionView, "id" | "status">) => ConnectionStatus {
  const currentId = useConnection()?.id;
  const { lastResponse } = useCounts();
  return ({ id, status }) => getCurrentStatus(status, id === currentId ? lastResponse : undefined);
}

export function useRefreshCounts(): () => Promise<void> {
  const { mutate } = useSWRConfig();
  const connection = useConnection()?.id;
  return async () => {
    if (connection) await mutate(getCountsPath(connection));
  };
}

export const connectionTones: Readonly<Record<ConnectionStatus, Tone>> = {
  active: "ok",
  waitlisted: "wait",
  refused: "bad",
  forbidden: "bad",
  unpaid: "bad",
  failing: "bad",
  strange: "bad",
  unreachable: "bad",
  unknown: "off",
};

/** "answer", or a failure code. */
export type LastResponse = string;

const statusByFailureCode: Readonly<Partial<Record<string, ConnectionStatus>>> = {
  UPSTREAM_REFUSED_KEY: "refused",
  FORBIDDEN: "forbidden",
  PAYMENT_REQUIRED: "unpaid",
  UPSTREAM_UNREACHABLE: "unreachable",
  UPSTREAM_TIMEOUT: "unreachable",
  SERVICE_UNAVAILABLE: "failing",
  UPSTREAM_UNREADABLE: "strange",
  UPSTREAM_NOT_FOUND: "strange",
  UPSTREAM_ERROR: "failing",
};

/** The last response overrides an earlier check: the status is green only if that response succeeded. */
export function getCurrentStatus(checkedStatus: ConnectionStatus = "unknown", lastResponse?: LastResponse): ConnectionStatus {
  if (lastResponse === undefined) return checkedStatus;
  // Waitlisted accounts also get responses.
  if (lastResponse === "answer") return checkedStatus === "waitlisted" ? checkedStatus : "active";
  return getOwn(statusByFailureCode, lastResponse) ?? (checkedStatus === "active" ? "unknown" : checkedStatus);
}

export function getKeyLabelKey(connection: ConnectionView): "localServer" | "noKey" | "sharedKey" | "ownKey" {
  if (!connection.hasKey && !hasFeature(connection, "accounts")) return "localServer";
  if (!connection.hasKey) return "noKey";
  return connection.shared ? "sharedKey" : "ownKey";
}

export function useKeyLabel(): (connection: ConnectionView) => string {
  const t = useTranslations("frame.connection");
  return (connection) => (connection.seenOf === undefined ? t(getKeyLabelKey(connection)) : t("seenOf", { owner: connection.seenOf }));
}
