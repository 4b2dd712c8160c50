// The first schema of the service's database.
// Every list has an index in its own order that ends with the id, so that paging is total and reads no row it does not return.

const jobCounter = (row: "new" | "old", sign: "+" | "-") => `
  INSERT INTO job_counts (user_id, workflow_id, state, has_image, has_video, has_audio, n)
  VALUES (${row}.user_id, '', ${row}.state, ${row}.has_image, ${row}.has_video, ${row}.has_audio, ${sign}1),
         (${row}.user_id, ${row}.workflow_id, ${row}.state, ${row}.has_image, ${row}.has_video, ${row}.has_audio, ${sign}1)
  ON CONFLICT DO UPDATE SET n = n + excluded.n;
  ${sign === "-" ? `DELETE FROM job_counts WHERE user_id = ${row}.user_id AND workflow_id = ${row}.workflow_id AND n = 0;` : ""}`;

const assetCounter = (row: "new" | "old", sign: "+" | "-") => `
  INSERT INTO asset_counts (owner_id, n) VALUES (${row}.owner_id, ${sign}1) ON CONFLICT DO UPDATE SET n = n + excluded.n;`;

export const first = {
  name: "001-first",
  sql: `
CREATE TABLE users (
  id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, status TEXT NOT NULL,
  last_number INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE keys (
  id INTEGER PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id), prefix TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL, revoked_at INTEGER
) STRICT;
CREATE INDEX keys_prefix ON keys (prefix);

CREATE TABLE jobs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user_id INTEGER NOT NULL REFERENCES users(id), state TEXT NOT NULL,
  number INTEGER NOT NULL, workflow_id TEXT NOT NULL, create_time INTEGER NOT NULL, update_time INTEGER NOT NULL, state_time INTEGER NOT NULL,
  start_time INTEGER, end_time INTEGER, execution_time INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, slot TEXT,
  outputs_count INTEGER NOT NULL DEFAULT 0, has_image INTEGER NOT NULL DEFAULT 0, has_video INTEGER NOT NULL DEFAULT 0,
  has_audio INTEGER NOT NULL DEFAULT 0, preview TEXT, error TEXT
) STRICT;
CREATE INDEX jobs_by_time ON jobs (user_id, create_time, id);
CREATE INDEX jobs_by_duration ON jobs (user_id, execution_time, id);
CREATE INDEX jobs_by_state ON jobs (user_id, state, create_time, id);
CREATE INDEX jobs_by_state_duration ON jobs (user_id, state, execution_time, id);
CREATE INDEX jobs_by_workflow ON jobs (user_id, workflow_id, create_time, id);
CREATE INDEX jobs_unfinished ON jobs (state, seq) WHERE state IN ('pending', 'in_progress');
CREATE INDEX jobs_with_image ON jobs (user_id, create_time, id) WHERE has_image = 1 AND state = 'completed';
CREATE INDEX jobs_with_video ON jobs (user_id, create_time, id) WHERE has_video = 1 AND state = 'completed';
CREATE INDEX jobs_with_audio ON jobs (user_id, create_time, id) WHERE has_audio = 1 AND state = 'completed';

CREATE TABLE job_inputs (
  job_seq INTEGER PRIMARY KEY REFERENCES jobs(seq) ON DELETE CASCADE, prompt TEXT NOT NULL, graph TEXT NOT NULL,
  extra_data TEXT NOT NULL, outputs_to_execute TEXT NOT NULL
) STRICT;
CREATE TABLE job_results (
  job_seq INTEGER PRIMARY KEY REFERENCES jobs(seq) ON DELETE CASCADE, outputs TEXT NOT NULL, messages TEXT NOT NULL, meta TEXT NOT NULL
) STRICT;
CREATE TABLE job_images (
  job_seq INTEGER NOT NULL REFERENCES jobs(seq) ON DELETE CASCADE, name TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (job_seq, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_images_by_hash ON job_images (hash);

CREATE TABLE job_counts (
  user_id INTEGER NOT NULL, workflow_id TEXT NOT NULL, state TEXT NOT NULL, has_image INTEGER NOT NULL, has_video INTEGER NOT NULL,
  has_audio INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (user_id, workflow_id, state, has_image, has_video, has_audio)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER jobs_counted_in AFTER INSERT ON jobs BEGIN ${jobCounter("new", "+")} END;
CREATE TRIGGER jobs_counted_out AFTER DELETE ON jobs BEGIN ${jobCounter("old", "-")} END;
CREATE TRIGGER jobs_recounted AFTER UPDATE OF state, has_image, has_video, has_audio ON jobs
BEGIN ${jobCounter("old", "-")} ${jobCounter("new", "+")} END;

CREATE TABLE blobs (
  hash TEXT PRIMARY KEY, sha256 TEXT NOT NULL, size INTEGER NOT NULL, media_type TEXT NOT NULL, created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_by_sha256 ON blobs (sha256);

CREATE TABLE assets (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, owner_id INTEGER NOT NULL, origin TEXT NOT NULL,
  hash TEXT NOT NULL REFERENCES blobs(hash), name TEXT NOT NULL, name_folded TEXT NOT NULL, size INTEGER NOT NULL, mime_type TEXT,
  metadata TEXT NOT NULL, preview_id TEXT, prompt_id TEXT, node_id TEXT, output_key TEXT, output_index INTEGER,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, last_access_time INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX assets_one_upload_a_hash ON assets (owner_id, hash) WHERE origin <> 'output';
CREATE INDEX assets_by_hash ON assets (hash, owner_id);
CREATE INDEX assets_by_name ON assets (owner_id, name, id);
CREATE INDEX assets_by_creation ON assets (owner_id, created_at, id);
CREATE INDEX assets_by_update ON assets (owner_id, updated_at, id);
CREATE INDEX assets_by_size ON assets (owner_id, size, id);
CREATE INDEX assets_by_access ON assets (owner_id, last_access_time, id);
CREATE INDEX assets_by_job ON assets (prompt_id, node_id, output_key, output_index) WHERE prompt_id IS NOT NULL;

CREATE TABLE asset_tags (
  asset_seq INTEGER NOT NULL REFERENCES assets(seq) ON DELETE CASCADE, tag TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (asset_seq, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX asset_tags_by_tag ON asset_tags (tag, asset_seq);

CREATE TABLE asset_counts (owner_id INTEGER PRIMARY KEY, n INTEGER NOT NULL) STRICT;
CREATE TRIGGER assets_counted_in AFTER INSERT ON assets BEGIN ${assetCounter("new", "+")} END;
CREATE TRIGGER assets_counted_out AFTER DELETE ON assets BEGIN ${assetCounter("old", "-")} END;

CREATE TABLE mask_layers (
  owner_id INTEGER NOT NULL, result TEXT NOT NULL, mask TEXT NOT NULL, paint TEXT NOT NULL, painted TEXT NOT NULL, PRIMARY KEY (owner_id, result)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  id TEXT PRIMARY KEY, user_id INTEGER NOT NULL REFERENCES users(id), status TEXT NOT NULL, payload TEXT NOT NULL, tags TEXT NOT NULL,
  metadata TEXT NOT NULL, preview_id TEXT, bytes_total INTEGER, bytes_downloaded INTEGER NOT NULL DEFAULT 0, create_time INTEGER NOT NULL,
  update_time INTEGER NOT NULL, started_at INTEGER, completed_at INTEGER, result TEXT, error_message TEXT
) STRICT;
CREATE INDEX tasks_by_user ON tasks (user_id, create_time, id);
CREATE INDEX tasks_unfinished ON tasks (status) WHERE status IN ('created', 'running');
`,
};
