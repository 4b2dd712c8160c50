import { createHash, randomInt } from "node:crypto";
import { type KeyListing, type ServiceKeys, type UserStatus } from "../options";
import { type Database, query, type Reader } from "../store/database";

export type User = { id: number; name: string; status: UserStatus };

/** The owner of public assets. No user has this id. */
export const PUBLIC_OWNER = 0;

/** An unknown stored value denies access. */
function toUserStatus(storedStatus: string): UserStatus {
  return storedStatus === "active" ? "active" : "waitlisted";
}

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const KEY_LENGTH = 40;
const PREFIX_LENGTH = 11;

export function createKeys(database: Database, now: () => number): ServiceKeys {
  return {
    async createKey(userName) {
      const name = userName.trim();
      if (name === "" || name.length > 100) throw new Error("A user's name must have 1 to 100 characters.");
      const key = `ld-${Array.from({ length: KEY_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")}`;
      const prefix = key.slice(0, PREFIX_LENGTH);
      await database.commit(async (tx) => {
        const values = { name, status: "active", created_at: now() };
        await tx.run(
          query
            .insertInto("users")
            .values(values)
            .onConflict((conflict) => conflict.column("name").doNothing()),
        );
        const user = await tx.row(query.selectFrom("users").select("id").where("name", "=", name));
        if (!user) throw new Error(`User ${name} could not be created.`);
        await tx.run(
          query.insertInto("keys").values({ user_id: user.id, prefix, hash: hashKey(key), created_at: now(), revoked_at: null }),
        );
      });
      return { key, prefix };
    },

    async listKeys() {
      const rows = await database.rows(
        query
          .selectFrom("keys")
          .innerJoin("users", "users.id", "keys.user_id")
          .select(["keys.prefix", "users.name", "users.status", "keys.created_at", "keys.revoked_at"])
          .orderBy("keys.id"),
      );
      return rows.map((row): KeyListing => ({
        prefix: row.prefix,
        userName: row.name,
        userStatus: toUserStatus(row.status),
        createdAtMs: row.created_at,
        ...(row.revoked_at !== null && { revokedAtMs: row.revoked_at }),
      }));
    },

    async revokeKey(prefix) {
      // Requires the full prefix: a shorter one could match another user's key.
      if (prefix.length !== PREFIX_LENGTH) return false;
      const update = query.updateTable("keys").set({ revoked_at: now() }).where("prefix", "=", prefix).where("revoked_at", "is", null);
      return (await database.commitWithReserve((tx) => tx.run(update))) > 0;
    },

    async setUserStatus(userName, status) {
      const update = query.updateTable("users").set({ status }).where("name", "=", userName);
      return (await database.commitWithReserve((tx) => tx.run(update))) > 0;
    },
  };
}

/** Compiled once, because every request runs it. */
const userByHashQuery = query
  .selectFrom("keys")
  .innerJoin("users", "users.id", "keys.user_id")
  .select(["users.id", "users.name", "users.status"])
  .where("keys.hash", "=", "")
  .where("keys.revoked_at", "is", null)
  .compile();

/** Reads the store for every request, so that a revocation by another process takes effect at once. */
export async function findUserByKey(reader: Reader, key: string): Promise<User | undefined> {
  const statement: typeof userByHashQuery = { ...userByHashQuery, parameters: [hashKey(key)] };
  const row = await reader.row({ compile: () => statement });
  return row && { id: row.id, name: row.name, status: toUserStatus(row.status) };
}

function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}
