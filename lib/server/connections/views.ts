// Connections as they may be shown: with a fingerprint, without a key.

import "server-only";
import { type ConnectionView } from "@/lib/contract/console";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { type Connection } from "../store/connections";
import { isEmbedded } from "../upstream/send";
import { findConnection, usableConnections } from "./access";

/** `meant` is the page's own choice; an id that the member may not use falls back to the last used one. */
export async function listConnectionViews(viewer: Viewer, meant?: string): Promise<ConnectionView[]> {
  const [connections, chosen, usual] = await Promise.all([
    usableConnections(viewer),
    meant === undefined ? undefined : findConnection(viewer, meant),
    findConnection(viewer, undefined),
  ]);
  const current = chosen?.ok ? chosen.value.id : usual.ok ? usual.value.id : undefined;
  return Promise.all(connections.map((connection) => toConnectionView(connection, connection.id === current)));
}

export async function toConnectionView(connection: Connection, current: boolean): Promise<ConnectionView> {
  const stored = await composition().store.keys.getOf(connection.id);
  return {
    id: connection.id,
    name: connection.name,
    baseUrl: connection.baseUrl,
    accountUrl: connection.accountUrl,
    embedded: isEmbedded(connection.baseUrl),
    shared: connection.memberId === undefined,
    dialect: connection.dialect,
    hasAssets: connection.hasAssets,
    hasKey: stored !== undefined,
    fingerprint: stored?.fingerprint,
    current,
    status: connection.status,
  };
}
