// For processes that share the place of the bytes: who is about to name a blob, and who removes one. Also the database's own id, which that
// place carries, so that no other database sweeps it.

export const blobLeases = {
  name: "014-blob-leases",
  sql: `
CREATE TABLE blob_leases (
  hash TEXT NOT NULL, holder TEXT NOT NULL, is_removal INTEGER NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (hash, holder)
) STRICT;
CREATE TABLE store_ids (id TEXT PRIMARY KEY) STRICT;
`,
};
