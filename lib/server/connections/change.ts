// Checks, creates, changes and removes connections.

import "server-only";
import { randomUUID } from "node:crypto";
import { type z } from "zod";
import { toBaseUrl } from "@/lib/contract/connections";
import {
  type connectionBodySchema,
  type connectionChangeSchema,
  type ConnectionCheck,
  type ConnectionSaved,
  isAccepted,
} from "@/lib/contract/console";
import { codeByStatus, type Failure, lacksOperation } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { operations } from "@/lib/contract/operations";
import { hasRole } from "@/lib/contract/people/roles";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { failed, ok, type Result } from "@/lib/shared/result";
import { type Context, lostRightsToChange } from "../auth/viewer";
import { type Composition, type Parts } from "../composition-type";
import { openApiKey, storeApiKey } from "../keys/key-ring";
import { type Connection } from "../store/connections";
import { findConnection, noConnection } from "./access";
import { toConnectionView } from "./views";

const MAX_QUOTE_LENGTH = 120;
const localServer: ConnectionCheck = { outcome: "active", message: "A local server answers; it needs no key.", dialect: "local" };
const firstAsset = { limit: 1, offset: 0, include_public: false };

export async function checkConnection(composition: Composition, connection: Connection, signal?: AbortSignal): Promise<ConnectionCheck> {
  const { store, ring } = composition;
  const stored = await store.keys.getOf(connection.id);
  const apiKey = stored && openApiKey(ring, stored);
  const check = await askWhoseKey(composition, { id: connection.id, baseUrl: connection.baseUrl, apiKey }, signal);
  // If nothing answered, that says nothing about the dialect.
  if (isAccepted(check)) await store.connections.change(connection.id, { dialect: check.dialect, hasAssets: check.hasAssets });
  await rememberCheck(composition, connection.id, check);
  return check;
}

/** Asks without remembering: the connection need not be stored. Recognises a plain local server: it has no users, but system stats. */
async function askWhoseKey(
  { capabilities, upstreamFor }: Parts<"capabilities" | "upstreamFor">,
  { id, baseUrl, apiKey }: { id: string; baseUrl: string; apiKey: string | undefined },
  signal?: AbortSignal,
): Promise<ConnectionCheck> {
  const upstream = upstreamFor({ connectionId: id, baseUrl, dialect: "interface", apiKey });
  // Interactive: the member waits, and can retry.
  const callOptions = { signal, waits: "page" } as const;
  // Masks before shortening: half a secret would not be recognised.
  const answer = maskSecrets(await upstream.call(operations.getUser, callOptions));
  const hasNoUsers = !answer.ok && lacksOperation(answer.failure);
  const system = hasNoUsers ? await upstream.call(operations.getSystemStats, callOptions) : undefined;
  const isLocal = system?.ok === true && isObject(system.value.system);
  const asLocal = isLocal ? upstreamFor({ connectionId: id, baseUrl, dialect: "local", apiKey }) : undefined;
  const assets = await asLocal?.call(operations.listAssets, { query: firstAsset, ...callOptions });
  capabilities.forget(id);
  if (assets) return { ...localServer, hasAssets: !lacksAssets(assets) };
  return answer.ok
    ? { ...toCheck(answer.value.status), dialect: "interface", hasAssets: true }
    : { ...toRefusal(answer.failure), dialect: "interface" };
}

/** A local server may have been restarted with or without its asset library. */
export async function noteAssetLibrary(
  { store }: Parts<"store">,
  { id, dialect, hasAssets }: Connection,
  answer: Result<unknown, Failure>,
): Promise<void> {
  if (dialect === "local" && (answer.ok || lacksAssets(answer)) && hasAssets !== answer.ok)
    await store.connections.change(id, { hasAssets: answer.ok });
}

function lacksAssets(answer: Result<unknown, Failure>): boolean {
  return !answer.ok && lacksOperation(answer.failure);
}

async function rememberCheck({ capabilities, store }: Parts<"capabilities" | "store">, id: string, check: ConnectionCheck): Promise<void> {
  capabilities.forget(id);
  await store.connections.setStatus(id, check.outcome);
  await store.peers.tellChange(id);
}

type Outcome = Omit<ConnectionCheck, "dialect">;

function toCheck(status: string): Outcome {
  if (status === "waitlisted") return { outcome: "waitlisted", message: "The key is good; the account is still on the waiting list." };
  return {
    outcome: "active",
    message: status === "active" ? "The key is good." : `The key is good; the service calls the account "${status}".`,
  };
}

