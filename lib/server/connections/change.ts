// Making, changing and removing connections.
// Guarantees: shared ones need the role admin; a stored key never travels to an address it was not given for.

import "server-only";
import { type z } from "zod";
import { type ConnectionCheck, type connectionBodySchema, type connectionChangeSchema, type ConnectionView } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/roles";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { storeApiKey } from "../keys/api-keys";
import { type Connection } from "../store/connections";
import { isForbiddenAddress } from "../upstream/addresses";
import { findConnection } from "./access";
import { checkConnection } from "./check";
import { toConnectionView } from "./views";

export type Saved = { connection: ConnectionView; check: ConnectionCheck };

export async function createConnection(viewer: Viewer, body: z.infer<typeof connectionBodySchema>): Promise<Result<Saved, Failure>> {
  const { store, ring, now } = composition();
  const shared = body.shared ?? false;
  if (shared && !hasRole(viewer.role, "admin")) return failed(adminOnly);
  if (isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddress);
  const connection = await store.connections.create({
    name: body.name,
    baseUrl: withoutSlash(body.baseUrl),
    accountUrl: body.accountUrl || undefined,
    memberId: shared ? undefined : viewer.memberId,
    createdAt: now(),
  });
  if (body.key !== undefined) await storeApiKey(store.keys, ring, { connectionId: connection.id, apiKey: body.key, now: now() });
  return saved(viewer, connection.id);
}

export async function changeConnection(
  viewer: Viewer,
  id: string,
  body: z.infer<typeof connectionChangeSchema>,
): Promise<Result<Saved, Failure>> {
  const { store, ring, now } = composition();
  const found = await findOwnConnection(viewer, id);
  if (!found.ok) return found;
  if (body.baseUrl !== undefined && isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddress);
  const baseUrl = body.baseUrl === undefined ? found.value.baseUrl : withoutSlash(body.baseUrl);
  const moves = baseUrl !== found.value.baseUrl;
  if (moves && body.key === undefined && (await store.keys.getOf(id))) {
    return failed({
      code: "INVALID_BODY",
      message: "key: another base URL needs the key again",
      status: 400,
      details: [{ path: "key", message: "required" }],
    });
  }
  // The new key first: between the two writes the old address may see the new key refused, never the new address the old key.
  if (body.key !== undefined) await storeApiKey(store.keys, ring, { connectionId: id, apiKey: body.key, now: now() });
  await store.connections.change(id, { name: body.name, baseUrl, accountUrl: body.accountUrl });
  return saved(viewer, id);
}

export async function removeConnection(viewer: Viewer, id: string): Promise<Result<undefined, Failure>> {
  const found = await findOwnConnection(viewer, id);
  if (!found.ok) return found;
  await composition().store.connections.remove(id);
  return ok(undefined);
}

/** A connection that the viewer may change: a personal one of theirs, or a shared one for an admin. */
async function findOwnConnection(viewer: Viewer, id: string): Promise<Result<Connection, Failure>> {
  const found = await findConnection(viewer, id);
  if (found.ok && found.value.memberId === undefined && !hasRole(viewer.role, "admin")) return failed(adminOnly);
  return found;
}

async function saved(viewer: Viewer, id: string): Promise<Result<Saved, Failure>> {
  const found = await findConnection(viewer, id);
  if (!found.ok) return found;
  const check = await checkConnection(found.value);
  const usual = await findConnection(viewer, undefined);
  const view = await toConnectionView({ ...found.value, status: check.outcome }, usual.ok && usual.value.id === id);
  return ok({ connection: view, check });
}

function withoutSlash(address: string): string {
  return address.replace(/\/+$/, "");
}

const forbiddenAddress: Failure = {
  code: "INVALID_BODY",
  message: "baseUrl: must not be a link-local or metadata address",
  status: 400,
  details: [{ path: "baseUrl", message: "must not be a link-local or metadata address" }],
};
const adminOnly: Failure = { code: "ROLE_TOO_LOW", message: "A shared connection is changed by an admin.", status: 403 };
