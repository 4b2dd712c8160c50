// The name that an attempt goes by at its runner, beside the job's id there: a server may choose that one itself.

export const attemptClients = {
  name: "013-attempt-clients",
  sql: `ALTER TABLE attempts ADD COLUMN client_id TEXT NOT NULL DEFAULT '';`,
};
