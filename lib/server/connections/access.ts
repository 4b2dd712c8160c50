// Opens the client of a connection for a member who may use it. The key is decrypted for one call and passed only to the client.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { createFailure, type Failure } from "@/lib/contract/failure";
import { getWeakerRole, type Role } from "@/lib/contract/members/roles";
import { isRead, type Operation, type ResponseOf } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { failed, ok, type Result } from "@/lib/shared/result";
import { checkChangeRights, checkViewer, type Context, type Viewer } from "../auth/viewer";
import { type Composition, type Target } from "../composition-type";
import { decryptApiKey } from "../keys/key-ring";
import { checkJobsOnlyOperation, createJobsOnlyFailure, isJobRead } from "../responses/jobs-only";
import { requestRedacted } from "../responses/process-response";
import { type Connection } from "../store/connections";
import { type CallInput } from "../upstream/build-request";
import { createNotImplementedFailure } from "../upstream/failures";
import { isEmbedded } from "../upstream/send";
import { type Upstream, type UpstreamOptions } from "../upstream/upstream";
import { type PreviewSource } from "./asset-preview-cache";

export const connectionNotFoundFailure = createFailure("NOT_FOUND", "There is no such connection.");

export const connectionChangedFailure = createFailure("CONFLICT", "The connection was switched, changed or removed.");

const noDefaultConnectionFailure = createFailure(
  "NO_CONNECTION",
  "The connection of this token was removed. Pass another one in the connection parameter, or create a new token.",
);

export type Access = Context & {
  connection: Connection;
  /** Undefined for local servers, which need none. */
  apiKey: string | undefined;
  target: Target;
  fingerprint: string | undefined;
  /** Call before each step of long-running work. `upstream` does this itself. */
  checkRights: () => Promise<Failure | undefined>;
  upstream: Upstream;
  upstreamOptions: UpstreamOptions;
  findAssetPreview: (id: string) => PreviewSource | undefined;
};

/** Connections of the team and the viewer's own, within the scope of their credential. */
export async function listUsableConnections({ composition: { store }, viewer }: Context): Promise<Connection[]> {
  const connections = await store.connections.listFor(viewer.memberId);
  return connections.filter(({ id }) => isInScope(viewer, id));
}

export function isInScope({ scope }: Viewer, connectionId: string): boolean {
  return scope.connections?.includes(connectionId) !== false;
}

/** Includes other members' own connections whose jobs the viewer may see. */
export async function listVisibleConnections(context: Context): Promise<Connection[]> {
  const otherConnections = await context.composition.store.jobViewers.listFor(context.viewer.memberId);
  return [...(await listUsableConnections(context)), ...otherConnections.filter(({ id }) => isInScope(context.viewer, id))];
}

/** For everything but job reads. Rejects a connection if the viewer may only see its jobs. */
export async function findConnection(context: Context, id: string | undefined): Promise<Result<Connection, Failure>> {
  const visibleResult = await findVisibleConnection(context, id);
  return visibleResult.ok && visibleResult.value.seenOf !== undefined
    ? failed(createJobsOnlyFailure(visibleResult.value.seenOf))
    : visibleResult;
}

/** For job reads. Without an id, returns the member's last used connection, otherwise the first one available to them. */
export async function findVisibleConnection(context: Context, id: string | undefined): Promise<Result<Connection, Failure>> {
  const { store } = context.composition;
  const { memberId } = context.viewer;
  const getConnection = async (connectionId: string) => {
    if (!isInScope(context.viewer, connectionId)) return undefined;
    return (await store.connections.getFor(memberId, connectionId)) ?? store.jobViewers.getFor(memberId, connectionId);
  };
  if (id !== undefined) {
    const connection = await getConnection(id);
    return connection ? ok(connection) : failed(connectionNotFoundFailure);
  }
  // Not the member's last used connection: an API client keeps using the one it was set up with.
  if (context.viewer.credential.kind === "token") {
    const tokenConnection = await getConnection(context.viewer.credential.connectionId);
    return tokenConnection ? ok(tokenConnection) : failed(noDefaultConnectionFailure);
  }
  const lastId = (await store.members.get(memberId))?.lastConnectionId;
  const connection = (lastId && (await getConnection(lastId))) || (await listVisibleConnections(context))[0];
  return connection ? ok(connection) : failed(createFailure("NO_CONNECTION", "There is no connection yet."));
}

