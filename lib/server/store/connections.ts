// Connections, who may use them, and their API keys as ciphertext.

import "server-only";
import { randomUUID } from "node:crypto";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import { type CheckOutcome, checkOutcomes, type ConnectionFeature, type Dialect, missingFeatures } from "@/lib/contract/connections";
import { type ConnectionStatus } from "@/lib/contract/console";
import { type Database, hasEffect, prepareQuery } from "./database";
import { getDialect } from "./dialect";
import { type Row, type StoredKey } from "./tables";

export function buildOwnOrTeamFilter(memberId: string): RawBuilder<SqlBool> {
  return sql`("member_id" is null or "member_id" = ${memberId})`;
}

/** `seenOf` is the owner's name, for a member who may only see the connection's jobs. */
export type Connection = Row<"connections"> & { seenOf?: string; status: ConnectionStatus; lacks: readonly ConnectionFeature[] };
type NewConnection = {
  id?: string;
  name: string;
  baseUrl: string;
  accountUrl?: string;
  memberId?: string;
  dialect?: Dialect;
  hasAssets?: boolean;
  createdAt: number;
};
/** Absent fields are unchanged. An empty account URL removes the stored one. */
type ConnectionChange = { name?: string; baseUrl?: string; accountUrl?: string; dialect?: Dialect; hasAssets?: boolean };

export function createConnectionStore(database: Database) {
  const selectUsable = (memberId: string) => database.selectFrom("connections").selectAll().where(buildOwnOrTeamFilter(memberId));

  const findUsable = prepareQuery(database, selectUsable("").where("id", "=", ""));

  return {
    async listFor(memberId: string): Promise<Connection[]> {
      const rows = await selectUsable(memberId).orderBy("createdAt").orderBy("id").execute();
      return rows.map(toConnection);
    },

    async getFor(memberId: string, id: string): Promise<Connection | undefined> {
      const row = await findUsable(memberId, id);
      return row && toConnection(row);
    },

    async listIds(): Promise<Set<string>> {
      const rows = await database.selectFrom("connections").select("id").execute();
      return new Set(rows.map(({ id }) => id));
    },

    async create(connection: NewConnection): Promise<Connection> {
      const row: Row<"connections"> = {
        accountUrl: undefined,
        memberId: undefined,
        ...connection,
        id: connection.id ?? randomUUID(),
        status: "unknown",
        dialect: connection.dialect ?? "interface",
        hasAssets: connection.hasAssets ?? true,
      };
      await database
        .insertInto("connections")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
      return toConnection(row);
    },

    async change(id: string, change: ConnectionChange): Promise<void> {
      const columns = { ...change, accountUrl: change.accountUrl === "" ? null : change.accountUrl };
      if (Object.values(columns).some((value) => value !== undefined))
        await database.updateTable("connections").set(columns).where("id", "=", id).execute();
    },

    async setStatus(id: string, status: CheckOutcome): Promise<void> {
      await database.updateTable("connections").set({ status }).where("id", "=", id).execute();
    },

    async remove(id: string): Promise<boolean> {
      return hasEffect(database.deleteFrom("connections").where("id", "=", id));
    },
  };
}

export function toConnection<R extends Row<"connections">>(row: R): R & Connection {
  const lacks = row.dialect === "local" ? missingFeatures.local : missingFeatures.interface;
  return {
    ...row,
    status: checkOutcomes.find((outcome) => outcome === row.status) ?? "unknown",
    lacks: row.hasAssets ? lacks : [...lacks, "assets"],
  };
}

export type { StoredKey };
export type Sealed = Pick<StoredKey, "ringKeyId" | "ciphertext">;

/** Authenticated with the ciphertext, so that a secret moved to another row cannot be decrypted. */
export function toSecretRecordId(table: string, ...ids: string[]): string {
  return [table, ...ids].join("/");
}
export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(database: Database) {
  const findByConnection = prepareQuery(database, database.selectFrom("apiKeys").selectAll().where("connectionId", "=", ""));
  return {
    async put(key: StoredKey): Promise<void> {
      await getDialect(database).runExclusive(database, `key of ${key.connectionId}`, async (transaction) => {
        await transaction.deleteFrom("apiKeys").where("connectionId", "=", key.connectionId).execute();
        await transaction.insertInto("apiKeys").values(key).execute();
      });
    },

    getByConnection: (connectionId: string): Promise<StoredKey | undefined> => findByConnection(connectionId),

    list: (): Promise<StoredKey[]> => database.selectFrom("apiKeys").selectAll().orderBy("id").execute(),
  };
}
