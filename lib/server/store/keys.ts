// API keys as ciphertext, one per connection. This file never sees a key: keys/api-keys.ts seals and opens.

import "server-only";
import { type Database, prepareOne } from "./database";
import { dialectOf } from "./dialect/dialect";
import { type KeyRow } from "./tables";

/** As written by keys/cipher.ts, with the id of the ring key that opens it. */
export type Sealed = { ringKeyId: string; ciphertext: string };
export type StoredKey = Sealed & { id: string; connectionId: string; fingerprint: string; createdAt: number };
export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(database: Database) {
  const ofConnection = prepareOne(database, database.selectFrom("api_keys").selectAll().where("connection_id", "=", ""));
  return {
    /** Replaces the connection's key, if it had one. */
    async put(key: StoredKey): Promise<void> {
      await dialectOf(database).serially(database, `key of ${key.connectionId}`, async (transaction) => {
        await transaction.deleteFrom("api_keys").where("connection_id", "=", key.connectionId).execute();
        await transaction.insertInto("api_keys").values(toRow(key)).execute();
      });
    },

    async getOf(connectionId: string): Promise<StoredKey | undefined> {
      const row = await ofConnection(connectionId);
      return row && toKey(row);
    },

    async list(): Promise<StoredKey[]> {
      const rows = await database.selectFrom("api_keys").selectAll().orderBy("id").execute();
      return rows.map(toKey);
    },

    /** Only if the key was not replaced meanwhile; tells whether it did. */
    async reseal(before: StoredKey, after: { ringKeyId: string; ciphertext: string }): Promise<boolean> {
      const done = await database
        .updateTable("api_keys")
        .set({ ring_key_id: after.ringKeyId, ciphertext: after.ciphertext })
        .where("id", "=", before.id)
        .where("ciphertext", "=", before.ciphertext)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },
  };
}

function toRow(key: StoredKey): KeyRow {
  return {
    id: key.id,
    connection_id: key.connectionId,
    ring_key_id: key.ringKeyId,
    ciphertext: key.ciphertext,
    fingerprint: key.fingerprint,
    created_at: key.createdAt,
  };
}

function toKey(row: KeyRow): StoredKey {
  return {
    id: row.id,
    connectionId: row.connection_id,
    ringKeyId: row.ring_key_id,
    ciphertext: row.ciphertext,
    fingerprint: row.fingerprint,
    createdAt: Number(row.created_at),
  };
}