/** Identifies the resolved connection. Changes with its address, key or the viewer's role. */
export type ConnectionTarget = { connection: Connection; fingerprint: string | undefined };

export async function resolveTarget(
  context: Context,
  id: string | undefined,
  find = findConnection,
): Promise<Result<ConnectionTarget, Failure>> {
  const result = await find(context, id);
  if (!result.ok) return result;
  return ok({
    connection: result.value,
    fingerprint: (await context.composition.store.keys.getByConnection(result.value.id))?.fingerprint,
  });
}

export function isSameTarget(target: ConnectionTarget, other: ConnectionTarget): boolean {
  const toKey = ({ connection: { id, baseUrl, seenOf }, fingerprint }: ConnectionTarget) => [id, baseUrl, seenOf, fingerprint].join("\n");
  return toKey(target) === toKey(other);
}

/** The viewer's role on that connection: at most viewer if they may only see its jobs. */
export async function getRoleForConnection(context: Context, id: string | undefined): Promise<Role> {
  const visibleResult = await findVisibleConnection(context, id);
  return visibleResult.ok ? limitRole(visibleResult.value, context.viewer) : context.viewer.role;
}

function limitRole(connection: Connection, { role }: Viewer): Role {
  return hasFeature(connection, "fullAccess") ? role : getWeakerRole("viewer", role);
}

/** For user actions, which keep the job index syncing. */
export async function openConnection(context: Context, id: string | undefined): Promise<Result<Access, Failure>> {
  return openAndMarkUsed(context, id, findConnection);
}

/** For background work, which doesn't keep the job index syncing. */
export async function openInBackground({ composition, viewer }: Context, id: string | undefined): Promise<Result<Access, Failure>> {
  return open({ composition, viewer }, id, findConnection);
}

/** For job reads. Also works if the viewer may only see the connection's jobs. */
export async function openForJobs(context: Context, id: string | undefined): Promise<Result<Access, Failure>> {
  return openAndMarkUsed(context, id, findVisibleConnection);
}

async function openAndMarkUsed(
  { composition, viewer }: Context,
  id: string | undefined,
  find: typeof findVisibleConnection,
): Promise<Result<Access, Failure>> {
  // Leaves out the rest of a handler's context, because the job index keeps it longer than the request.
  const context = { composition, viewer };
  const access = await open(context, id, find);
  if (!access.ok) return access;
  const connectionId = access.value.connection.id;
  const reopen = () => open(context, connectionId, findVisibleConnection);
  context.composition.jobIndex.reader.markUsed(connectionId, {
    jobs: (input) => read(operations.listJobs, reopen(), input),
    ...(isEmbedded(access.value.connection.baseUrl) && {
      assets: (input: CallInput) => read(operations.listJobAssets, reopen(), input),
    }),
  });
  return access;
}

type KeyedAccess = { apiKey: string | undefined; target: Target; fingerprint: string | undefined };

async function loadKey({ store, keyRing, log }: Composition, connection: Connection): Promise<Result<KeyedAccess, Failure>> {
  const key = await store.keys.getByConnection(connection.id);
  const apiKey = key && decryptApiKey(keyRing, key);
  if (key && apiKey === undefined) log.error({ connectionId: connection.id, ringKeyId: key.ringKeyId }, "stored key decryption failed");
  const needsKey = key !== undefined || hasFeature(connection, "accounts");
  if (needsKey && apiKey === undefined) {
    const reason = key
      ? "The stored key can't be decrypted with the console's encryption keys. Enter it again."
      : "This connection has no key yet.";
    return failed(createFailure("API_KEY_MISSING", reason));
  }
  const target = { connectionId: connection.id, baseUrl: connection.baseUrl, dialect: connection.dialect, apiKey };
  return ok({ apiKey, target, fingerprint: key?.fingerprint });
}

