// View models of connections, and the members who may see a personal connection's jobs.

import "server-only";
import { type ConnectionView, type PersonalConnectionView } from "@/lib/contract/console";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/members/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { adminRequiredFailure, type Context } from "../auth/viewer";
import { type Dependencies } from "../composition-type";
import { type Connection } from "../store/connections";
import { type PersonalConnection } from "../store/jobs/job-viewers";
import { isEmbedded } from "../upstream/send";
import { connectionNotFoundFailure, findVisibleConnection, isInScope, listVisibleConnections } from "./access";

/** `preferredId` is chosen by the page. If the member may not use it, the last used connection is current. */
export async function listConnectionViews(context: Context, preferredId?: string): Promise<ConnectionView[]> {
  const [connections, preferredResult, defaultConnection] = await Promise.all([
    listVisibleConnections(context),
    preferredId === undefined ? undefined : findVisibleConnection(context, preferredId),
    findVisibleConnection(context, undefined),
  ]);
  const currentId = preferredResult?.ok ? preferredResult.value.id : defaultConnection.ok ? defaultConnection.value.id : undefined;
  const views = await Promise.all(
    connections.map((connection) => toConnectionView(context.composition, connection, connection.id === currentId)),
  );
  return hasRole(context.viewer.role, "viewer") ? views : views.map(removePrivateFields);
}

/** The data of the layout around every page. Reads only the console's own store, so it works while a service is down. */
export async function getLayoutData(
  context: Context,
  connectionId?: string,
): Promise<{ connection?: ConnectionView; connections: ConnectionView[] }> {
  const connections = await listConnectionViews(context, connectionId);
  return { connection: connections.find((view) => view.current), connections };
}

/** For members who only run apps. They may only see the connection's name. */
function removePrivateFields({
  accountUrl: _accountUrl,
  fingerprint: _fingerprint,
  seenBy: _seenBy,
  ...view
}: ConnectionView): ConnectionView {
  return { ...view, baseUrl: "" };
}

export async function toConnectionView(
  { store }: Dependencies<"store">,
  connection: Connection,
  isCurrent: boolean,
): Promise<ConnectionView> {
  const [storedKey, viewers] = await Promise.all([
    store.keys.getByConnection(connection.id),
    store.jobViewers.listViewers([connection.id]),
  ]);
  const { seenOf } = connection;
  if (seenOf !== undefined) {
    const { id, name, dialect, hasAssets, lacks, status } = connection;
    const publicFields = { embedded: false, shared: false, dialect, hasAssets, lacks, hasKey: storedKey !== undefined };
    return { id, name, baseUrl: "", ...publicFields, current: isCurrent, status, seenOf };
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
    lacks: connection.lacks,
    hasKey: storedKey !== undefined,
    fingerprint: storedKey?.fingerprint,
    current: isCurrent,
    status: connection.status,
    ...(connection.memberId !== undefined && { seenBy: viewers.get(connection.id) ?? [] }),
  };
}

export async function listPersonalConnections({
  composition: { store },
  viewer,
}: Context): Promise<Result<PersonalConnectionView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminRequiredFailure);
  const { jobViewers } = store;
  const otherConnections = (await jobViewers.listPersonal()).filter(
    (personalConnection) => personalConnection.ownerId !== viewer.memberId && isInScope(viewer, personalConnection.id),
  );
  const viewers = await jobViewers.listViewers(otherConnections.map(({ id }) => id));
  return ok(otherConnections.map((personalConnection) => ({ ...personalConnection, seenBy: viewers.get(personalConnection.id) ?? [] })));
}

export async function grantJobsView(context: Context, connectionId: string, memberId: string): Promise<Result<undefined, Failure>> {
  const { store, now } = context.composition;
  const connection = await findPersonalConnection(context, connectionId);
  if (!connection) return failed(connectionNotFoundFailure);
  const owner = await store.members.get(connection.ownerId);
  if (!hasRole(context.viewer.role, "admin") || !owner || !hasRole(context.viewer.role, owner.role)) return failed(ownerOnlyFailure);
  const member = await store.members.get(memberId);
  if (!member) return failed(memberNotFoundFailure);
  if (memberId === connection.ownerId) return failed(ownConnectionFailure);
  await store.jobViewers.grant(connectionId, memberId, { givenBy: context.viewer.memberId, now: now() });
  return ok(undefined);
}

export async function revokeJobsView(context: Context, connectionId: string, memberId: string): Promise<Result<undefined, Failure>> {
  const { store } = context.composition;
  const connection = await findPersonalConnection(context, connectionId);
  const canRevoke =
    hasRole(context.viewer.role, "admin") || context.viewer.memberId === connection?.ownerId || context.viewer.memberId === memberId;
  // Everyone else gets the same response as for a missing connection.
  if (!connection || !canRevoke) return failed(connectionNotFoundFailure);
  return (await store.jobViewers.revoke(connectionId, memberId)) ? ok(undefined) : failed(memberNotFoundFailure);
}

async function findPersonalConnection({ composition: { store }, viewer }: Context, id: string): Promise<PersonalConnection | undefined> {
  const personalConnections = await store.jobViewers.listPersonal();
  return personalConnections.find((personalConnection) => personalConnection.id === id && isInScope(viewer, id));
}

const ownerOnlyFailure = createFailure("ROLE_TOO_LOW", "Only the owner decides who sees the jobs of their connection.");
const memberNotFoundFailure = createFailure("NOT_FOUND", "There is no such member.");
const ownConnectionFailure = createFailure("CONFLICT", "This is the member's own connection.");
