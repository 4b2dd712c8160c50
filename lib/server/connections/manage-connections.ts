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
import { createFailure, createFieldFailure, type Failure, getCodeByStatus, isMissingOperation } from "@/lib/contract/failure";
import { isObject } from "@/lib/contract/json/json";
import { hasRole } from "@/lib/contract/members/roles";
import { operations } from "@/lib/contract/operations";
import { truncateText } from "@/lib/contract/plain-line";
import { maskSecrets } from "@/lib/contract/secrets/mask-secrets";
import { isForbiddenAddress } from "@/lib/shared/guarded-connector";
import { failed, ok, type Result } from "@/lib/shared/result";
import { checkChangeRights, type Context } from "../auth/viewer";
import { type Composition, type Dependencies } from "../composition-type";
import { decryptApiKey, storeApiKey } from "../keys/key-ring";
import { type Connection } from "../store/connections";
import { connectionNotFoundFailure, findConnection } from "./access";
import { toConnectionView } from "./connection-views";

const MAX_QUOTE_LENGTH = 120;
const localServerCheck: ConnectionCheck = { outcome: "active", message: "This is a local server, which needs no key.", dialect: "local" };
const singleAssetQuery = { limit: 1, offset: 0, include_public: false };

export async function checkConnection(composition: Composition, connection: Connection, signal?: AbortSignal): Promise<ConnectionCheck> {
  const { store, keyRing } = composition;
  const key = await store.keys.getByConnection(connection.id);
  const apiKey = key && decryptApiKey(keyRing, key);
  const check = await checkKey(composition, { id: connection.id, baseUrl: connection.baseUrl, apiKey }, signal);
  // Without a response, the dialect is unknown.
  if (isAccepted(check)) await store.connections.change(connection.id, { dialect: check.dialect, hasAssets: check.hasAssets });
  await storeCheck(composition, connection.id, check);
  return check;
}

/** Checks the service without caching, because the connection may not be stored. A plain local server has system stats but no users. */
async function checkKey(
  { capabilities, getUpstream }: Dependencies<"capabilities" | "getUpstream">,
  { id, baseUrl, apiKey }: { id: string; baseUrl: string; apiKey: string | undefined },
  signal?: AbortSignal,
): Promise<ConnectionCheck> {
  const upstream = getUpstream({ connectionId: id, baseUrl, dialect: "interface", apiKey });
  // Interactive: the member waits, and can retry.
  const callOptions = { signal, waiter: "page" } as const;
  // Masks before shortening, because a truncated secret would not be recognised.
  const result = maskSecrets(await upstream.call(operations.getUser, callOptions));
  const hasNoUsers = !result.ok && isMissingOperation(result.failure);
  const systemResult = hasNoUsers ? await upstream.call(operations.getSystemStats, callOptions) : undefined;
  const isLocal = systemResult?.ok === true && isObject(systemResult.value.system);
  const localUpstream = isLocal ? getUpstream({ connectionId: id, baseUrl, dialect: "local", apiKey }) : undefined;
  const assetsResult = await localUpstream?.call(operations.listAssets, { query: singleAssetQuery, ...callOptions });
  capabilities.clear(id);
  if (assetsResult) return { ...localServerCheck, hasAssets: !isAssetLibraryMissing(assetsResult) };
  return result.ok
    ? { ...toCheck(result.value.status), dialect: "interface", hasAssets: true }
    : { ...toFailedCheck(result.failure), dialect: "interface" };
}

/** A local server may have been restarted with or without its asset library. */
export async function storeAssetSupport(
  { store }: Dependencies<"store">,
  { id, dialect, hasAssets }: Connection,
  result: Result<unknown, Failure>,
): Promise<void> {
  if (dialect === "local" && (result.ok || isAssetLibraryMissing(result)) && hasAssets !== result.ok)
    await store.connections.change(id, { hasAssets: result.ok });
}

function isAssetLibraryMissing(result: Result<unknown, Failure>): boolean {
  return !result.ok && isMissingOperation(result.failure);
}

async function storeCheck(
  { capabilities, store }: Dependencies<"capabilities" | "store">,
  id: string,
  check: ConnectionCheck,
): Promise<void> {
  capabilities.clear(id);
  await store.connections.setStatus(id, check.outcome);
  await store.peers.notifyChange(id);
}

type Outcome = Omit<ConnectionCheck, "dialect">;

function toCheck(status: string): Outcome {
  if (status === "waitlisted") return { outcome: "waitlisted", message: "The key is valid, but the account is still on the waiting list." };
  return {
    outcome: "active",
    message: status === "active" ? "The key is valid." : `The key is valid, but the account's status is "${status}".`,
  };
}

