import { type z } from "zod";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { type assetEditBodySchema } from "@/lib/contract/schemas/asset";
import { foldName } from "@/lib/shared/text";
import { ServiceError } from "../service-error";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";
import { fileNameOf, findAsset,type StoredAsset } from "./asset-view";
import { type BlobStore } from "./blob-store";
import { byHash } from "./file-names";
import { addTags, removeTags } from "./tags";
import { type Thumbnails } from "./thumbnails/thumbnails";

type AssetEdit = z.output<typeof assetEditBodySchema>;
type Stores = { database: Database; blobs: BlobStore; thumbnails: Thumbnails };

/** The user's own asset or a public one; any other answers as if it did not exist. */
export async function requireAsset(reader: Reader, userId: number, id: string): Promise<StoredAsset> {
  const asset = await findAsset(reader, id, [userId, PUBLIC_OWNER]);
  if (!asset) throw noAsset();
  return asset;
}

function noAsset(): ServiceError {
  return new ServiceError("NOT_FOUND", "There is no such asset.");
}

export async function requireChangeable(reader: Reader, userId: number, id: string): Promise<StoredAsset> {
  const asset = await requireAsset(reader, userId, id);
  if (asset.owner_id !== userId)
    throw new ServiceError("FORBIDDEN", "This asset is shipped with the service: every user may use it, and none may change it.");
  return asset;
}

export async function editAsset(tx: Transaction, asset: StoredAsset, edit: AssetEdit, at: number): Promise<void> {
  if (typeof edit.preview_id === "string" && !(await findAsset(tx, edit.preview_id, [asset.owner_id, PUBLIC_OWNER]))) {
    throw new ServiceError("INVALID_PREVIEW_ID", "preview_id is not one of your assets.", { field: "preview_id" });
  }
  if (edit.tags !== undefined) {
    const wanted = edit.tags;
    await removeTags(
      tx,
      asset.seq,
      asset.tags.filter((tag) => !wanted.includes(tag)),
      at,
    );
    await addTags(tx, asset.seq, wanted, at);
  }
  const name = edit.name === undefined ? undefined : toFileName(edit.name);
  const changes = {
    updated_at: at,
    ...(name !== undefined && { name, name_folded: foldName(name) }),
    ...(edit.mime_type !== undefined && { mime_type: edit.mime_type }),
    ...(edit.preview_id !== undefined && { preview_id: edit.preview_id }),
    ...(edit.user_metadata !== undefined && { metadata: writeExactJson(edit.user_metadata) }),
  };
  await tx.run(query.updateTable("assets").set(changes).where("seq", "=", asset.seq));
}

export async function deleteAsset(stores: Stores, asset: StoredAsset): Promise<void> {
  const { database } = stores;
  await database.commitFreeing(async (tx) => {
    // Of several concurrent requests one deletes the asset; for the others it is gone.
    if ((await tx.run(query.deleteFrom("assets").where("seq", "=", asset.seq))) === 0) throw noAsset();
    if ((await byHash(tx, asset.owner_id, asset.hash)) !== undefined) return;
    const layers = query.deleteFrom("mask_layers").where("owner_id", "=", asset.owner_id);
    await tx.run(layers.where("result", "=", fileNameOf(asset)));
  });
  await collectBlob(stores, asset.hash);
}

/** Removes the row of a blob that nothing names, then its bytes. */
export async function collectBlob(stores: Stores, hash: string): Promise<void> {
  const { database, blobs, thumbnails } = stores;
  const unnamed = await database.commitFreeing(async (tx) => {
    const named =
      (await tx.row(query.selectFrom("assets").select("seq").where("hash", "=", hash).limit(1))) ??
      (await tx.row(query.selectFrom("user_files").select("path").where("hash", "=", hash).limit(1))) ??
      (await tx.row(query.selectFrom("job_images").select("job_seq").where("hash", "=", hash).limit(1)));
    return named === undefined && (await tx.run(query.deleteFrom("blobs").where("hash", "=", hash))) === 1;
  });
  if (!unnamed) return;
  await blobs.drop(hash);
  await thumbnails.forget(hash);
}

export async function withBlobRow(reader: Reader, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await reader.rows(query.selectFrom("blobs").select("hash").where("hash", "in", hashes));
  return new Set(rows.map((row) => row.hash));
}
