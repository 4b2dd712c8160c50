// The ledger of jobs: what is known about the jobs of each connection, and an index of the words in them.
// `key` is the connection's number, the time of the submission and a tie-break in one number: the index is read by it, newest first, and a
// range of time is a range of keys. A number is never reused: rows of a removed connection belong to none until swept.
// The index keeps no texts of its own; a row's entry is deleted with the row.

import "server-only";
import { type Kysely, type Migration, sql } from "kysely";

const statements = [
  `CREATE TABLE ledger_connections (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    connection_id TEXT NOT NULL UNIQUE REFERENCES connections (id) ON DELETE CASCADE,
    newest_ms INTEGER,
    cursor_ms INTEGER,
    next_offset INTEGER,
    is_complete INTEGER NOT NULL DEFAULT 0,
    is_bounded INTEGER NOT NULL DEFAULT 0,
    swept_at INTEGER
  ) STRICT`,
  `CREATE TABLE ledger_jobs (
    key INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    job_id TEXT NOT NULL,
    is_exact INTEGER NOT NULL,
    member_id TEXT,
    run_ms INTEGER,
    kinds TEXT NOT NULL,
    item TEXT NOT NULL,
    inputs TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX ledger_jobs_by_id ON ledger_jobs (number, job_id)`,
  `CREATE INDEX ledger_jobs_unread ON ledger_jobs (number, key) WHERE inputs IS NULL`,
  `CREATE INDEX ledger_jobs_of_members ON ledger_jobs (number, member_id) WHERE member_id IS NOT NULL`,
  `CREATE VIRTUAL TABLE ledger_words USING fts5 (body, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1')`,
  `CREATE TRIGGER ledger_jobs_out AFTER DELETE ON ledger_jobs BEGIN DELETE FROM ledger_words WHERE rowid = old.key; END`,
];

export const jobLedger: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};
