// What a download needs to go on after a restart: its address, the state of its bytes (a validator for If-Range, the hash that the source
// promised) and the name of the file. The count of bytes is that of synced bytes.

export const downloads = {
  name: "003-downloads",
  sql: `
ALTER TABLE tasks ADD COLUMN source_url TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN validator TEXT;
ALTER TABLE tasks ADD COLUMN promised_sha256 TEXT;
ALTER TABLE tasks ADD COLUMN file_name TEXT;
UPDATE tasks SET source_url = coalesce(json_extract(payload, '$.source_url'), ''), bytes_downloaded = iif(status = 'completed', bytes_downloaded, 0);
CREATE INDEX tasks_by_source ON tasks (user_id, source_url, create_time) WHERE status = 'completed';
CREATE INDEX tasks_unfinished_by_user ON tasks (user_id) WHERE status IN ('created', 'running');
`,
};
