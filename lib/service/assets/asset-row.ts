// Rows of assets as the rest of the service reads them, together with their tags and the type of their bytes.

import { type Selectable } from "kysely";
import { type Database, query } from "../store/database";
import { type AssetRow } from "../store/schema";

export type StoredAsset = Selectable<AssetRow> & { media_type: string; tags: string[] };

const withBytes = query.selectFrom("assets").innerJoin("blobs", "blobs.hash", "assets.hash").selectAll("assets").select("blobs.media_type");

export function findAsset(database: Database, id: string, owners: readonly number[]): StoredAsset | undefined {
  const row = database.row(withBytes.where("assets.id", "=", id.toLowerCase()).where("owner_id", "in", owners));
  return row && attachTags(database, [row])[0];
}

/** In the order of `seqs`. */
export function readAssets(database: Database, seqs: readonly number[]): StoredAsset[] {
  if (seqs.length === 0) return [];
  const rows = new Map(database.rows(withBytes.where("assets.seq", "in", seqs)).map((row) => [row.seq, row]));
  return attachTags(
    database,
    seqs.flatMap((seq) => rows.get(seq) ?? []),
  );
}

function attachTags(database: Database, rows: readonly Omit<StoredAsset, "tags">[]): StoredAsset[] {
  const tags = new Map<number, string[]>(rows.map((row) => [row.seq, []]));
  const seqs = [...tags.keys()];
  const found = database.rows(
    query.selectFrom("asset_tags").selectAll().where("asset_seq", "in", seqs).orderBy("asset_seq").orderBy("position"),
  );
  for (const { asset_seq, tag } of found) tags.get(asset_seq)?.push(tag);
  return rows.map((row) => ({ ...row, tags: tags.get(row.seq) ?? [] }));
}
