// Personal access tokens, stored as a hash.

import "server-only";
import { randomUUID } from "node:crypto";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { tokenOperationsSchema } from "@/lib/contract/members/tokens";
import { type Database, hasEffect, prepareQuery } from "../database";
import { getDialect } from "../dialect";
import { hashToken } from "../settings";
import { type Row } from "../tables";

export type Token = Omit<Row<"tokens">, "tokenHash" | "connections" | "operations"> & {
  connectionIds: string[] | undefined;
  operations: z.infer<typeof tokenOperationsSchema>;
};
export type NewToken = Omit<Token, "id" | "lastUsedAt" | "revokedAt"> & { token: string };

export const MAX_TOKENS = 50;
const RETENTION_MS = 90 * 24 * 60 * 60_000;
const MAX_LISTED = 1000;
const USE_WRITE_INTERVAL_MS = 60_000;

export function createTokenStore(database: Database) {
  const findByHash = prepareQuery(database, database.selectFrom("tokens").selectAll().where("tokenHash", "=", ""));
  const findById = prepareQuery(database, database.selectFrom("tokens").selectAll().where("id", "=", ""));
  return {
    /** "taken": an active token of the member has this name. "full": the member has the maximum number of tokens. */
    async create({ token, ...fields }: NewToken): Promise<Token | "taken" | "full"> {
      const newToken: Token = { id: randomUUID(), ...fields, lastUsedAt: undefined, revokedAt: undefined };
      return getDialect(database).runExclusive(database, `tokens of ${newToken.memberId}`, async (transaction) => {
        const { createdAt: now, memberId } = newToken;
        // Writes first, so that in SQLite no other process can write afterwards.
        await transaction
          .deleteFrom("tokens")
          .where((where) => where.or([where("revokedAt", "<", now - RETENTION_MS), where("expiresAt", "<", now - RETENTION_MS)]))
          .execute();
        const activeTokens = await transaction
          .selectFrom("tokens")
          .select("name")
          .where("memberId", "=", memberId)
          .where("revokedAt", "is", null)
          .where((where) => where.or([where("expiresAt", "is", null), where("expiresAt", ">", now)]))
          .execute();
        if (activeTokens.some(({ name }) => name === newToken.name)) return "taken";
        if (activeTokens.length >= MAX_TOKENS) return "full";
        const { connectionIds, operations, ...columns } = newToken;
        await transaction
          .insertInto("tokens")
          .values({
            ...columns,
            tokenHash: hashToken(token),
            connections: connectionIds && writeExactJson(connectionIds),
            operations: writeExactJson(operations),
          })
          .execute();
        return newToken;
      });
    },

    async find(token: string): Promise<Token | undefined> {
      const row = await findByHash(hashToken(token));
      return row && toToken(row);
    },

    async get(id: string): Promise<Token | undefined> {
      const row = await findById(id);
      return row && toToken(row);
    },

    async list(memberId?: string): Promise<Token[]> {
      const rows = await database
        .selectFrom("tokens")
        .selectAll()
        .$if(memberId !== undefined, (query) => query.where("memberId", "=", memberId ?? ""))
        .orderBy("createdAt", "desc")
        .orderBy("id")
        .limit(MAX_LISTED)
        .execute();
      return rows.map(toToken);
    },

    async revoke(id: string, now: number): Promise<boolean> {
      return hasEffect(database.updateTable("tokens").set({ revokedAt: now }).where("id", "=", id).where("revokedAt", "is", null));
    },

    async recordUse({ id, lastUsedAt }: Token, now: number): Promise<void> {
      if (lastUsedAt !== undefined && now - lastUsedAt < USE_WRITE_INTERVAL_MS) return;
      await database
        .updateTable("tokens")
        .set({ lastUsedAt: now })
        .where("id", "=", id)
        .where((where) => where.or([where("lastUsedAt", "is", null), where("lastUsedAt", "<=", now - USE_WRITE_INTERVAL_MS)]))
        .execute();
    },
  };
}

/** An unreadable row grants fewer rights, never more. */
function toToken({ tokenHash: _, connections, operations, ...token }: Row<"tokens">): Token {
  return {
    ...token,
    connectionIds: connections === undefined ? undefined : toStrings(parseJson(connections)),
    operations: tokenOperationsSchema.safeParse(parseJson(operations)).data ?? [],
  };
}

function toStrings(list: unknown): string[] {
  return Array.isArray(list) ? list.filter((item) => typeof item === "string") : [];
}
