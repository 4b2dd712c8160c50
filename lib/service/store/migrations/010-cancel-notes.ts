// A long queue is cleared at once: its jobs are noted as cancelled and shown as such, while their rows follow in the background.

export const cancelNotes = {
  name: "010-cancel-notes",
  sql: `
CREATE TABLE cancel_notes (
  user_id INTEGER NOT NULL, job_seq INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (user_id, job_seq)
) STRICT, WITHOUT ROWID;
`,
};
