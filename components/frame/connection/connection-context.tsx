"use client";

import { useSearchParams } from "next/navigation";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { type ConnectionFeature, hasFeature } from "@/lib/contract/connections";
import { useRunsAppsOnly } from "../member-context";
import { type CurrentConnection } from "./current-connection";

type ConnectionsValue = { currentId: string | undefined; connections: readonly CurrentConnection[] };
const ConnectionsContext = createContext<ConnectionsValue>({ currentId: undefined, connections: [] });

type ConnectionProviderProps = { currentId?: string; connections: readonly CurrentConnection[]; children: ReactNode };

export function ConnectionProvider({ currentId, connections, children }: ConnectionProviderProps) {
  const value = useMemo(() => ({ currentId, connections }), [currentId, connections]);
  return <ConnectionsContext value={value}>{children}</ConnectionsContext>;
}

/** The value of `?connection=`, for links that stay on that connection. */
export function useConnectionParam(): string | undefined {
  return useSearchParams()?.get("connection") ?? undefined;
}

/** The connection in `?connection=`, otherwise the member's last used one, if any. */
export function useConnection(): CurrentConnection | undefined {
  const { currentId, connections } = useContext(ConnectionsContext);
  const connectionParam = useConnectionParam();
  return connections.find(({ id }) => id === connectionParam) ?? connections.find(({ id }) => id === currentId);
}

/** Returns the current connection if this member may call its service directly. */
export function useDirectConnection(): CurrentConnection | undefined {
  const currentConnection = useConnection();
  return useRunsAppsOnly() ? undefined : currentConnection;
}

export function useFeature(feature: ConnectionFeature): boolean {
  return hasFeature(useConnection(), feature);
}

/** All connections that the member may use, in the server's order. */
export function useConnections(): readonly CurrentConnection[] {
  return useContext(ConnectionsContext).connections;
}
