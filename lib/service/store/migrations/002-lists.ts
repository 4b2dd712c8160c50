// Keeps lists fast and exact at a million rows.
// Jobs: each list order carries the columns that filters look at, so that a skipped row costs no second read; counts of stretches of time
// and of duration tell where a deep page begins.
// Assets: a search index of tags, metadata and pieces of the folded name, and counters of tags. Triggers note which assets it does not know
// yet; the service brings it up to date inside each commit, and at its start (see assets/search/sqlite/full-text.ts).

import { type SqliteConnection } from "@/lib/shared/database/sqlite";
import { foldName } from "@/lib/shared/text";

/** A stretch holds the values that are equal once this many bits are dropped. */
const stretches = {
  create_time: [
    { kind: 0, bits: 26 },
    { kind: 1, bits: 17 },
  ],
  execution_time: [
    { kind: 2, bits: 13 },
    { kind: 3, bits: 3 },
  ],
};
const note = (seq: string) => `INSERT INTO assets_unsearched (asset_seq) VALUES (${seq}) ON CONFLICT DO NOTHING;`;
const filtered = "id, state, has_image, has_video, has_audio";
const withOutput = (kind: string) => `
DROP INDEX jobs_with_${kind};
CREATE INDEX jobs_with_${kind} ON jobs (user_id, create_time, id, workflow_id) WHERE has_${kind} = 1 AND state = 'completed';
CREATE INDEX jobs_with_${kind}_by_duration ON jobs (user_id, execution_time, id, workflow_id) WHERE has_${kind} = 1 AND state = 'completed';`;

const spread = Object.entries(stretches).flatMap(([column, kinds]) => kinds.map(({ kind, bits }) => ({ column, kind, bits })));
const spreadBy = (row: "new" | "old", sign: "+" | "-") => `
  INSERT INTO job_spread (user_id, kind, bucket, state, n) VALUES
    ${spread.map(({ column, kind, bits }) => `(${row}.user_id, ${kind}, ${row}.${column} >> ${bits}, ${row}.state, ${sign}1)`).join(", ")}
  ON CONFLICT DO UPDATE SET n = n + excluded.n;
  ${sign === "-" ? spread.map(emptied).join("\n  ") : ""}`;
const emptied = ({ column, kind, bits }: (typeof spread)[number]) =>
  `DELETE FROM job_spread WHERE user_id = old.user_id AND kind = ${kind} AND bucket = old.${column} >> ${bits} AND state = old.state AND n = 0;`;
const spreadFirst = ({ column, kind, bits }: (typeof spread)[number]) => `
INSERT INTO job_spread (user_id, kind, bucket, state, n)
  SELECT user_id, ${kind}, ${column} >> ${bits}, state, count(*) FROM jobs GROUP BY user_id, ${column} >> ${bits}, state;`;

export const lists = {
  name: "002-lists",
  prepare: (connection: SqliteConnection) => {
    connection.function("fold_name", { deterministic: true }, (name) => foldName(String(name)));
  },
  sql: `
DROP INDEX jobs_by_time;
DROP INDEX jobs_by_duration;
DROP INDEX jobs_by_workflow;
CREATE INDEX jobs_by_time ON jobs (user_id, create_time, ${filtered});
CREATE INDEX jobs_by_duration ON jobs (user_id, execution_time, ${filtered});
CREATE INDEX jobs_by_workflow ON jobs (user_id, workflow_id, create_time, ${filtered});
CREATE INDEX jobs_by_workflow_duration ON jobs (user_id, workflow_id, execution_time, ${filtered});
${["image", "video", "audio"].map(withOutput).join("")}

CREATE TABLE job_spread (
  user_id INTEGER NOT NULL, kind INTEGER NOT NULL, bucket INTEGER NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (user_id, kind, bucket, state)
) STRICT, WITHOUT ROWID;
${spread.map(spreadFirst).join("")}
CREATE TRIGGER jobs_spread_in AFTER INSERT ON jobs BEGIN ${spreadBy("new", "+")} END;
CREATE TRIGGER jobs_spread_out AFTER DELETE ON jobs BEGIN ${spreadBy("old", "-")} END;
CREATE TRIGGER jobs_spread_again AFTER UPDATE OF state, execution_time ON jobs BEGIN ${spreadBy("old", "-")} ${spreadBy("new", "+")} END;

UPDATE assets SET name_folded = fold_name(name) WHERE name_folded <> fold_name(name);
CREATE INDEX assets_by_folded_name ON assets (owner_id, name_folded, id);

CREATE TABLE tag_counts (
  id INTEGER PRIMARY KEY, owner_id INTEGER NOT NULL, tag TEXT NOT NULL, n INTEGER NOT NULL, UNIQUE (owner_id, tag)
) STRICT;
INSERT INTO tag_counts (owner_id, tag, n)
  SELECT owner_id, tag, count(*) FROM asset_tags JOIN assets ON assets.seq = asset_seq GROUP BY owner_id, tag;
CREATE TRIGGER tags_counted_in AFTER INSERT ON asset_tags BEGIN
  INSERT INTO tag_counts (owner_id, tag, n) SELECT owner_id, new.tag, 1 FROM assets WHERE seq = new.asset_seq
    ON CONFLICT (owner_id, tag) DO UPDATE SET n = n + 1;
END;
-- When an asset goes, its row is gone before its tags are: those are counted out by the second one.
CREATE TRIGGER tags_counted_out AFTER DELETE ON asset_tags BEGIN
  UPDATE tag_counts SET n = n - 1 WHERE tag = old.tag AND owner_id = (SELECT owner_id FROM assets WHERE seq = old.asset_seq);
END;
CREATE TRIGGER tags_counted_out_with_asset BEFORE DELETE ON assets BEGIN
  UPDATE tag_counts SET n = n - 1 WHERE owner_id = old.owner_id AND tag IN (SELECT tag FROM asset_tags WHERE asset_seq = old.seq);
END;

CREATE VIRTUAL TABLE asset_search USING fts5 (marks, name, content = '', contentless_delete = 1, tokenize = 'ascii');
CREATE TABLE asset_tag_codes (asset_seq INTEGER PRIMARY KEY, codes TEXT NOT NULL) STRICT;
CREATE TABLE assets_unsearched (asset_seq INTEGER PRIMARY KEY) STRICT;
INSERT INTO assets_unsearched (asset_seq) SELECT seq FROM assets;
CREATE TRIGGER assets_searched_in AFTER INSERT ON assets BEGIN ${note("new.seq")} END;
CREATE TRIGGER assets_searched_again AFTER UPDATE OF name_folded, metadata ON assets BEGIN ${note("new.seq")} END;
CREATE TRIGGER assets_searched_out AFTER DELETE ON assets BEGIN ${note("old.seq")} END;
CREATE TRIGGER tags_searched_in AFTER INSERT ON asset_tags BEGIN ${note("new.asset_seq")} END;
CREATE TRIGGER tags_searched_out AFTER DELETE ON asset_tags BEGIN ${note("old.asset_seq")} END;
`,
};