function toRefusal(failure: Failure): Outcome {
  if (failure.code === "UPSTREAM_REFUSED_KEY") return { outcome: "refused", message: failure.message };
  const { status } = failure;
  const message = status >= 400 ? `The service answers ${status}: ${short(failure.message)}` : failure.message;
  if (status === 403) return { outcome: "forbidden", message };
  // A 429 may be about the plan: then waiting does not help.
  if (status === 402 || (status === 429 && codeByStatus(failure) === "PAYMENT_REQUIRED")) return { outcome: "unpaid", message };
  const { retryAfterMs } = failure;
  if (status === 429 || status >= 500) return { outcome: "failing", message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  // A page or a redirect: some server answers there.
  return {
    outcome: ["UPSTREAM_UNREADABLE", "UPSTREAM_TOO_LARGE"].includes(failure.code) || status >= 400 ? "strange" : "unreachable",
    message,
  };
}

/** The address may not be a service at all: only a short line of its words is repeated. */
function short(message: string): string {
  const line = message.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return line.length > MAX_QUOTE_LENGTH ? `${line.slice(0, MAX_QUOTE_LENGTH - 1)}…` : line;
}

type Given = { keep?: boolean; key?: string };

export async function createConnection(
  context: Context,
  body: z.infer<typeof connectionBodySchema>,
): Promise<Result<ConnectionSaved, Failure>> {
  const { store, now } = context.composition;
  const shared = body.shared ?? false;
  if (shared && !hasRole(context.viewer.role, "admin")) return failed(adminOnly);
  if (isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddress);
  const id = randomUUID();
  const baseUrl = toBaseUrl(body.baseUrl);
  const check = await askWhoseKey(context.composition, { id, baseUrl, apiKey: body.key });
  if (!isWorthKeeping(check, body)) return ok({ check });
  // The service decides how long the check takes: the member may have lost their rights meanwhile.
  const refused = await lostRightsToChange(context);
  if (refused) return failed(refused);
  await store.connections.create({
    id,
    name: body.name,
    baseUrl,
    accountUrl: body.accountUrl || undefined,
    memberId: shared ? undefined : context.viewer.memberId,
    dialect: check.dialect,
    hasAssets: check.hasAssets,
    createdAt: now(),
  });
  await storeGivenKey(context.composition, id, body);
  return saved(context, id, check);
}

/** A new key or address that the service does not accept leaves the stored ones unchanged; a name is never refused. */
export async function changeConnection(
  context: Context,
  id: string,
  body: z.infer<typeof connectionChangeSchema>,
): Promise<Result<ConnectionSaved, Failure>> {
  const { store, ring } = context.composition;
  const found = await findOwnConnection(context, id);
  if (!found.ok) return found;
  if (body.baseUrl !== undefined && isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddress);
  const baseUrl = body.baseUrl === undefined ? found.value.baseUrl : toBaseUrl(body.baseUrl);
  const moves = baseUrl !== found.value.baseUrl;
  const stored = await store.keys.getOf(id);
  if (moves && body.key === undefined && stored) return failed(keyNeeded);
  const apiKey = body.key ?? (stored && openApiKey(ring, stored));
  const check = await askWhoseKey(context.composition, { id, baseUrl, apiKey });
  if ((moves || body.key !== undefined) && !isWorthKeeping(check, body)) return ok({ check });
  // The check takes time. What was checked must still be what is stored, or a key would be sent to an address it was not given for.
  const refused = await lostRightsToChange(context);
  if (refused) return failed(refused);
  const now = await findOwnConnection(context, id);
  if (!now.ok) return now;
  const isSame = now.value.baseUrl === found.value.baseUrl && (await store.keys.getOf(id))?.fingerprint === stored?.fingerprint;
  if (!isSame) return failed(changedMeanwhile);
  // The new key first: between the two writes the old address may refuse the new key, but the new address never gets the old key.
  await storeGivenKey(context.composition, id, body);
  const learnt = moves || isAccepted(check) ? check.dialect : undefined;
  if (moves || body.key !== undefined) context.composition.ledger.restart(id);
  await store.connections.change(id, {
    name: body.name,
    baseUrl,
    accountUrl: body.accountUrl,
    dialect: learnt,
    hasAssets: check.hasAssets,
  });
  return saved(context, id, check);
}

export async function removeConnection(context: Context, id: string): Promise<Result<undefined, Failure>> {
  const found = await findOwnConnection(context, id);
  if (!found.ok) return found;
  if (!(await context.composition.store.connections.remove(id))) return failed(noConnection);
  context.composition.ledger.sweep();
  return ok(undefined);
}

async function findOwnConnection(context: Context, id: string): Promise<Result<Connection, Failure>> {
  const found = await findConnection(context, id);
  if (found.ok && found.value.memberId === undefined && !hasRole(context.viewer.role, "admin")) return failed(adminOnly);
  return found;
}

async function saved(context: Context, id: string, check: ConnectionCheck): Promise<Result<ConnectionSaved, Failure>> {
  await rememberCheck(context.composition, id, check);
  const found = await findConnection(context, id);
  if (!found.ok) return found;
  const defaultConnection = await findConnection(context, undefined);
  return ok({
    connection: await toConnectionView(context.composition, found.value, defaultConnection.ok && defaultConnection.value.id === id),
    check,
  });
}

async function storeGivenKey({ store, ring, now }: Parts<"store" | "ring" | "now">, connectionId: string, { key }: Given): Promise<void> {
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
