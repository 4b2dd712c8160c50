// Edits, tags and deletes assets. A blob is removed once no asset, user file or unfinished job references it.

import { sql } from "kysely";
import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { type assetEditBodySchema, type tagsQuerySchema } from "@/lib/contract/schemas/asset";
import { foldName } from "@/lib/shared/text";
import { ServiceError } from "../service-error";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";
import { findAsset, getFileName, type StoredAsset } from "./asset-view";
import { type BlobStore } from "./blob-store";
import { findAssetSeqByHash } from "./file-names";
import { type AssetFilter, type AssetSearch, getOwners, parseFilter } from "./search/asset-search";
import { type Thumbnails } from "./thumbnails";

type AssetEdit = z.output<typeof assetEditBodySchema>;
type Stores = { database: Database; blobs: BlobStore; thumbnails: Thumbnails };

/** Returns the user's own asset or a public one. Other assets count as missing. */
export async function requireAsset(reader: Reader, userId: number, id: string): Promise<StoredAsset> {
  const asset = await findAsset(reader, id, [userId, PUBLIC_OWNER]);
  if (!asset) throw createAssetNotFoundError();
  return asset;
}

function createAssetNotFoundError(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no such asset.");
}

export async function requireOwnAsset(reader: Reader, userId: number, id: string): Promise<StoredAsset> {
  const asset = await requireAsset(reader, userId, id);
  if (asset.owner_id !== userId) throw new ServiceError("FORBIDDEN", "This asset is shipped with the service and cannot be changed.");
  return asset;
}

export async function editAsset(tx: Transaction, asset: StoredAsset, edit: AssetEdit, nowMs: number): Promise<void> {
  if (typeof edit.preview_id === "string" && !(await findAsset(tx, edit.preview_id, [asset.owner_id, PUBLIC_OWNER]))) {
    throw new ServiceError("INVALID_PREVIEW_ID", "preview_id is not one of your assets.", { field: "preview_id" });
  }
  if (edit.tags !== undefined) {
    const newTags = edit.tags;
    await removeTags(
      tx,
      asset.seq,
      asset.tags.filter((tag) => !newTags.includes(tag)),
      nowMs,
    );
    await addTags(tx, asset.seq, newTags, nowMs);
  }
  const name = edit.name === undefined ? undefined : toFileName(edit.name);
  const changes = {
    updated_at: nowMs,
    ...(name !== undefined && { name, name_folded: foldName(name) }),
    ...(edit.mime_type !== undefined && { mime_type: edit.mime_type }),
    ...(edit.preview_id !== undefined && { preview_id: edit.preview_id }),
    ...(edit.user_metadata !== undefined && { metadata: writeExactJson(edit.user_metadata) }),
  };
  await tx.run(query.updateTable("assets").set(changes).where("seq", "=", asset.seq));
}

export async function deleteAsset(stores: Stores, asset: StoredAsset): Promise<void> {
  const { database } = stores;
  await database.commitWithReserve(async (tx) => {
    // If several requests run concurrently, one deletes the asset and the others get a 404 response.
    if ((await tx.run(query.deleteFrom("assets").where("seq", "=", asset.seq))) === 0) throw createAssetNotFoundError();
    if ((await findAssetSeqByHash(tx, asset.owner_id, asset.hash)) !== undefined) return;
    const layerDeletion = query.deleteFrom("mask_layers").where("owner_id", "=", asset.owner_id);
    await tx.run(layerDeletion.where("result", "=", getFileName(asset)));
  });
  await removeUnreferencedBlob(stores, asset.hash);
}

/** Removes the row of a blob that nothing references, then its bytes. */
export async function removeUnreferencedBlob(stores: Stores, hash: string): Promise<void> {
  const { database, blobs, thumbnails } = stores;
  const isUnreferenced = await database.commitWithReserve(async (tx) => {
    const reference =
      (await tx.row(query.selectFrom("assets").select("seq").where("hash", "=", hash).limit(1))) ??
      (await tx.row(query.selectFrom("user_files").select("path").where("hash", "=", hash).limit(1))) ??
      (await tx.row(query.selectFrom("job_images").select("job_seq").where("hash", "=", hash).limit(1)));
    return reference === undefined && (await tx.run(query.deleteFrom("blobs").where("hash", "=", hash))) === 1;
  });
  if (!isUnreferenced) return;
  await blobs.removeIfUnused(hash);
  await thumbnails.removeThumbnails(hash);
}