export type BackgroundAccess = KeyedAccess &
  Pick<Access, "composition" | "connection" | "upstream"> & {
    viewer: { memberId: string; role: Role; credential: { kind: string } };
  };

/** For the console's own reads of a team connection, not on behalf of a member. */
export async function openForConsole(composition: Composition, id: string): Promise<Result<BackgroundAccess, Failure>> {
  const connection = await composition.store.connections.getFor("", id);
  if (!connection) return failed(connectionNotFoundFailure);
  const keyResult = await loadKey(composition, connection);
  if (!keyResult.ok) return keyResult;
  const viewer = { memberId: "", role: "viewer", credential: { kind: "console" } } as const;
  return ok({ ...keyResult.value, composition, connection, viewer, upstream: composition.getUpstream(keyResult.value.target) });
}

async function open(context: Context, id: string | undefined, find: typeof findVisibleConnection): Promise<Result<Access, Failure>> {
  const { getUpstream, getUpstreamOptions, assetPreviews } = context.composition;
  const result = await find(context, id);
  if (!result.ok) return result;
  const connection = result.value;
  const keyResult = await loadKey(context.composition, connection);
  if (!keyResult.ok) return keyResult;
  const { target, fingerprint } = keyResult.value;
  // Includes the fingerprint, because another key may see other data under the same id.
  const readerKey = [connection.id, connection.baseUrl, fingerprint ?? ""].join(" ");
  const checkCurrentRights = async (isChange = false) =>
    (await (isChange ? checkChangeRights : checkViewer)(context)) ?? (await checkJobsView(context, connection));
  return ok({
    composition: context.composition,
    // A member with access to jobs only never gets more than the viewer role.
    viewer: { ...context.viewer, role: limitRole(connection, context.viewer) },
    connection,
    ...keyResult.value,
    checkRights: () => checkCurrentRights(),
    upstream: getUpstream(target, {
      onResponse: (operation, response) => assetPreviews.record(readerKey, operation, response),
      // Checked before each call, because rights may be lost between two calls of one request.
      findRefusal: async (operation, input) =>
        (await checkCurrentRights(!isRead(operation))) ??
        (await checkJobsOnlyOperation(context.composition, connection, operation, input)) ??
        checkAbsentCapability(context.composition, connection, operation),
    }),
    upstreamOptions: getUpstreamOptions(target),
    findAssetPreview: (id) => assetPreviews.find(readerKey, id),
  });
}

/** Capabilities that the service lacks are not requested again, except cancelling, whose outcome depends on the download. */
function checkAbsentCapability({ capabilities }: Composition, { id }: Connection, operation: Operation): Failure | undefined {
  const { capability } = operation;
  if (capability === undefined || capability === "tasks.cancel") return undefined;
  return capabilities.get(id, capability) === false ? createNotImplementedFailure(operation) : undefined;
}

/** Access to the jobs can be revoked at any time. */
async function checkJobsView(
  { composition: { store }, viewer: { memberId } }: Context,
  { id, seenOf }: Connection,
): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  return (await store.jobViewers.getFor(memberId, id)) ? undefined : connectionNotFoundFailure;
}

export function openForOperation(context: Context, id: string | undefined, operation: Operation): Promise<Result<Access, Failure>> {
  return isJobRead(operation) ? openForJobs(context, id) : openConnection(context, id);
}

export async function readFromService<O extends Operation>(
  context: Context,
  connectionId: string | undefined,
  operation: O,
  input?: CallInput,
): Promise<Result<ResponseOf<O>, Failure>> {
  return read(operation, openForOperation(context, connectionId, operation), { waiter: "page", ...input });
}

async function read<O extends Operation>(
  operation: O,
  accessPromise: Promise<Result<Access, Failure>>,
  input?: CallInput,
): Promise<Result<ResponseOf<O>, Failure>> {
  const access = await accessPromise;
  if (!access.ok) return access;
  const result = await requestRedacted(operation, access.value, input);
  return result.ok ? ok(result.value.value) : result;
}
