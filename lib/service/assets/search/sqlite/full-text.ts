// Keeps `asset_search` and `asset_tag_codes` in step with assets and their tags.
// Guarantees: triggers note every asset that is made, changed or removed, whoever does it, and the notes are processed in the same commit;
// notes that another process left are processed when the service starts.
// Statements are plain text: they run for every output of every job, and building them anew cost more than running them.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { readMetadata } from "@/lib/service/assets/asset-view";
import { plainStatement, type Transaction } from "@/lib/service/store/database";
import { type SqliteDatabase } from "@/lib/service/store/sqlite";
import { gramTokens, letterTokens, metadataTokens, tagToken } from "./tokens";

const AT_ONCE = 2000;

/** `owner_id` is null if the asset is gone. */
type Noted = { seq: number; owner_id: number | null; name_folded: string; metadata: string; is_known: number; codes: string; tags: string };

const NOTED = `
  SELECT notes.asset_seq AS seq, owner_id, name_folded, metadata,
    EXISTS (SELECT 1 FROM asset_tag_codes WHERE asset_tag_codes.asset_seq = notes.asset_seq) AS is_known,
    (SELECT ifnull(group_concat(',' || id, ''), '') FROM asset_tags JOIN tag_counts USING (tag)
      WHERE asset_tags.asset_seq = notes.asset_seq AND tag_counts.owner_id = assets.owner_id) AS codes,
    (SELECT json_group_array(tag) FROM asset_tags WHERE asset_tags.asset_seq = notes.asset_seq) AS tags
  FROM (SELECT asset_seq FROM assets_unsearched ORDER BY asset_seq LIMIT ${AT_ONCE}) AS notes LEFT JOIN assets ON assets.seq = notes.asset_seq`;

/** Call before anything else uses the database: processes the notes that were left, then those of each commit. */
export async function keepSearchIndex(database: SqliteDatabase): Promise<void> {
  let left = 0;
  for (let done = -1; done !== 0; left += done) done = await database.commit(updateSearchIndex);
  // So many changes at once leave the index in many pieces, and every search would have to read each of them.
  if (left > AT_ONCE) await database.commit((tx) => tx.run(plainStatement("INSERT INTO asset_search (asset_search) VALUES ('optimize')")));
  database.beforeCommit(async (tx) => {
    while ((await updateSearchIndex(tx)) > 0);
  });
}

/** Returns how many notes were processed. */
async function updateSearchIndex(tx: Transaction): Promise<number> {
  const noted = await tx.rows(plainStatement<Noted>(NOTED));
  if (noted.length === 0) return 0;
  const run = (text: string, values: unknown[]) => tx.run(plainStatement(text, [writeExactJson(values)]));
  const known = noted.filter((asset) => asset.is_known).map(({ seq }) => seq);
  if (known.length > 0) {
    await run("DELETE FROM asset_search WHERE rowid IN (SELECT value FROM json_each(?))", known);
    await run("DELETE FROM asset_tag_codes WHERE asset_seq IN (SELECT value FROM json_each(?))", known);
  }
  const there = noted.flatMap((asset) => (asset.owner_id === null ? [] : [{ ...asset, owner: asset.owner_id }]));
  if (there.length > 0) {
    const texts = there.map((asset) => [asset.seq, marksOf(asset.owner, asset), gramTokens(asset.owner, asset.name_folded).join(" ")]);
    await run("INSERT INTO asset_search (rowid, marks, name) SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)", texts);
    const codes = there.map(({ seq, codes: text }) => [seq, text]);
    await run("INSERT INTO asset_tag_codes (asset_seq, codes) SELECT value ->> 0, value ->> 1 FROM json_each(?)", codes);
  }
  await run(
    "DELETE FROM assets_unsearched WHERE asset_seq IN (SELECT value FROM json_each(?))",
    noted.map(({ seq }) => seq),
  );
  return noted.length;
}

function marksOf(owner: number, asset: Noted): string {
  const tags: string[] = JSON.parse(asset.tags); // json_group_array of a text column
  const letters = letterTokens(owner, asset.name_folded);
  return [...tags.map((tag) => tagToken(owner, tag)), ...metadataTokens(owner, readMetadata(asset.metadata)), ...letters].join(" ");
}