export async function findExistingHashes(reader: Reader, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await reader.rows(query.selectFrom("blobs").select("hash").where("hash", "in", hashes));
  return new Set(rows.map((row) => row.hash));
}

export async function addTags(tx: Transaction, assetSeq: number, tags: readonly string[], nowMs: number) {
  const previousTags = await readTags(tx, assetSeq);
  const uniqueTags = [...new Set(tags)];
  const addedTags = uniqueTags.filter((tag) => !previousTags.includes(tag));
  const { maxTagsPerAsset: maxTags = Infinity } = tx.limits;
  if (previousTags.length + addedTags.length > maxTags) {
    throw new ServiceError("INVALID_BODY", `tags: an asset has at most ${maxTags} tags.`, { field: "tags" });
  }
  if (addedTags.length > 0) {
    const lastRow = await tx.row(
      query
        .selectFrom("asset_tags")
        .select(({ fn }) => fn.max("position").as("position"))
        .where("asset_seq", "=", assetSeq),
    );
    const firstPosition = Number(lastRow?.position ?? 0) + 1;
    const rows = addedTags.map((tag, index) => ({ asset_seq: assetSeq, tag, position: firstPosition + index }));
    await tx.run(query.insertInto("asset_tags").values(rows));
    await setUpdatedAt(tx, assetSeq, nowMs);
  }
  return {
    total_tags: [...previousTags, ...addedTags],
    added: addedTags,
    already_present: uniqueTags.filter((tag) => previousTags.includes(tag)),
    removed: [],
    not_present: [],
  };
}

export async function removeTags(tx: Transaction, assetSeq: number, tags: readonly string[], nowMs: number) {
  const previousTags = await readTags(tx, assetSeq);
  const uniqueTags = [...new Set(tags)];
  const removedTags = uniqueTags.filter((tag) => previousTags.includes(tag));
  if (removedTags.length > 0) {
    await tx.run(query.deleteFrom("asset_tags").where("asset_seq", "=", assetSeq).where("tag", "in", removedTags));
    await setUpdatedAt(tx, assetSeq, nowMs);
  }
  return {
    total_tags: previousTags.filter((tag) => !removedTags.includes(tag)),
    removed: removedTags,
    not_present: uniqueTags.filter((tag) => !previousTags.includes(tag)),
    added: [],
    already_present: [],
  };
}

async function readTags(tx: Transaction, assetSeq: number): Promise<string[]> {
  const rows = await tx.rows(query.selectFrom("asset_tags").select("tag").where("asset_seq", "=", assetSeq).orderBy("position"));
  return rows.map((row) => row.tag);
}

async function setUpdatedAt(tx: Transaction, assetSeq: number, nowMs: number): Promise<void> {
  await tx.run(query.updateTable("assets").set({ updated_at: nowMs }).where("seq", "=", assetSeq));
}

type TagsQuery = z.output<typeof tagsQuerySchema>;

export async function listTags(reader: Reader, userId: number, tagsQuery: TagsQuery) {
  let counts = query
    .selectFrom("tag_counts")
    .select(({ fn }) => ["tag as name", fn.sum<number>("n").as("count")])
    .where("owner_id", "in", getOwners(userId, tagsQuery.include_public))
    .groupBy("tag");
  if (tagsQuery.prefix) counts = counts.where(sql<boolean>`substr(tag, 1, length(${tagsQuery.prefix})) = ${tagsQuery.prefix}`);
  // A tag without assets keeps its row, with a count of 0.
  if (!tagsQuery.include_zero) counts = counts.where("n", ">", 0);
  const total = (await reader.row(query.selectFrom(counts.as("tags")).select(({ fn }) => fn.countAll<number>().as("n"))))?.n ?? 0;
  const orderedCounts = tagsQuery.order === "name_asc" ? counts.orderBy("tag") : counts.orderBy("count", "desc").orderBy("tag");
  const tags = await reader.rows(orderedCounts.limit(tagsQuery.limit).offset(tagsQuery.offset));
  return { tags, total, has_more: tagsQuery.offset + tags.length < total };
}

export async function countMatchingTags(
  { assetSearch }: { assetSearch: AssetSearch },
  userId: number,
  filter: AssetFilter & { limit: number },
): Promise<Record<string, number>> {
  const counts = await assetSearch.countTags(userId, parseFilter(filter), filter.include_public);
  const rankedTags = [...counts].filter(([, n]) => n > 0).sort(([tagA, a], [tagB, b]) => b - a || (tagA < tagB ? -1 : 1));
  return Object.fromEntries(rankedTags.slice(0, filter.limit));
}
