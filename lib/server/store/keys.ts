// API keys as ciphertext, one per connection. This file never sees a key: keys/api-keys.ts seals and opens.

import "server-only";
import { type Database, prepareOne } from "./database";
import { dialectOf } from "./dialect/dialect";
import { type KeyRow } from "./tables";

/** Ciphertext written by keys/cipher.ts, with the id of the ring key that decrypts it. */
export type StoredKey = KeyRow;
export type Sealed = Pick<StoredKey, "ringKeyId" | "ciphertext">;
export type KeyStore = ReturnType<typeof createKeyStore>;

export function createKeyStore(database: Database) {
  const ofConnection = prepareOne(database, database.selectFrom("apiKeys").selectAll().where("connectionId", "=", ""));
  return {
    /** Replaces the connection's key, if it had one. */
    async put(key: StoredKey): Promise<void> {
      await dialectOf(database).serially(database, `key of ${key.connectionId}`, async (transaction) => {
        await transaction.deleteFrom("apiKeys").where("connectionId", "=", key.connectionId).execute();
        await transaction.insertInto("apiKeys").values(key).execute();
      });
    },

    getOf: (connectionId: string): Promise<StoredKey | undefined> => ofConnection(connectionId),

    list: (): Promise<StoredKey[]> => database.selectFrom("apiKeys").selectAll().orderBy("id").execute(),

    /** Only if the key was not replaced meanwhile; tells whether it did. */
    async reseal(before: StoredKey, after: Sealed): Promise<boolean> {
      const done = await database
        .updateTable("apiKeys")
        .set({ ringKeyId: after.ringKeyId, ciphertext: after.ciphertext })
        .where("id", "=", before.id)
        .where("ciphertext", "=", before.ciphertext)
        .executeTakeFirst();
      return Number(done.numUpdatedRows) > 0;
    },
  };
}
