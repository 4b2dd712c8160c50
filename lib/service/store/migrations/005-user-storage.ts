// How many bytes of distinct content each user's assets refer to, kept as rows come and go: the quota reads it at every upload.
// Public assets belong to no user and are not counted.

const sameContent = (row: "new" | "old") => `
  SELECT 1 FROM assets WHERE hash = ${row}.hash AND owner_id = ${row}.owner_id AND seq <> ${row}.seq`;

export const userStorage = {
  name: "005-user-storage",
  sql: `
CREATE TABLE user_storage (owner_id INTEGER PRIMARY KEY, bytes INTEGER NOT NULL) STRICT;

INSERT INTO user_storage (owner_id, bytes)
  SELECT owner_id, sum(size) FROM (SELECT DISTINCT owner_id, hash, size FROM assets WHERE owner_id <> 0) GROUP BY owner_id;

CREATE TRIGGER assets_stored AFTER INSERT ON assets WHEN new.owner_id <> 0 AND NOT EXISTS (${sameContent("new")}) BEGIN
  INSERT INTO user_storage (owner_id, bytes) VALUES (new.owner_id, new.size) ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER assets_let_go AFTER DELETE ON assets WHEN old.owner_id <> 0 AND NOT EXISTS (${sameContent("old")}) BEGIN
  UPDATE user_storage SET bytes = bytes - old.size WHERE owner_id = old.owner_id;
END;
`,
};
