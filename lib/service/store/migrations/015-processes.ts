// Several processes of the service on one PostgreSQL: which of them runs a job. PostgreSQL also has the processes themselves, what one of
// them does in each interval, and whose turn it is in the queue.

export const processes = {
  name: "015-processes",
  sql: `ALTER TABLE jobs ADD COLUMN holder TEXT;`,
};

export const postgresProcesses = {
  name: "015-processes",
  sql: `
ALTER TABLE jobs ADD COLUMN holder text COLLATE "C";
CREATE TABLE processes (
  id text COLLATE "C" PRIMARY KEY, seen_at timestamptz NOT NULL, slots bigint NOT NULL, worker_ids text[] COLLATE "C" NOT NULL
);
CREATE TABLE rounds (name text COLLATE "C" PRIMARY KEY, begun_at timestamptz NOT NULL);
CREATE TABLE turns (user_id bigint PRIMARY KEY, turn bigint NOT NULL);
`,
};
