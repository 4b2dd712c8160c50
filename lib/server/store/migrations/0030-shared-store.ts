// Rows that several consoles on one database share: the end of the audit log, the number of jobs in a
// connection's ledger, and counts of attempts.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

const statements = [
  `CREATE TABLE audit_end (id bigint NOT NULL, hash text NOT NULL)`,
  // SQLite remembers the last number it gave, so it is ahead if entries were cut off at the end.
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
