// Keeps `asset_search` and `asset_tag_codes` in step with assets and their tags.
// Guarantees: triggers note every asset that was made, changed or removed by whatever hand, and the note is worked off in the same commit;
// notes that another process left are worked off when the service starts.
// Must be called inside a transaction.

import { sql } from "kysely";
import { type Database, query } from "../store/database";
import { statement } from "../store/statement";
import { readMetadata } from "./asset-view";
import { gramTokens, metadataTokens, tagToken } from "./search-tokens";

const AT_ONCE = 2000;

/** Before anything else uses the database: works off what was left, then each commit's own. */
export function keepSearchIndex(database: Database): void {
  while (database.transaction(() => updateSearchIndex(database)) > 0);
  database.beforeCommit(() => {
    while (updateSearchIndex(database) > 0);
  });
}

const notes = query.selectFrom("assets_unsearched").select("asset_seq").orderBy("asset_seq").limit(AT_ONCE);

/** Returns how many notes were worked off. */
function updateSearchIndex(database: Database): number {
  const noted = database.rows(notes).map((row) => row.asset_seq);
  for (const seq of noted) {
    forget(database, seq);
    index(database, seq);
  }
  const last = noted.at(-1);
  if (last !== undefined) database.run(query.deleteFrom("assets_unsearched").where("asset_seq", "<=", last));
  return noted.length;
}

function forget(database: Database, seq: number): void {
  const known = database.run(query.deleteFrom("asset_tag_codes").where("asset_seq", "=", seq));
  if (known > 0) database.run(statement(sql`delete from asset_search where rowid = ${seq}`));
}

function index(database: Database, seq: number): void {
  const asset = database.row(query.selectFrom("assets").select(["owner_id", "name_folded", "metadata"]).where("seq", "=", seq));
  if (!asset) return;
  const owner = asset.owner_id;
  const tags = database.rows(
    query
      .selectFrom("asset_tags")
      .innerJoin("tag_counts", (join) => join.onRef("tag_counts.tag", "=", "asset_tags.tag").on("tag_counts.owner_id", "=", owner))
      .select(["tag_counts.id", "tag_counts.tag"])
      .where("asset_seq", "=", seq),
  );
  const marks = [...tags.map(({ tag }) => tagToken(owner, tag)), ...metadataTokens(owner, readMetadata(asset.metadata))].join(" ");
  const name = gramTokens(owner, asset.name_folded).join(" ");
  database.run(statement(sql`insert into asset_search (rowid, marks, name) values (${seq}, ${marks}, ${name})`));
  const codes = tags.map(({ id }) => `,${id}`).join("");
  database.run(query.insertInto("asset_tag_codes").values({ asset_seq: seq, codes }));
}
