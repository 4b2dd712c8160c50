// Opens the client of a connection for a member who may use it. The key is opened for one call and given only to the client.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { type Failure, refusal } from "@/lib/contract/failure";
import { type AnswerOf, isRead, type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type Role, weaker } from "@/lib/contract/people/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { jobsOnlyRefusal, readsJobs, checkJobsOnlyOperation } from "../answers/jobs-only";
import { callForBrowser } from "../answers/process-response";
import { checkChangeRights, checkViewer, type Context, type Viewer } from "../auth/viewer";
import { type Composition, type Target } from "../composition-type";
import { openApiKey } from "../keys/key-ring";
import { type Connection } from "../store/connections";
import { absent } from "../upstream/failures";
import { type CallInput } from "../upstream/outgoing";
import { isEmbedded } from "../upstream/send";
import { type Upstream, type UpstreamOptions } from "../upstream/upstream";
import { type PictureSource } from "./seen-assets";

export const noConnection = refusal("NOT_FOUND", "There is no such connection.");

export const connectionChanged = refusal("CONFLICT", "The connection was switched, changed or removed.");

const noDefaultConnection = refusal(
  "NO_CONNECTION",
  "The connection of this token was removed. Name another with the parameter connection, or create a new token.",
);

export type Access = Context & {
  connection: Connection;
  /** A local server needs none. */
  apiKey: string | undefined;
  target: Target;
  fingerprint: string | undefined;
  /** Work of many steps calls it before each step; `upstream` does so by itself. */
  lostRights: () => Promise<Failure | undefined>;
  upstream: Upstream;
  upstreamOptions: UpstreamOptions;
  seenAsset: (id: string) => PictureSource | undefined;
};

/** Connections of the team and the viewer's own, within the scope of their credential. */
export async function usableConnections({ composition: { store }, viewer }: Context): Promise<Connection[]> {
  const connections = await store.connections.listFor(viewer.memberId);
  return connections.filter(({ id }) => isInScope(viewer, id));
}

export function isInScope({ scope }: Viewer, connectionId: string): boolean {
  return scope.connections?.includes(connectionId) !== false;
}

/** Also other members' own connections whose jobs the viewer may see. */
export async function visibleConnections(context: Context): Promise<Connection[]> {
  const visibleIds = await context.composition.store.jobViewers.listFor(context.viewer.memberId);
  return [...(await usableConnections(context)), ...visibleIds.filter(({ id }) => isInScope(context.viewer, id))];
}

/** To work with. A connection whose jobs are only seen is refused with that reason. */
export async function findConnection(context: Context, id: string | undefined): Promise<Result<Connection, Failure>> {
  const visibleResult = await findVisible(context, id);
  return visibleResult.ok && visibleResult.value.seenOf !== undefined ? failed(jobsOnlyRefusal(visibleResult.value.seenOf)) : visibleResult;
}

/** For reads of jobs. Without an id: the member's last used connection, otherwise the first that they may use. */
export async function findVisible(context: Context, id: string | undefined): Promise<Result<Connection, Failure>> {
  const { store } = context.composition;
  const get = async (value: string) => {
    if (!isInScope(context.viewer, value)) return undefined;
    return (await store.connections.getFor(context.viewer.memberId, value)) ?? store.jobViewers.getFor(context.viewer.memberId, value);
  };
  if (id !== undefined) {
    const connection = await get(id);
    return connection ? ok(connection) : failed(noConnection);
  }
  // Not the one that the member clicked last: a program keeps using the connection it was set up with.
  if (context.viewer.credential.kind === "token") {
    const tokenConnection = await get(context.viewer.credential.connectionId);
    return tokenConnection ? ok(tokenConnection) : failed(noDefaultConnection);
  }
  const last = (await store.members.get(context.viewer.memberId))?.lastConnectionId;
  const connection = (last && (await get(last))) || (await visibleConnections(context))[0];
  return connection ? ok(connection) : failed(refusal("NO_CONNECTION", "There is no connection yet."));
}

/** Identifies the resolved connection: it differs for another address, key or role. */
export type ConnectionTarget = { connection: Connection; fingerprint: string | undefined };

export async function reachOf(context: Context, id: string | undefined, find = findConnection): Promise<Result<ConnectionTarget, Failure>> {
  const result = await find(context, id);
  if (!result.ok) return result;
  return ok({ connection: result.value, fingerprint: (await context.composition.store.keys.getOf(result.value.id))?.fingerprint });
}

export function isSameReach(reach: ConnectionTarget, other: ConnectionTarget): boolean {
  const nameOf = ({ connection: { id, baseUrl, seenOf }, fingerprint }: ConnectionTarget) => [id, baseUrl, seenOf, fingerprint].join("\n");
  return nameOf(reach) === nameOf(other);
}

/** The role on that connection: at most viewer, if it is another member's and only its jobs are seen. */
export async function roleOn(context: Context, id: string | undefined): Promise<Role> {
  const visibleResult = await findVisible(context, id);
  return visibleResult.ok ? roleAt(visibleResult.value, context.viewer) : context.viewer.role;
}

function roleAt(connection: Connection, { role }: Viewer): Role {
  return hasFeature(connection, "fullAccess") ? role : weaker("viewer", role);
}

/** For user actions: they keep the job index syncing. */
export async function openConnection(context: Context, id: string | undefined): Promise<Result<Access, Failure>> {
  return openAndRead(context, id, findConnection);
}

/** For background work: it doesn't keep the job index syncing. */
export async function openQuietly({ composition, viewer }: Context, id: string | undefined): Promise<Result<Access, Failure>> {
  return open({ composition, viewer }, id, findConnection);
}

