// Whose queue is being cleared, up to which job and by which process. Meanwhile these jobs have no entry in the queue of PostgreSQL.

export const postgresClearing = {
  name: "019-clearing",
  sql: 'ALTER TABLE turns ADD COLUMN cleared_until bigint, ADD COLUMN cleared_by text COLLATE "C";',
};
