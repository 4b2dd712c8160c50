// Connections: where a service is and who may use it. The key is stored apart, in keys.ts.
// Guarantees: every read names the member; a personal connection is found only by its own member.

import "server-only";
import { randomUUID } from "node:crypto";
import { type RawBuilder, sql, type SqlBool } from "kysely";
import {
  type CheckOutcome,
  checkOutcomes,
  type ConnectionFeature,
  type Dialect,
  dialects,
  lacksOfDialect,
} from "@/lib/contract/connections";
import { type ConnectionStatus } from "@/lib/contract/console";
import { type Database, prepareOne } from "./database";
import { type ConnectionRow } from "./tables";

export function ownOrTeams(memberId: string): RawBuilder<SqlBool> {
  return sql`("member_id" is null or "member_id" = ${memberId})`;
}

export type Connection = {
  id: string;
  name: string;
  baseUrl: string;
  accountUrl: string | undefined;
  /** Undefined: shared by the team. */
  memberId: string | undefined;
  /** The name of the owner, for a member who may only see the connection's jobs. */
  seenOf?: string;
  status: ConnectionStatus;
  dialect: Dialect;
  hasAssets: boolean;
  lacks: readonly ConnectionFeature[];
  createdAt: number;
};
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
/** Absent fields stay unchanged; an empty account URL is removed. */
type ConnectionChange = { name?: string; baseUrl?: string; accountUrl?: string; dialect?: Dialect; hasAssets?: boolean };
export type ConnectionStore = ReturnType<typeof createConnectionStore>;

export function createConnectionStore(database: Database) {
  const usableBy = (memberId: string) => database.selectFrom("connections").selectAll().where(ownOrTeams(memberId));

  const oneUsableBy = prepareOne(database, usableBy("").where("id", "=", ""));

  return {
    async listFor(memberId: string): Promise<Connection[]> {
      const rows = await usableBy(memberId).orderBy("createdAt").orderBy("id").execute();
      return rows.map(toConnection);
    },

    async getFor(memberId: string, id: string): Promise<Connection | undefined> {
      const row = await oneUsableBy(memberId, id);
      return row && toConnection(row);
    },

    /** Ids of all connections of all members. */
    async listIds(): Promise<Set<string>> {
      const rows = await database.selectFrom("connections").select("id").execute();
      return new Set(rows.map(({ id }) => id));
    },

    /** If the id exists already, the existing row stays. */
    async create(connection: NewConnection): Promise<Connection> {
      const row: ConnectionRow = {
        id: connection.id ?? randomUUID(),
        name: connection.name,
        baseUrl: connection.baseUrl,
        accountUrl: connection.accountUrl ?? null,
        memberId: connection.memberId ?? null,
        status: "unknown",
        dialect: connection.dialect ?? "interface",
        hasAssets: connection.hasAssets === false ? 0 : 1,
        createdAt: connection.createdAt,
      };
      await database
        .insertInto("connections")
        .values(row)
        .onConflict((conflict) => conflict.column("id").doNothing())
        .execute();
      return toConnection(row);
    },

    async change(id: string, change: ConnectionChange): Promise<void> {
      const columns = {
        ...(change.name !== undefined && { name: change.name }),
        ...(change.baseUrl !== undefined && { baseUrl: change.baseUrl }),
        ...(change.accountUrl !== undefined && { accountUrl: change.accountUrl || null }),
        ...(change.dialect !== undefined && { dialect: change.dialect }),
        ...(change.hasAssets !== undefined && { hasAssets: change.hasAssets ? 1 : 0 }),
      };
      if (Object.keys(columns).length > 0) await database.updateTable("connections").set(columns).where("id", "=", id).execute();
    },

    async setStatus(id: string, status: CheckOutcome): Promise<void> {
      await database.updateTable("connections").set({ status }).where("id", "=", id).execute();
    },

    /** False if it is already gone: of several requests, one removes it. */
    async remove(id: string): Promise<boolean> {
      const done = await database.deleteFrom("connections").where("id", "=", id).executeTakeFirst();
      return Number(done.numDeletedRows) > 0;
    },
  };
}

export function toConnection(row: ConnectionRow): Connection {
  const dialect = dialects.find((name) => name === row.dialect) ?? "interface";
  const hasAssets = row.hasAssets !== 0;
  return {
    ...row,
    accountUrl: row.accountUrl ?? undefined,
    memberId: row.memberId ?? undefined,
    status: checkOutcomes.find((outcome) => outcome === row.status) ?? "unknown",
    dialect,
    hasAssets,
    lacks: hasAssets ? lacksOfDialect[dialect] : [...lacksOfDialect[dialect], "assets"],
  };
}
