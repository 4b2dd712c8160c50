// All columns that contain an encrypted secret, for key rotation and its check.

import "server-only";
import { sql } from "kysely";
import { type Sealed } from "./connections";
import { type Database } from "./database";

/** `reseal` writes only if the secret is unchanged since it was read. `recordId` is authenticated with the ciphertext. */
export type SealedRow = { recordId: string; sealed: Sealed; reseal(after: Sealed): Promise<boolean> };
export type ListSealed = () => Promise<SealedRow[]>;

type Column = { table: string; ring: string; text: string; isOfConnection?: boolean };
type StoredSecret = Sealed & { id: string; connectionId?: string };

export function createSealedColumns(database: Database) {
  const listColumn = async ({ table, ring, text, isOfConnection }: Column): Promise<SealedRow[]> => {
    const [from, ringColumn, textColumn] = [sql.table(table), sql.ref(ring), sql.ref(text)];
    const owner = isOfConnection ? sql`connection_id` : sql`NULL`;
    const query = sql<StoredSecret>`
      SELECT id, ${owner} AS connection_id, ${ringColumn} AS ring_key_id, ${textColumn} AS ciphertext
      FROM ${from} WHERE ${textColumn} IS NOT NULL ORDER BY id`;
    return (await query.execute(database)).rows.map(({ id, connectionId, ringKeyId, ciphertext }) => ({
      recordId: [table, ...(connectionId === undefined ? [] : [connectionId]), id].join("/"),
      sealed: { ringKeyId, ciphertext },
      async reseal(after) {
        const update = sql`
          UPDATE ${from} SET ${ringColumn} = ${after.ringKeyId}, ${textColumn} = ${after.ciphertext}
          WHERE id = ${id} AND ${textColumn} = ${ciphertext}`;
        return (await update.execute(database)).numAffectedRows === 1n;
      },
    }));
  };
  const list =
    (...columns: Column[]): ListSealed =>
    async () =>
      (await Promise.all(columns.map(listColumn))).flat();
  return {
    apiKeys: list({ table: "api_keys", ring: "ring_key_id", text: "ciphertext", isOfConnection: true }),
    downloads: list({ table: "download_tasks", ring: "ring_key_id", text: "sealed_request" }),
    embedHosts: list(
      { table: "embed_hosts", ring: "ring_key_id", text: "ciphertext" },
      { table: "embed_hosts", ring: "old_ring_key_id", text: "old_ciphertext" },
    ),
    webhooks: list({ table: "webhooks", ring: "ring_key_id", text: "ciphertext" }),
  };
}
