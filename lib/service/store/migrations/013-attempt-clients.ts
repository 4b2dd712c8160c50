// The name of an attempt at its runner, beside the job's id at the runner: a server may choose that id itself.

export const attemptClients = {
  name: "013-attempt-clients",
  sql: `ALTER TABLE attempts ADD COLUMN client_id TEXT NOT NULL DEFAULT '';`,
};
