// The state of a waiting job is in two small indexes, both in the order of time, so that changing it is cheap: a queue of a hundred
// thousand is cancelled row by row while a request waits. Jobs that were noted as cancelled before get their rows; if their history was
// being cleared as well, they are removed with it.

export const plainLists = {
  name: "011-plain-lists",
  sql: `
DROP TRIGGER jobs_spread_in;
DROP TRIGGER jobs_spread_out;
DROP TRIGGER jobs_spread_again;
DROP TABLE job_spread;
DROP INDEX jobs_by_time;
DROP INDEX jobs_by_duration;
DROP INDEX jobs_by_state;
DROP INDEX jobs_by_state_duration;
DROP INDEX jobs_by_workflow;
DROP INDEX jobs_by_workflow_duration;

DELETE FROM jobs WHERE seq IN
  (SELECT job_seq FROM cancel_notes JOIN users ON users.id = user_id WHERE history_cleared_until IS NOT NULL);
UPDATE jobs SET state = 'cancelled', update_time = max(update_time, at), state_time = max(update_time, at)
  FROM cancel_notes WHERE job_seq = seq AND state = 'pending';
DELETE FROM job_images WHERE job_seq IN (SELECT job_seq FROM cancel_notes);
DROP TABLE cancel_notes;

CREATE INDEX jobs_by_time ON jobs (user_id, create_time, id);
CREATE INDEX jobs_by_duration ON jobs (user_id, execution_time, id);
CREATE INDEX jobs_by_state ON jobs (user_id, state, create_time, id, execution_time);
CREATE INDEX jobs_that_ran ON jobs (user_id, state, execution_time, id) WHERE (execution_time > 0 OR state IN ('completed', 'failed'));
CREATE INDEX jobs_by_workflow ON jobs (user_id, workflow_id, create_time, id);
CREATE INDEX jobs_by_workflow_duration ON jobs (user_id, workflow_id, execution_time, id);
`,
};
