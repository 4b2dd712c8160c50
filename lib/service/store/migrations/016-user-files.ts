// Users' own files (userdata) as rows that name their bytes among the blobs, so that every process of the service sees the same ones.

export const userFiles = {
  name: "016-user-files",
  sql: `
CREATE TABLE user_files (
  user_id INTEGER NOT NULL REFERENCES users (id), path TEXT NOT NULL, hash TEXT NOT NULL REFERENCES blobs (hash), size INTEGER NOT NULL,
  modified INTEGER NOT NULL, PRIMARY KEY (user_id, path)
) STRICT;
CREATE INDEX user_files_by_hash ON user_files (hash);
`,
};

export const postgresUserFiles = {
  name: "016-user-files",
  sql: `
CREATE TABLE user_files (
  user_id bigint NOT NULL REFERENCES users (id), path text COLLATE "C" NOT NULL, hash text COLLATE "C" NOT NULL REFERENCES blobs (hash),
  size bigint NOT NULL, modified bigint NOT NULL, PRIMARY KEY (user_id, path)
);
CREATE INDEX user_files_by_hash ON user_files (hash);
`,
};
