// A history is cleared at once, however long it is: its user is marked, and jobs that had ended are not shown any more while they are
// removed in the background. Jobs that end while the mark is there are noted, so that they are shown.

const ended = "('completed', 'failed', 'cancelled')";

export const clearedHistories = {
  name: "009-cleared-histories",
  sql: `
CREATE TABLE ended_since_clear (
  user_id INTEGER NOT NULL, job_seq INTEGER NOT NULL, PRIMARY KEY (user_id, job_seq)
) STRICT, WITHOUT ROWID;

INSERT INTO ended_since_clear (user_id, job_seq)
  SELECT users.id, jobs.seq FROM users CROSS JOIN jobs ON jobs.user_id = users.id
  WHERE history_cleared_until IS NOT NULL AND state IN ${ended} AND (create_time > history_cleared_until OR state_time > history_cleared_until);

CREATE TRIGGER jobs_ended_since_clear AFTER UPDATE OF state ON jobs
WHEN new.state IN ${ended} AND EXISTS (SELECT 1 FROM users WHERE id = new.user_id AND history_cleared_until IS NOT NULL) BEGIN
  INSERT INTO ended_since_clear (user_id, job_seq) VALUES (new.user_id, new.seq) ON CONFLICT DO NOTHING;
END;
`,
};
