// Runners other than the built-in one, what they say about themselves, what each job needs of a runner, and every attempt to run a job on
// one. The built-in runner has a row too, for its state and its figures. A removed runner keeps its row, since jobs name it.

export const runners = {
  name: "012-runners",
  sql: `
CREATE TABLE runners (
  id TEXT PRIMARY KEY, label TEXT NOT NULL, address TEXT, tags TEXT NOT NULL, slots INTEGER NOT NULL, mode TEXT NOT NULL, mode_reason TEXT,
  problem TEXT, problem_message TEXT, version TEXT, devices TEXT NOT NULL, classes INTEGER NOT NULL DEFAULT 0,
  queue_running INTEGER, queue_pending INTEGER, checked_at INTEGER, seen_at INTEGER, catalogue_at INTEGER,
  done INTEGER NOT NULL DEFAULT 0, failed INTEGER NOT NULL DEFAULT 0, run_ms INTEGER NOT NULL DEFAULT 0,
  failed_users TEXT NOT NULL DEFAULT '[]', last_needs INTEGER, created_at INTEGER NOT NULL, removed_at INTEGER
) STRICT;
CREATE UNIQUE INDEX runners_by_address ON runners (address) WHERE removed_at IS NULL AND address IS NOT NULL;
INSERT INTO runners (id, label, tags, slots, mode, devices, created_at) VALUES ('built-in', 'Built-in', '[]', 0, 'ready', '[]', 0);

CREATE TABLE runner_catalogues (runner_id TEXT PRIMARY KEY REFERENCES runners(id), hash TEXT NOT NULL, text TEXT NOT NULL) STRICT;

CREATE TABLE job_needs (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, text TEXT NOT NULL) STRICT;

ALTER TABLE jobs ADD COLUMN needs INTEGER;
ALTER TABLE jobs ADD COLUMN runner TEXT;
ALTER TABLE jobs ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;

CREATE TABLE attempts (
  job_seq INTEGER NOT NULL REFERENCES jobs(seq) ON DELETE CASCADE, number INTEGER NOT NULL, fence INTEGER NOT NULL, runner TEXT NOT NULL,
  prompt_id TEXT NOT NULL, state TEXT NOT NULL, lease_until INTEGER NOT NULL, started_at INTEGER NOT NULL, ended_at INTEGER, reason TEXT,
  PRIMARY KEY (job_seq, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_open ON attempts (runner, state) WHERE state IN ('sending', 'sent', 'lost');
`,
};
