// Ended tasks are removed one day, and an address may hold a token. So what was fetched from where is kept apart from the tasks, under the
// hash of the address; an address itself is kept only while its task is unfinished, and shown without its secrets.

import { hideSecrets, nameOfSource } from "@/lib/service/store/source-secrets";
import { type SqliteConnection } from "@/lib/shared/database/sqlite";

export const endedTasks = {
  name: "007-ended-tasks",
  prepare: (connection: SqliteConnection) => {
    connection.function("name_of_source", { deterministic: true }, (url) => nameOfSource(String(url)));
    connection.function("hide_secrets", { deterministic: true }, (url) => hideSecrets(String(url)));
  },
  sql: `
CREATE TABLE fetched_sources (
  user_id INTEGER NOT NULL, source TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (user_id, source)
) STRICT, WITHOUT ROWID;
INSERT INTO fetched_sources (user_id, source, hash)
  SELECT user_id, name_of_source(source_url), substr(json_extract(result, '$.hash'), 8) FROM tasks
  WHERE status = 'completed' AND source_url <> '' AND json_extract(result, '$.hash') LIKE 'blake3:%' ORDER BY create_time
  ON CONFLICT DO UPDATE SET hash = excluded.hash;

UPDATE tasks SET payload = json_set(payload, '$.source_url', hide_secrets(json_extract(payload, '$.source_url')))
  WHERE json_extract(payload, '$.source_url') IS NOT NULL;
UPDATE tasks SET source_url = '' WHERE status NOT IN ('created', 'running');
DROP INDEX tasks_by_source;
CREATE INDEX tasks_by_end ON tasks (user_id, completed_at, id);
`,
};
