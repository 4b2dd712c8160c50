// Personal access tokens: whose, for what, until when; the token itself is stored as a hash.
// Guarantees: a revoked or expired token stays visible for a while; a removed member's tokens are deleted with the member; a member never
// has more than the maximum of active tokens, however many are made at once.

import "server-only";
import { randomUUID } from "node:crypto";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Role, roles } from "@/lib/contract/people/roles";
import { tokenOperationsSchema } from "@/lib/contract/people/tokens";
import { type Database, prepareOne } from "../database";
import { dialectOf } from "../dialect/dialect";
import { hashToken } from "../settings";
import { type TokenRow } from "./people-rows";

export type Token = {
  id: string;
  memberId: string;
  name: string;
  role: Role;
  /** For requests that name none. */
  connectionId: string;
  /** Undefined: all that the member may use. */
  connectionIds: string[] | undefined;
  operations: z.infer<typeof tokenOperationsSchema>;
  createdAt: number;
  expiresAt: number | undefined;
  lastUsedAt: number | undefined;
  revokedAt: number | undefined;
};
export type NewToken = Omit<Token, "id" | "lastUsedAt" | "revokedAt"> & { token: string };
export type TokenStore = ReturnType<typeof createTokenStore>;

/** The most active tokens of one member. */
export const MOST_TOKENS = 50;
const KEPT_MS = 90 * 24 * 60 * 60_000;
const MOST_LISTED = 1000;
const USED_EVERY_MS = 60_000;

export function createTokenStore(database: Database) {
  const byHash = prepareOne(database, database.selectFrom("tokens").selectAll().where("tokenHash", "=", ""));
  const byId = prepareOne(database, database.selectFrom("tokens").selectAll().where("id", "=", ""));
  return {
    /** "taken": an active token of the member has this name; "full": the member has the maximum number. */
    async create({ token, ...given }: NewToken): Promise<Token | "taken" | "full"> {
      const made: Token = { id: randomUUID(), ...given, lastUsedAt: undefined, revokedAt: undefined };
      return dialectOf(database).serially(database, `tokens of ${made.memberId}`, async (transaction) => {
        const { createdAt: now, memberId } = made;
        // Writes first, so that in SQLite too no other process writes from here on.
        await transaction
          .deleteFrom("tokens")
          .where((where) => where.or([where("revokedAt", "<", now - KEPT_MS), where("expiresAt", "<", now - KEPT_MS)]))
          .execute();
        const active = await transaction
          .selectFrom("tokens")
          .select("name")
          .where("memberId", "=", memberId)
          .where("revokedAt", "is", null)
          .where((where) => where.or([where("expiresAt", "is", null), where("expiresAt", ">", now)]))
          .execute();
        if (active.some(({ name }) => name === made.name)) return "taken";
        if (active.length >= MOST_TOKENS) return "full";
        await transaction
          .insertInto("tokens")
          .values({ ...toRow(made), tokenHash: hashToken(token) })
          .execute();
        return made;
      });
    },

    /** In any state. */
    async find(token: string): Promise<Token | undefined> {
      const row = await byHash(hashToken(token));
      return row && toToken(row);
    },

    async get(id: string): Promise<Token | undefined> {
      const row = await byId(id);
      return row && toToken(row);
    },

    /** Newest first; without a member, all members' tokens. */
    async list(memberId?: string): Promise<Token[]> {
      const rows = await database
        .selectFrom("tokens")
        .selectAll()
        .$if(memberId !== undefined, (query) => query.where("memberId", "=", memberId ?? ""))
        .orderBy("createdAt", "desc")
        .orderBy("id")
        .limit(MOST_LISTED)
        .execute();
      return rows.map(toToken);
    },

    /** False if it was revoked already. */
    async revoke(id: string, now: number): Promise<boolean> {
      const done = await database
        .updateTable("tokens")
        .set({ revokedAt: now })
        .where("id", "=", id)
        .where("revokedAt", "is", null)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },

    /** Written once a minute at most. */
    async noteUse({ id, lastUsedAt }: Token, now: number): Promise<void> {
      if (lastUsedAt !== undefined && now - lastUsedAt < USED_EVERY_MS) return;
      await database
        .updateTable("tokens")
        .set({ lastUsedAt: now })
        .where("id", "=", id)
        .where((where) => where.or([where("lastUsedAt", "is", null), where("lastUsedAt", "<=", now - USED_EVERY_MS)]))
        .execute();
    },
  };
}

function toRow(token: Token): Omit<TokenRow, "tokenHash"> {
  return {
    id: token.id,
    memberId: token.memberId,
    name: token.name,
    role: token.role,
    connectionId: token.connectionId,
    connections: token.connectionIds === undefined ? null : writeExactJson(token.connectionIds),
    operations: writeExactJson(token.operations),
    createdAt: token.createdAt,
    expiresAt: token.expiresAt ?? null,
    lastUsedAt: null,
    revokedAt: null,
  };
}

/** A row that cannot be read gives fewer rights than were given, never more. */
function toToken(row: TokenRow): Token {
  const operations = tokenOperationsSchema.safeParse(parseJson(row.operations));
  return {
    id: row.id,
    memberId: row.memberId,
    name: row.name,
    role: roles.find((role) => role === row.role) ?? roles[0],
    connectionId: row.connectionId,
    connectionIds: row.connections === null ? undefined : textsIn(parseJson(row.connections)),
    operations: operations.success ? operations.data : [],
    createdAt: row.createdAt,
    expiresAt: row.expiresAt ?? undefined,
    lastUsedAt: row.lastUsedAt ?? undefined,
    revokedAt: row.revokedAt ?? undefined,
  };
}

function textsIn(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : [];
}
