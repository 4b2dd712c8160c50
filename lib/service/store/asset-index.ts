// The SQLite search index of assets, maintained by triggers. Keys start with the owner, so that a search reads only own assets.

const SEQ_BITS = 40;
/** A tag's code has one character from each range, so that no trigram across two codes matches a code. */
const CODE_STARTS = [0x4e00, 0x6000, 0x8000];
const CODE_BITS = 12;
/** Only the beginning of longer metadata values is indexed. */
export const MAX_VALUE_LENGTH = 200;

export const toKeySql = (asset: string) => `(${asset}.owner_id << ${SEQ_BITS} | ${asset}.seq)`;
export const toSeqSql = (key: string) => `(${key} & ${2 ** SEQ_BITS - 1})`;
export const getFirstKey = (owner: number) => owner * 2 ** SEQ_BITS;

export function toTagCode(id: number): string {
  return String.fromCodePoint(...CODE_STARTS.map((start, index) => start + (Math.floor(id / 2 ** (CODE_BITS * index)) % 2 ** CODE_BITS)));
}
const CODE_SQL = `char(${CODE_STARTS.map((start, index) => `${start} + (tag_counts.id >> ${CODE_BITS * index} & ${2 ** CODE_BITS - 1})`).join(", ")})`;

/** SQL for the values in a JSON document, by path. Exact numbers remain numbers (1 equals 1.0), and other values are JSON text. */
export function createValuesSql(json: string, maxLength?: number): { columns: string; source: string } {
  const validJson = `CASE WHEN json_valid(${json}) THEN ${json} ELSE '{}' END`;
  // Only numbers are looked up by their path, because that parses the document from its beginning each time.
  const valueText = `CASE type WHEN 'text' THEN json_quote(value) WHEN 'true' THEN type WHEN 'false' THEN type WHEN 'null' THEN type
    ELSE ifnull((${validJson}) -> fullkey, '') END`;
  const exactCondition = `type = 'real' OR type = 'integer' AND value BETWEEN ${Number.MIN_SAFE_INTEGER} AND ${Number.MAX_SAFE_INTEGER}`;
  return {
    columns: `CASE WHEN typeof(key) = 'integer' THEN path ELSE fullkey END AS path,
      CASE WHEN ${exactCondition} THEN value ELSE ${maxLength === undefined ? valueText : `substr(${valueText}, 1, ${maxLength})`} END AS value`,
    source: `json_tree(${validJson}) WHERE type NOT IN ('object', 'array')`,
  };
}

const storedValues = createValuesSql("assets.metadata", MAX_VALUE_LENGTH);
const insertedValues = createValuesSql("new.metadata", MAX_VALUE_LENGTH);
const deletedValues = createValuesSql("old.metadata", MAX_VALUE_LENGTH);

const createInsertNamesSql = (condition: string) => `INSERT INTO asset_search (rowid, name, tags)
  SELECT ${toKeySql("assets")}, name_folded, (SELECT ifnull(group_concat(${CODE_SQL}, ''), '') FROM asset_tags JOIN tag_counts USING (tag)
    WHERE asset_seq = assets.seq AND tag_counts.owner_id = assets.owner_id) FROM assets WHERE ${condition};`;
const createReinsertSql = (seq: string) => `
  DELETE FROM asset_search WHERE rowid = (SELECT ${toKeySql("assets")} FROM assets WHERE seq = ${seq});
  ${createInsertNamesSql(`seq = ${seq}`)}`;
const insertValues = `INSERT INTO asset_search_values (path, value, asset)
  SELECT DISTINCT ${insertedValues.columns}, ${toKeySql("new")} FROM ${insertedValues.source};`;
const deleteValues = `DELETE FROM asset_search_values WHERE (path, value, asset) IN
  (SELECT ${deletedValues.columns}, ${toKeySql("old")} FROM ${deletedValues.source});`;

export const fillAssetSearchSql = `
${createInsertNamesSql("true")}
INSERT INTO asset_search (asset_search) VALUES ('optimize');
INSERT OR IGNORE INTO asset_search_values (path, value, asset)
  SELECT ${storedValues.columns}, ${toKeySql("assets")} FROM assets JOIN ${storedValues.source};
`;

export const assetSearchTriggers = `
CREATE TRIGGER assets_searched_in AFTER INSERT ON assets BEGIN
  INSERT INTO asset_search (rowid, name, tags) VALUES (${toKeySql("new")}, new.name_folded, '');
  ${insertValues}
END;
CREATE TRIGGER assets_searched_out AFTER DELETE ON assets BEGIN
  DELETE FROM asset_search WHERE rowid = ${toKeySql("old")};
  ${deleteValues}
END;
CREATE TRIGGER assets_renamed AFTER UPDATE OF name_folded ON assets WHEN old.name_folded <> new.name_folded BEGIN ${createReinsertSql("new.seq")} END;
CREATE TRIGGER assets_described AFTER UPDATE OF metadata ON assets WHEN old.metadata <> new.metadata BEGIN ${deleteValues} ${insertValues} END;
-- The trigger that counts the tag may run after this one.
CREATE TRIGGER tags_searched_in AFTER INSERT ON asset_tags BEGIN
  INSERT INTO tag_counts (owner_id, tag, n) SELECT owner_id, new.tag, 0 FROM assets WHERE seq = new.asset_seq ON CONFLICT DO NOTHING;
  ${createReinsertSql("new.asset_seq")}
END;
CREATE TRIGGER tags_searched_out AFTER DELETE ON asset_tags BEGIN ${createReinsertSql("old.asset_seq")} END;
`;

/** Creates the empty search tables. */
export const createAssetSearchSql = `
CREATE VIRTUAL TABLE asset_search USING fts5 (name, tags, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1');
CREATE TABLE asset_search_values (path TEXT NOT NULL, value ANY NOT NULL, asset INTEGER NOT NULL, PRIMARY KEY (path, value, asset)) STRICT, WITHOUT ROWID;
`;

/** Replaces the search tables of schema 021. */
export const replaceAssetSearchSql = `
DROP TRIGGER assets_searched_in;
DROP TRIGGER assets_searched_again;
DROP TRIGGER assets_searched_out;
DROP TRIGGER tags_searched_in;
DROP TRIGGER tags_searched_out;
DROP TABLE asset_search;
DROP TABLE asset_tag_codes;
DROP TABLE assets_unsearched;
${createAssetSearchSql}
${fillAssetSearchSql}
${assetSearchTriggers}`;