function toFailedCheck(failure: Failure): Outcome {
  if (failure.code === "UPSTREAM_REFUSED_KEY") return { outcome: "refused", message: failure.message };
  const { status } = failure;
  const message = status >= 400 ? `The service responded with ${status}: ${toExcerpt(failure.message)}` : failure.message;
  if (status === 403) return { outcome: "forbidden", message };
  // A 429 may be about the plan, and then waiting does not help.
  if (status === 402 || (status === 429 && getCodeByStatus(failure) === "PAYMENT_REQUIRED")) return { outcome: "unpaid", message };
  const { retryAfterMs } = failure;
  if (status === 429 || status >= 500) return { outcome: "failing", message, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  // A web page or a redirect indicates another kind of server.
  return {
    outcome: ["UPSTREAM_UNREADABLE", "UPSTREAM_TOO_LARGE"].includes(failure.code) || status >= 400 ? "strange" : "unreachable",
    message,
  };
}

/** The URL may lead to any server, so only a short excerpt of its response is shown. */
function toExcerpt(message: string): string {
  return truncateText(message.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim(), MAX_QUOTE_LENGTH);
}

type KeyChange = { keep?: boolean; key?: string };

export async function createConnection(
  context: Context,
  body: z.infer<typeof connectionBodySchema>,
): Promise<Result<ConnectionSaved, Failure>> {
  const { store, now } = context.composition;
  const isShared = body.shared ?? false;
  if (isShared && !hasRole(context.viewer.role, "admin")) return failed(adminOnlyFailure);
  if (isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddressFailure);
  const id = randomUUID();
  const baseUrl = toBaseUrl(body.baseUrl);
  const check = await checkKey(context.composition, { id, baseUrl, apiKey: body.key });
  if (!shouldStore(check, body)) return ok({ check });
  // The check may take a while, so rights are checked again afterwards.
  const failure = await checkChangeRights(context);
  if (failure) return failed(failure);
  await store.connections.create({
    id,
    name: body.name,
    baseUrl,
    accountUrl: body.accountUrl || undefined,
    memberId: isShared ? undefined : context.viewer.memberId,
    dialect: check.dialect,
    hasAssets: check.hasAssets,
    createdAt: now(),
  });
  await storeNewKey(context.composition, id, body);
  return completeSave(context, id, check);
}

/** A new key or URL that the service rejects leaves the stored ones unchanged. A name is never rejected. */
export async function changeConnection(
  context: Context,
  id: string,
  body: z.infer<typeof connectionChangeSchema>,
): Promise<Result<ConnectionSaved, Failure>> {
  const { store, keyRing } = context.composition;
  const connectionResult = await findEditableConnection(context, id);
  if (!connectionResult.ok) return connectionResult;
  if (body.baseUrl !== undefined && isForbiddenAddress(new URL(body.baseUrl).hostname)) return failed(forbiddenAddressFailure);
  const baseUrl = body.baseUrl === undefined ? connectionResult.value.baseUrl : toBaseUrl(body.baseUrl);
  const isUrlChanged = baseUrl !== connectionResult.value.baseUrl;
  const key = await store.keys.getByConnection(id);
  if (isUrlChanged && body.key === undefined && key) return failed(keyRequiredFailure);
  const apiKey = body.key ?? (key && decryptApiKey(keyRing, key));
  const check = await checkKey(context.composition, { id, baseUrl, apiKey });
  if ((isUrlChanged || body.key !== undefined) && !shouldStore(check, body)) return ok({ check });
  // The check takes time. The stored connection must still be the checked one, or a key could be sent to the wrong URL.
  const failure = await checkChangeRights(context);
  if (failure) return failed(failure);
  const currentResult = await findEditableConnection(context, id);
  if (!currentResult.ok) return currentResult;
  const isUnchanged =
    currentResult.value.baseUrl === connectionResult.value.baseUrl &&
    (await store.keys.getByConnection(id))?.fingerprint === key?.fingerprint;
  if (!isUnchanged) return failed(concurrentChangeFailure);
  // The new key is stored first. Between the two writes, the old URL may reject it, but the new URL never receives the old key.
  await storeNewKey(context.composition, id, body);
  const newDialect = isUrlChanged || isAccepted(check) ? check.dialect : undefined;
  if (isUrlChanged || body.key !== undefined) context.composition.jobIndex.restart(id);
  await store.connections.change(id, {
    name: body.name,
    baseUrl,
    accountUrl: body.accountUrl,
    dialect: newDialect,
    hasAssets: check.hasAssets,
  });
  return completeSave(context, id, check);
}

export async function removeConnection(context: Context, id: string): Promise<Result<undefined, Failure>> {
  const connectionResult = await findEditableConnection(context, id);
  if (!connectionResult.ok) return connectionResult;
  if (!(await context.composition.store.connections.remove(id))) return failed(connectionNotFoundFailure);
  context.composition.jobIndex.sweep();
  return ok(undefined);
}

async function findEditableConnection(context: Context, id: string): Promise<Result<Connection, Failure>> {
  const connectionResult = await findConnection(context, id);
  if (connectionResult.ok && connectionResult.value.memberId === undefined && !hasRole(context.viewer.role, "admin"))
    return failed(adminOnlyFailure);
  return connectionResult;
}

async function completeSave(context: Context, id: string, check: ConnectionCheck): Promise<Result<ConnectionSaved, Failure>> {
  await storeCheck(context.composition, id, check);
  const connectionResult = await findConnection(context, id);
  if (!connectionResult.ok) return connectionResult;
  const defaultConnection = await findConnection(context, undefined);
  return ok({
    connection: await toConnectionView(
      context.composition,
      connectionResult.value,
      defaultConnection.ok && defaultConnection.value.id === id,
    ),
    check,
  });
}

async function storeNewKey(
  { store, keyRing, now }: Dependencies<"store" | "keyRing" | "now">,
  connectionId: string,
  { key }: KeyChange,
): Promise<void> {
  if (key !== undefined) await storeApiKey(store.keys, keyRing, { connectionId, apiKey: key, now: now() });
}

function shouldStore(check: ConnectionCheck, { keep }: KeyChange): boolean {
  return keep === true || isAccepted(check);
}

const forbiddenAddressFailure = createFieldFailure("baseUrl", "must not be a link-local or metadata address");
const keyRequiredFailure = createFieldFailure("key", "required, because the base URL changed");
const concurrentChangeFailure = createFailure("CONFLICT", "Another member has changed this connection. Reload it and try again.");
const adminOnlyFailure = createFailure("ROLE_TOO_LOW", "Only admins can change a shared connection.");
