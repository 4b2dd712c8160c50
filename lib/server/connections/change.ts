// Making, changing and removing connections.
// Guarantees: shared ones need the role admin; a connection that the service does not accept is saved only on demand; a stored key is never
// sent to an address it was not given for.

import "server-only";
import { randomUUID } from "node:crypto";
import { type z } from "zod";
import { toBaseUrl } from "@/lib/contract/connections";
import { type connectionBodySchema, type connectionChangeSchema, type ConnectionCheck, type ConnectionSaved, isAccepted } from "@/lib/contract/console";
import { type Failure } from "@/lib/contract/failure";
import { hasRole } from "@/lib/contract/people/roles";
import { isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { failed, ok, type Result } from "@/lib/shared/result";
import { refusedAsReadOnly } from "../auth/read-only";
import { lostRights, type Viewer } from "../auth/viewer";
import { composition } from "../composition";
import { openApiKey, storeApiKey } from "../keys/api-keys";
import { type Connection } from "../store/connections";
import { findConnection, noConnection } from "./access";
import { askWhoseKey, rememberCheck } from "./check";
import { toConnectionView } from "./views";

type Given = { keep?: boolean; key?: string };

export async function createConnection(
  viewer: Viewer,
  body: z.infer<typeof connectionBodySchema>,
): Promise<Result<ConnectionSaved, Failure>> {
  const { store, now } = composition();
  const shared = body.shared ?? false;
  if (shared && !hasRole(viewer.role, "admin")) return failed(adminOnly);
  if (isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddress);
  const id = randomUUID();
  const baseUrl = toBaseUrl(body.baseUrl);
  const check = await askWhoseKey({ id, baseUrl, apiKey: body.key });
  if (!isWorthKeeping(check, body)) return ok({ check });
  // The service decides how long the check takes: the member may have lost their rights meanwhile.
  const refused = (await lostRights(viewer)) ?? (await refusedAsReadOnly());
  if (refused) return failed(refused);
  await store.connections.create({
    id,
    name: body.name,
    baseUrl,
    accountUrl: body.accountUrl || undefined,
    memberId: shared ? undefined : viewer.memberId,
    dialect: check.dialect,
    hasAssets: check.hasAssets,
    createdAt: now(),
  });
  await storeGivenKey(id, body);
  return saved(viewer, id, check);
}

/** A new key or address that the service does not accept leaves the stored ones unchanged; a name is never refused. */
export async function changeConnection(
  viewer: Viewer,
  id: string,
  body: z.infer<typeof connectionChangeSchema>,
): Promise<Result<ConnectionSaved, Failure>> {
  const { store, ring } = composition();
  const found = await findOwnConnection(viewer, id);
  if (!found.ok) return found;
  if (body.baseUrl !== undefined && isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddress);
  const baseUrl = body.baseUrl === undefined ? found.value.baseUrl : toBaseUrl(body.baseUrl);
  const moves = baseUrl !== found.value.baseUrl;
  const stored = await store.keys.getOf(id);
  if (moves && body.key === undefined && stored) return failed(keyNeeded);
  const apiKey = body.key ?? (stored && openApiKey(ring, stored));
  const check = await askWhoseKey({ id, baseUrl, apiKey });
  if ((moves || body.key !== undefined) && !isWorthKeeping(check, body)) return ok({ check });
  // The check takes time. What was checked must still be what is stored, or a key would be sent to an address it was not given for.
  const refused = (await lostRights(viewer)) ?? (await refusedAsReadOnly());
  if (refused) return failed(refused);
  const now = await findOwnConnection(viewer, id);
  if (!now.ok) return now;
  const isSame = now.value.baseUrl === found.value.baseUrl && (await store.keys.getOf(id))?.fingerprint === stored?.fingerprint;
  if (!isSame) return failed(changedMeanwhile);
  // The new key first: between the two writes the old address may refuse the new key, but the new address never gets the old key.
  await storeGivenKey(id, body);
  const learnt = moves || isAccepted(check) ? check.dialect : undefined;
  if (moves || body.key !== undefined) composition().ledger.restart(id);
  await store.connections.change(id, {
    name: body.name,
    baseUrl,
    accountUrl: body.accountUrl,
    dialect: learnt,
    hasAssets: check.hasAssets,
  });
  return saved(viewer, id, check);
}

export async function removeConnection(viewer: Viewer, id: string): Promise<Result<undefined, Failure>> {
  const found = await findOwnConnection(viewer, id);
  if (!found.ok) return found;
  if (!(await composition().store.connections.remove(id))) return failed(noConnection);
  composition().ledger.sweep();
  return ok(undefined);
}

/** A connection that the viewer may change: their own, or a shared one if they are an admin. */
async function findOwnConnection(viewer: Viewer, id: string): Promise<Result<Connection, Failure>> {
  const found = await findConnection(viewer, id);
  if (found.ok && found.value.memberId === undefined && !hasRole(viewer.role, "admin")) return failed(adminOnly);
  return found;
}

async function saved(viewer: Viewer, id: string, check: ConnectionCheck): Promise<Result<ConnectionSaved, Failure>> {
  await rememberCheck(id, check);
  const found = await findConnection(viewer, id);
  if (!found.ok) return found;
  const usual = await findConnection(viewer, undefined);
  return ok({ connection: await toConnectionView(found.value, usual.ok && usual.value.id === id), check });
}

async function storeGivenKey(connectionId: string, { key }: Given): Promise<void> {
  const { store, ring, now } = composition();
  if (key !== undefined) await storeApiKey(store.keys, ring, { connectionId, apiKey: key, now: now() });
}

function isWorthKeeping(check: ConnectionCheck, { keep }: Given): boolean {
  return keep === true || isAccepted(check);
}

const forbiddenAddress: Failure = {
  code: "INVALID_BODY",
  message: "baseUrl: must not be a link-local or metadata address",
  status: 400,
  details: [{ path: "baseUrl", message: "must not be a link-local or metadata address" }],
};
const keyNeeded: Failure = {
  code: "INVALID_BODY",
  message: "key: another base URL needs the key again",
  status: 400,
  details: [{ path: "key", message: "required" }],
};
const changedMeanwhile: Failure = {
  code: "CONFLICT",
  message: "Another member has changed this connection. Reload it and try again.",
  status: 409,
};
const adminOnly: Failure = { code: "ROLE_TOO_LOW", message: "Only admins can change a shared connection.", status: 403 };
