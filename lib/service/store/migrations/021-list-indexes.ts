// The indexes that lists of jobs are walked along, in PostgreSQL alone. Each has the row's number, as SQLite's have it by themselves,
// and those of workflows have what else a list is filtered by: no row is looked up to be counted or skipped.
// What has not run is in an index by state and id too: here a change of state writes all indexes anew anyway.

const named: Readonly<Record<string, string>> = {
  jobs_by_time: "(user_id, create_time, id) INCLUDE (seq)",
  jobs_by_duration: "(user_id, execution_time, id) INCLUDE (seq)",
  jobs_by_state: "(user_id, state, create_time, id, execution_time) INCLUDE (seq)",
  jobs_that_ran: "(user_id, state, execution_time, id) INCLUDE (seq) WHERE execution_time > 0 OR state IN ('completed', 'failed')",
  jobs_by_workflow: "(user_id, workflow_id, create_time, id) INCLUDE (seq, state, execution_time, has_image, has_video, has_audio)",
  jobs_by_workflow_duration: "(user_id, workflow_id, execution_time, id) INCLUDE (seq, state, has_image, has_video, has_audio)",
  ...withOutput("image"),
  ...withOutput("video"),
  ...withOutput("audio"),
};

function withOutput(kind: string): Record<string, string> {
  const rest = `id, workflow_id) INCLUDE (seq) WHERE has_${kind} = 1 AND state = 'completed'`;
  return {
    [`jobs_with_${kind}`]: `(user_id, create_time, ${rest}`,
    [`jobs_with_${kind}_by_duration`]: `(user_id, execution_time, ${rest}`,
  };
}

export const postgresListIndexes = {
  name: "021-list-indexes",
  sql: [
    ...Object.entries(named).map(([name, definition]) => `DROP INDEX ${name};\nCREATE INDEX ${name} ON jobs ${definition};`),
    `CREATE INDEX jobs_idle ON jobs (user_id, state, id) INCLUDE (seq, execution_time)
      WHERE execution_time = 0 AND state IN ('pending', 'in_progress', 'cancelled');`,
  ].join("\n"),
};
