"use client";

import { useSearchParams } from "next/navigation";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { useRunsAppsOnly } from "../member-context";
import { type CurrentConnection } from "./current-connection";

type Known = { currentId: string | undefined; connections: readonly CurrentConnection[] };
const Connections = createContext<Known>({ currentId: undefined, connections: [] });

type ConnectionProviderProps = { currentId?: string; connections: readonly CurrentConnection[]; children: ReactNode };

export function ConnectionProvider({ currentId, connections, children }: ConnectionProviderProps) {
  const known = useMemo(() => ({ currentId, connections }), [currentId, connections]);
  return <Connections value={known}>{children}</Connections>;
}

/** What `?connection=` says, for links that stay on it. */
export function useLinkedConnection(): string | undefined {
  return useSearchParams()?.get("connection") ?? undefined;
}

/** The connection that `?connection=` names, else the member's last used one, else none. */
export function useConnection(): CurrentConnection | undefined {
  const { currentId, connections } = useContext(Connections);
  const wanted = useLinkedConnection();
  return connections.find(({ id }) => id === wanted) ?? connections.find(({ id }) => id === currentId);
}

/** The same for what is asked of its service directly, where this member may ask it. */
export function useSeenConnection(): CurrentConnection | undefined {
  const here = useConnection();
  return useRunsAppsOnly() ? undefined : here;
}

/** All that the member may use, in the order in which the server lists them. */
export function useConnections(): readonly CurrentConnection[] {
  return useContext(Connections).connections;
}
