// The database of a running service, as a backup reads it: a copy of one moment, and whether a file is still named.
// Must never: write to it.

import { openPool } from "@/lib/shared/database/postgres";
import { copyDatabase, fillDatabase, openToRead } from "@/lib/shared/database/sqlite-copy";
import { type Content } from "@/lib/shared/files";
import { copyServiceSnapshot } from "../store/copy-store";
import { SERVICE_SCHEMA } from "../store/postgres/migrate";
import { isNamed } from "./contents";

export type LiveDatabase = {
  /** Copies into a SQLite file. If that holds an earlier copy, what is the same may stay. */
  copyTo(file: string): Promise<Content>;
  isNamed(hash: string): Promise<boolean>;
  close(): Promise<void>;
};

export function liveSqlite(file: string): LiveDatabase {
  const database = openToRead(file);
  return {
    copyTo: (to) => copyDatabase(file, to),
    isNamed: async (hash) => isNamed(database, hash),
    close: async () => void database.close(),
  };
}

const STATEMENT_MS = 30_000;

export async function livePostgres(url: string, say: (progress: string) => void): Promise<LiveDatabase> {
  const pool = await openPool({ url, max: 1, statementMs: STATEMENT_MS, schema: SERVICE_SCHEMA });
  return {
    copyTo: (to) => fillDatabase(to, () => copyServiceSnapshot(url, to, say)),
    async isNamed(hash) {
      const client = await pool.connect();
      try {
        return (await client.query("SELECT 1 FROM blobs WHERE hash = $1", [hash])).rows.length > 0;
      } finally {
        client.release();
      }
    },
    close: () => pool.end(),
  };
}
