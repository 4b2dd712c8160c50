import { type Selectable } from "kysely";
import { query, type Reader } from "../store/database";
import { type AssetRow } from "../store/schema";
import { PUBLIC_OWNER } from "../users/keys";

export type StoredAsset = Selectable<AssetRow> & { media_type: string; tags: string[] };

const withBytes = query.selectFrom("assets").innerJoin("blobs", "blobs.hash", "assets.hash").selectAll("assets").select("blobs.media_type");

export async function findAsset(reader: Reader, id: string, owners: readonly number[]): Promise<StoredAsset | undefined> {
  const row = await reader.row(withBytes.where("assets.id", "=", id.toLowerCase()).where("owner_id", "in", owners));
  return row && (await attachTags(reader, [row]))[0];
}

export async function readAssets(reader: Reader, seqs: readonly number[]): Promise<StoredAsset[]> {
  if (seqs.length === 0) return [];
  const rows = new Map((await reader.rows(withBytes.where("assets.seq", "in", seqs))).map((row) => [row.seq, row]));
  return attachTags(
    reader,
    seqs.flatMap((seq) => rows.get(seq) ?? []),
  );
}

/** By id: the assets that are chosen as previews of other assets, as far as the user may see them. */
export type Previews = ReadonlyMap<string, StoredAsset>;

export async function readPreviews(reader: Reader, userId: number, assets: readonly StoredAsset[]): Promise<Previews> {
  const ids = new Set(assets.flatMap((asset) => (asset.preview_id === null || asset.preview_id === asset.id ? [] : asset.preview_id)));
  if (ids.size === 0) return new Map();
  const rows = await reader.rows(withBytes.where("assets.id", "in", [...ids]).where("owner_id", "in", [userId, PUBLIC_OWNER]));
  return new Map((await attachTags(reader, rows)).map((preview) => [preview.id, preview]));
}

async function attachTags(reader: Reader, rows: readonly Omit<StoredAsset, "tags">[]): Promise<StoredAsset[]> {
  if (rows.length === 0) return [];
  const tags = new Map<number, string[]>(rows.map((row) => [row.seq, []]));
  const seqs = [...tags.keys()];
  const found = await reader.rows(
    query.selectFrom("asset_tags").selectAll().where("asset_seq", "in", seqs).orderBy("asset_seq").orderBy("position"),
  );
  for (const { asset_seq, tag } of found) tags.get(asset_seq)?.push(tag);
  return rows.map((row) => ({ ...row, tags: tags.get(row.seq) ?? [] }));
}
