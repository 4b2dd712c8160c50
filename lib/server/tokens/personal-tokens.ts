// Creates, lists and revokes personal access tokens. A token never has more rights than its member.

import "server-only";
import { randomBytes } from "node:crypto";
import { formatMemberIdentity } from "@/lib/contract/audit/audit";
import { formatTargets } from "@/lib/contract/audit/audit-items";
import { createFailure, createFieldFailure, type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { hasRole } from "@/lib/contract/members/roles";
import { type NewTokenView, type TokenBody, type TokenView } from "@/lib/contract/members/tokens";
import { failed, ok, type Result } from "@/lib/shared/result";
import { isSelectableOperation, isTokenExpired } from "../auth/credentials";
import { adminRequiredFailure, type Context, createRoleTooLowFailure } from "../auth/viewer";
import { type Dependencies } from "../composition-type";
import { listUsableConnections } from "../connections/access";
import { MAX_TOKENS, type Token } from "../store/people/tokens";

const DAY_MS = 24 * 60 * 60_000;

export async function createToken(context: Context, body: TokenBody): Promise<Result<NewTokenView, Failure>> {
  const { store, now } = context.composition;
  if (!hasRole(context.viewer.role, body.role)) return failed(createRoleTooLowFailure(context.viewer.role, body.role));
  const { operations, connection, connections } = body;
  if (Array.isArray(operations) && !operations.every(isSelectableOperation))
    return failed(createFieldFailure("operations", "contains an unknown operation"));
  const usableConnectionIds = new Set((await listUsableConnections(context)).map(({ id }) => id));
  if (![connection, ...(connections ?? [])].every((id) => usableConnectionIds.has(id)))
    return failed(createFieldFailure("connections", "contains a connection that you can't use"));
  if (connections && !connections.includes(connection))
    return failed(createFieldFailure("connection", "is not one of the chosen connections"));
  const token = `ld_${randomBytes(32).toString("hex")}`;
  const createdAt = now();
  const newToken = await store.tokens.create({
    token,
    memberId: context.viewer.memberId,
    name: body.name,
    role: body.role,
    connectionId: connection,
    connectionIds: connections && [...new Set(connections)],
    operations: Array.isArray(operations) ? [...new Set(operations)] : operations,
    createdAt,
    expiresAt: body.days === null ? undefined : createdAt + body.days * DAY_MS,
  });
  // Names must differ, because the audit log identifies tokens by name.
  if (newToken === "taken") return failed(createFieldFailure("name", "is already used by another of your tokens"));
  if (newToken === "full") return failed(tooManyTokens);
  const [view] = await toTokenViews(context, [newToken]);
  return view ? ok({ token, view }) : failed(tokenNotFound);
}

export async function listTokens(context: Context, scope: "own" | "others"): Promise<Result<TokenView[], Failure>> {
  const { tokens } = context.composition.store;
  if (scope === "own") return ok(await toTokenViews(context, await tokens.list(context.viewer.memberId)));
  if (!hasRole(context.viewer.role, "admin")) return failed(adminRequiredFailure);
  return ok(
    await toTokenViews(
      context,
      (await tokens.list()).filter(({ memberId }) => memberId !== context.viewer.memberId),
    ),
  );
}

/** Returns the token with its owner. Has no effect if the token is already revoked or expired. */
export async function revokeToken(context: Context, id: string): Promise<Result<TokenView, Failure>> {
  const { store, now } = context.composition;
  const token = await store.tokens.get(id);
  if (!token || (token.memberId !== context.viewer.memberId && !hasRole(context.viewer.role, "admin"))) return failed(tokenNotFound);
  await store.tokens.revoke(id, now());
  const [view] = await toTokenViews(context, [{ ...token, revokedAt: token.revokedAt ?? now() }]);
  return view ? ok(view) : failed(tokenNotFound);
}

export async function describeToken({ store }: Dependencies<"store">, id: string): Promise<{ target: string; outcome?: string }> {
  const token = await store.tokens.get(id);
  const member = token && (await store.members.get(token.memberId));
  if (!token || !member) return { target: id };
  return { target: token.name, outcome: formatTargets([{ id, name: token.name }], writeExactJson({ of: formatMemberIdentity(member) })) };
}

/** Returns connection names only if the viewer may use them. */
async function toTokenViews(context: Context, tokens: readonly Token[]): Promise<TokenView[]> {
  const { store, now } = context.composition;
  const [members, connections] = await Promise.all([store.members.list(), listUsableConnections(context)]);
  const memberNames = new Map(members.map(({ id, name }) => [id, name]));
  const connectionNames = new Map(connections.map(({ id, name }) => [id, name]));
  const toNamedConnection = (id: string) => ({ id, name: connectionNames.get(id) });
  return tokens.map((token) => ({
    id: token.id,
    name: token.name,
    member: { id: token.memberId, name: memberNames.get(token.memberId) ?? "" },
    role: token.role,
    connection: toNamedConnection(token.connectionId),
    connections: token.connectionIds?.map(toNamedConnection),
    operations: token.operations,
    state: token.revokedAt !== undefined ? "revoked" : isTokenExpired(token, now()) ? "expired" : "active",
    createdAt: token.createdAt,
    expiresAt: token.expiresAt,
    lastUsedAt: token.lastUsedAt,
  }));
}

const tokenNotFound = createFailure("NOT_FOUND", "There is no such token.");
const tooManyTokens = createFailure("CONFLICT", `You have ${MAX_TOKENS} tokens. Revoke one first.`);
