// Connections as they may be shown: with a fingerprint, without the key. Members who only run apps see neither address nor fingerprint.

import "server-only";
import { type ConnectionView } from "@/lib/contract/console";
import { hasRole } from "@/lib/contract/people/roles";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { type Connection } from "../store/connections";
import { isEmbedded } from "../upstream/send";
import { findVisible, visibleConnections } from "./access";

/** `meant` is the page's own choice; if the member may not use that id, the last used connection is taken. */
export async function listConnectionViews(viewer: Viewer, meant?: string): Promise<ConnectionView[]> {
  const [connections, chosen, usual] = await Promise.all([
    visibleConnections(viewer),
    meant === undefined ? undefined : findVisible(viewer, meant),
    findVisible(viewer, undefined),
  ]);
  const current = chosen?.ok ? chosen.value.id : usual.ok ? usual.value.id : undefined;
  const views = await Promise.all(connections.map((connection) => toConnectionView(connection, connection.id === current)));
  return hasRole(viewer.role, "viewer") ? views : views.map(withoutAddress);
}

/** What the frame around every page needs. Never fails if a service is down: it reads only the console's own store. */
export async function getFrame(
  viewer: Viewer,
  connection?: string,
): Promise<{ connection?: ConnectionView; connections: ConnectionView[] }> {
  const connections = await listConnectionViews(viewer, connection);
  return { connection: connections.find((view) => view.current), connections };
}

/** For members who only run apps: the connection's name, as the place where apps run. */
function withoutAddress({ accountUrl: _account, fingerprint: _fingerprint, seenBy: _seenBy, ...view }: ConnectionView): ConnectionView {
  return { ...view, baseUrl: "" };
}

export async function toConnectionView(connection: Connection, current: boolean): Promise<ConnectionView> {
  const { store } = composition();
  const [stored, viewers] = await Promise.all([store.keys.getOf(connection.id), store.jobViewers.viewersOf([connection.id])]);
  const { seenOf } = connection;
  if (seenOf !== undefined) {
    const { id, name, dialect, status } = connection;
    const itsOwn = { embedded: false, shared: false, dialect, hasAssets: false, hasKey: stored !== undefined };
    return { id, name, baseUrl: "", ...itsOwn, current, status, seenOf };
  }
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
    ...(connection.memberId !== undefined && { seenBy: viewers.get(connection.id) ?? [] }),
  };
}
