// What several consoles on one database share in its rows: where the audit log ends, how many jobs of a connection the ledger has, and how
// often something was tried.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

const statements = [
  `CREATE TABLE audit_end (id bigint NOT NULL, hash text NOT NULL)`,
  // SQLite remembers the last number that it gave: entries that were cut off at the end leave it ahead.
  `INSERT INTO audit_end (id, hash) VALUES (
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0), coalesce((SELECT hash FROM audit ORDER BY id DESC LIMIT 1), ''))`,
  `ALTER TABLE ledger_connections ADD COLUMN jobs INTEGER NOT NULL DEFAULT 0`,
  `UPDATE ledger_connections SET jobs = (SELECT count(*) FROM ledger_jobs WHERE ledger_jobs.number = ledger_connections.number)`,
  `CREATE TABLE attempts (name text PRIMARY KEY, full_at bigint NOT NULL)`,
  `CREATE INDEX attempts_full_at ON attempts (full_at)`,
];

export const sharedStore: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};
