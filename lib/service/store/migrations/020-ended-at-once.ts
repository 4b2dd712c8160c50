// On PostgreSQL, jobs that end after a history was cleared are noted once per statement, like the counters: clearing a queue notes
// thousands of jobs at once.

export const postgresEndedAtOnce = {
  name: "020-ended-at-once",
  sql: `
DROP TRIGGER jobs_ended_since_clear ON jobs;
CREATE OR REPLACE FUNCTION jobs_ended_since_clear() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO ended_since_clear (user_id, job_seq)
    SELECT user_id, seq
      FROM (SELECT user_id, seq, state, 1 AS change FROM came UNION ALL SELECT user_id, seq, state, -1 FROM went) AS changes
      JOIN users ON users.id = user_id AND history_cleared_until IS NOT NULL
      WHERE state IN ('completed', 'failed', 'cancelled') GROUP BY 1, 2 HAVING sum(change) > 0
    ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER jobs_ended_since_clear AFTER UPDATE ON jobs REFERENCING OLD TABLE AS went NEW TABLE AS came
  FOR EACH STATEMENT EXECUTE FUNCTION jobs_ended_since_clear();
`,
};