/** For reads of jobs: also works if nothing else of the connection is open to the viewer. */
export async function openForJobs(context: Context, id: string | undefined): Promise<Result<Access, Failure>> {
  return openAndRead(context, id, findVisible);
}

async function openAndRead(
  { composition, viewer }: Context,
  id: string | undefined,
  find: typeof findVisible,
): Promise<Result<Access, Failure>> {
  // Without the rest of a handler's context: the job index keeps it longer than the request.
  const context = { composition, viewer };
  const access = await open(context, id, find);
  if (!access.ok) return access;
  const used = access.value.connection.id;
  const again = () => open(context, used, findVisible);
  context.composition.jobIndex.reader.markUsed(used, {
    jobs: (input) => read(operations.listJobs, again(), input),
    ...(isEmbedded(access.value.connection.baseUrl) && {
      assets: (input: CallInput) => read(operations.listJobAssets, again(), input),
    }),
  });
  return access;
}

type KeyedAccess = { apiKey: string | undefined; target: Target; fingerprint: string | undefined };

async function withKey({ store, ring, log }: Composition, connection: Connection): Promise<Result<KeyedAccess, Failure>> {
  const key = await store.keys.getOf(connection.id);
  const apiKey = key && openApiKey(ring, key);
  if (key && apiKey === undefined) log.error({ connectionId: connection.id, ringKeyId: key.ringKeyId }, "stored key decryption failed");
  const needsKey = key !== undefined || hasFeature(connection, "accounts");
  if (needsKey && apiKey === undefined) {
    const reason = key
      ? "The stored key cannot be opened with the console's encryption keys. Enter it again."
      : "This connection has no key yet.";
    return failed(refusal("API_KEY_MISSING", reason));
  }
  const target = { connectionId: connection.id, baseUrl: connection.baseUrl, dialect: connection.dialect, apiKey };
  return ok({ apiKey, target, fingerprint: key?.fingerprint });
}

export type BackgroundAccess = KeyedAccess &
  Pick<Access, "composition" | "connection" | "upstream"> & {
    viewer: { memberId: string; role: Role; credential: { kind: string } };
  };

/** For the console's own reads of a team connection, on behalf of no member. */
export async function openUnattended(composition: Composition, id: string): Promise<Result<BackgroundAccess, Failure>> {
  const connection = await composition.store.connections.getFor("", id);
  if (!connection) return failed(noConnection);
  const keyed = await withKey(composition, connection);
  if (!keyed.ok) return keyed;
  const viewer = { memberId: "", role: "viewer", credential: { kind: "console" } } as const;
  return ok({ ...keyed.value, composition, connection, viewer, upstream: composition.upstreamFor(keyed.value.target) });
}

async function open(context: Context, id: string | undefined, find: typeof findVisible): Promise<Result<Access, Failure>> {
  const { upstreamFor, upstreamOptionsFor, seenAssets } = context.composition;
  const result = await find(context, id);
  if (!result.ok) return result;
  const connection = result.value;
  const keyed = await withKey(context.composition, connection);
  if (!keyed.ok) return keyed;
  const { target, fingerprint } = keyed.value;
  // Includes the fingerprint: another key may see other things under the same id.
  const reader = [connection.id, connection.baseUrl, fingerprint ?? ""].join(" ");
  const lost = async (isChange = false) =>
    (await (isChange ? checkChangeRights : checkViewer)(context)) ?? (await checkJobsView(context, connection));
  return ok({
    composition: context.composition,
    // A member who may only see the jobs gets nothing reserved for those who may run them.
    viewer: { ...context.viewer, role: roleAt(connection, context.viewer) },
    connection,
    ...keyed.value,
    lostRights: () => lost(),
    upstream: upstreamFor(target, {
      onAnswer: (operation, response) => seenAssets.record(reader, operation, response),
      // Checked before each call: rights may be lost between two calls of one request.
      refusalOf: async (operation, input) =>
        (await lost(!isRead(operation))) ??
        (await checkJobsOnlyOperation(context.composition, connection, operation, input)) ??
        refusalOfAbsent(context.composition, connection, operation),
    }),
    upstreamOptions: upstreamOptionsFor(target),
    seenAsset: (id) => seenAssets.find(reader, id),
  });
}

/** Something that the service is known to lack is not requested again, except cancelling: its outcome belongs to one download. */
function refusalOfAbsent({ capabilities }: Composition, { id }: Connection, operation: Operation): Failure | undefined {
  const { capability } = operation;
  if (capability === undefined || capability === "tasks.cancel") return undefined;
  return capabilities.get(id, capability) === false ? absent(operation) : undefined;
}

/** The right to see the jobs can be taken back at any moment. */
async function checkJobsView(
  { composition: { store }, viewer: { memberId } }: Context,
  { id, seenOf }: Connection,
): Promise<Failure | undefined> {
  if (seenOf === undefined) return undefined;
  return (await store.jobViewers.getFor(memberId, id)) ? undefined : noConnection;
}

export function openFor(context: Context, id: string | undefined, operation: Operation): Promise<Result<Access, Failure>> {
  return readsJobs(operation) ? openForJobs(context, id) : openConnection(context, id);
}

export async function readThrough<O extends Operation>(
  context: Context,
  connectionId: string | undefined,
  operation: O,
  input?: CallInput,
): Promise<Result<AnswerOf<O>, Failure>> {
  return read(operation, openFor(context, connectionId, operation), { waits: "page", ...input });
}

async function read<O extends Operation>(
  operation: O,
  opening: Promise<Result<Access, Failure>>,
  input?: CallInput,
): Promise<Result<AnswerOf<O>, Failure>> {
  const access = await opening;
  if (!access.ok) return access;
  const result = await callForBrowser(operation, access.value, input);
  return result.ok ? ok(result.value.value) : result;
}
