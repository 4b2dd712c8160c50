// View models of connections, and the members who may see a personal connection's jobs.

import "server-only";
import { type ConnectionView, type PersonalConnectionView } from "@/lib/contract/console";
import { type Failure, refusal } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { adminOnly, type Context } from "../auth/viewer";
import { type Parts } from "../composition-type";
import { type Connection } from "../store/connections";
import { type PersonalConnection } from "../store/jobs/job-viewers";
import { isEmbedded } from "../upstream/send";
import { findVisible, isInScope, noConnection, visibleConnections } from "./access";

/** `preferredId` is the page's own choice; if the member may not use that id, the last used connection is taken. */
export async function listConnectionViews(context: Context, preferredId?: string): Promise<ConnectionView[]> {
  const [connections, chosen, defaultConnection] = await Promise.all([
    visibleConnections(context),
    preferredId === undefined ? undefined : findVisible(context, preferredId),
    findVisible(context, undefined),
  ]);
  const current = chosen?.ok ? chosen.value.id : defaultConnection.ok ? defaultConnection.value.id : undefined;
  const views = await Promise.all(
    connections.map((connection) => toConnectionView(context.composition, connection, connection.id === current)),
  );
  return hasRole(context.viewer.role, "viewer") ? views : views.map(withoutAddress);
}

/** What the frame around every page needs. Never fails if a service is down: it reads only the console's own store. */
export async function getFrame(
  context: Context,
  connection?: string,
): Promise<{ connection?: ConnectionView; connections: ConnectionView[] }> {
  const connections = await listConnectionViews(context, connection);
  return { connection: connections.find((view) => view.current), connections };
}

/** For members who only run apps: the connection's name, as the place where apps run. */
function withoutAddress({ accountUrl: _account, fingerprint: _fingerprint, seenBy: _seenBy, ...view }: ConnectionView): ConnectionView {
  return { ...view, baseUrl: "" };
}

export async function toConnectionView({ store }: Parts<"store">, connection: Connection, current: boolean): Promise<ConnectionView> {
  const [stored, viewers] = await Promise.all([store.keys.getOf(connection.id), store.jobViewers.viewersOf([connection.id])]);
  const { seenOf } = connection;
  if (seenOf !== undefined) {
    const { id, name, dialect, hasAssets, lacks, status } = connection;
    const itsOwn = { embedded: false, shared: false, dialect, hasAssets, lacks, hasKey: stored !== undefined };
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
    lacks: connection.lacks,
    hasKey: stored !== undefined,
    fingerprint: stored?.fingerprint,
    current,
    status: connection.status,
    ...(connection.memberId !== undefined && { seenBy: viewers.get(connection.id) ?? [] }),
  };
}

export async function listPersonalConnections({
  composition: { store },
  viewer,
}: Context): Promise<Result<PersonalConnectionView[], Failure>> {
  if (!hasRole(viewer.role, "admin")) return failed(adminOnly);
  const { jobViewers } = store;
  const inScope = (await jobViewers.listPersonal()).filter(
    (personalConnection) => personalConnection.ownerId !== viewer.memberId && isInScope(viewer, personalConnection.id),
  );
  const viewers = await jobViewers.viewersOf(inScope.map(({ id }) => id));
  return ok(inScope.map((personalConnection) => ({ ...personalConnection, seenBy: viewers.get(personalConnection.id) ?? [] })));
}

export async function grantJobsView(context: Context, connectionId: string, memberId: string): Promise<Result<undefined, Failure>> {
  const { store, now } = context.composition;
  const connection = await findPersonal(context, connectionId);
  if (!connection) return failed(noConnection);
  const owner = await store.members.get(connection.ownerId);
  if (!hasRole(context.viewer.role, "admin") || !owner || !hasRole(context.viewer.role, owner.role)) return failed(tooLow);
  const member = await store.members.get(memberId);
  if (!member) return failed(noSuchMember);
  if (memberId === connection.ownerId) return failed(ownAlready);
  await store.jobViewers.give(connectionId, memberId, { givenBy: context.viewer.memberId, now: now() });
  return ok(undefined);
}

export async function revokeJobsView(context: Context, connectionId: string, memberId: string): Promise<Result<undefined, Failure>> {
  const { store } = context.composition;
  const connection = await findPersonal(context, connectionId);
  const mayTake =
    hasRole(context.viewer.role, "admin") || context.viewer.memberId === connection?.ownerId || context.viewer.memberId === memberId;
  // For all others it does not exist.
  if (!connection || !mayTake) return failed(noConnection);
  return (await store.jobViewers.take(connectionId, memberId)) ? ok(undefined) : failed(noSuchMember);
}

async function findPersonal({ composition: { store }, viewer }: Context, id: string): Promise<PersonalConnection | undefined> {
  const all = await store.jobViewers.listPersonal();
  return all.find((personalConnection) => personalConnection.id === id && isInScope(viewer, id));
}

const tooLow = refusal("ROLE_TOO_LOW", "Only the owner decides who sees the jobs of their connection.");
const noSuchMember = refusal("NOT_FOUND", "There is no such member.");
const ownAlready = refusal("CONFLICT", "This is the member's own connection.");
