import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { foldName, toUuid } from "@/lib/shared/text";
import { generateId } from "../generate-id";
import { type ServiceLog } from "../options";
import { ServiceError, toStorageFailure } from "../service-error";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { type AssetOrigin } from "../store/schema";
import { PUBLIC_OWNER } from "../users/keys";
import { findAsset, readAssets, type StoredAsset } from "./asset-view";
import { type BlobStore } from "./blob-store";
import { addTags } from "./change-asset";
import { findAssetSeqByHash } from "./file-names";
import { requireQuota } from "./quota";
import { type StagedFile, stageStream } from "./staged-file";

type AssetToInsert = {
  id: string;
  ownerId: number;
  origin: AssetOrigin;
  content: { hash: string; size: number };
  name: string;
  tags: readonly string[];
  metadata: Record<string, unknown>;
  mimeType?: string;
  previewId?: string;
  output?: { jobId: string; nodeId: string; key: string; index: number };
};

export async function insertAsset(tx: Transaction, asset: AssetToInsert, nowMs: number): Promise<number> {
  await requireQuota(tx, asset.ownerId, asset.content);
  const name = toFileName(asset.name);
  const insertedRow = await tx.row(
    query
      .insertInto("assets")
      .values({
        id: asset.id,
        owner_id: asset.ownerId,
        origin: asset.origin,
        hash: asset.content.hash,
        name,
        name_folded: foldName(name),
        size: asset.content.size,
        mime_type: asset.mimeType ?? null,
        metadata: writeExactJson(asset.metadata),
        preview_id: asset.previewId ?? null,
        prompt_id: asset.output?.jobId ?? null,
        node_id: asset.output?.nodeId ?? null,
        output_key: asset.output?.key ?? null,
        output_index: asset.output?.index ?? null,
        created_at: nowMs,
        updated_at: nowMs,
        last_access_time: nowMs,
      })
      .returning("seq"),
  );
  if (!insertedRow) throw new Error(`asset ${asset.id} was not inserted`);
  await addTags(tx, insertedRow.seq, asset.tags, nowMs);
  return insertedRow.seq;
}

export type NewAsset = {
  ownerId: number;
  name: string;
  tags: readonly string[];
  metadata: Record<string, unknown>;
  mimeType?: string;
  previewId?: string;
  /** Chosen by the client, for idempotent creation. */
  id?: string;
};

export type CreatedAsset = { asset: StoredAsset; isNew: boolean };
type Stores = { database: Database; blobs: BlobStore; now: () => number };

export async function createAssetFromStaged(stores: Stores, staged: StagedFile, newAsset: NewAsset): Promise<CreatedAsset> {
  const [createdAsset] = await createAssets(stores, [{ staged, newAsset }]);
  if (!createdAsset) throw new Error("no asset was created for the staged file");
  return createdAsset;
}

export async function createAssets(
  stores: Stores,
  files: readonly { staged: StagedFile; newAsset: NewAsset }[],
  afterCreate: (tx: Transaction, createdAssets: readonly CreatedAsset[]) => Promise<void> = () => Promise.resolve(),
): Promise<CreatedAsset[]> {
  const hashes = files.map(({ staged }) => staged.hash);
  try {
    return await stores.blobs.hold(hashes, async () => {
      for (const { staged } of files) await stores.blobs.adopt(staged);
      return stores.database.commit(async (tx) => {
        const nowMs = stores.now();
        const createdAssets: CreatedAsset[] = [];
        // Created sequentially, because the same content may appear twice.
        for (const { staged, newAsset } of files)
          createdAssets.push(await findOrInsertAsset(tx, staged, newAsset, nowMs, () => insertBlob(tx, staged, nowMs)));
        await afterCreate(tx, createdAssets);
        return createdAssets;
      });
    });
  } finally {
    // Bytes that were rejected or already stored must not remain on the disk without a row.
    for (const hash of hashes) await stores.blobs.removeIfUnused(hash);
  }
}

/** Creates an asset from stored content that the user can access (own or public). */
export async function createAssetFromHash(stores: Stores, hash: string, newAsset: NewAsset): Promise<CreatedAsset> {
  const createdAsset = await createAssetIfStored(stores, hash, newAsset);
  if (!createdAsset) throw new ServiceError("NOT_FOUND", "You have no content with this hash.");
  return createdAsset;
}

export async function createAssetIfStored(
  stores: Stores,
  hash: string,
  newAsset: NewAsset,
  afterCreate: (tx: Transaction, createdAsset: CreatedAsset) => Promise<void> = () => Promise.resolve(),
): Promise<CreatedAsset | undefined> {
  if (!(await isContentStored(stores, newAsset.ownerId, hash))) return undefined;
  return stores.database.commit(async (tx) => {
    const source = await findVisibleContent(tx, newAsset.ownerId, hash);
    if (!source) return undefined;
    const createdAsset = await findOrInsertAsset(tx, source, { ...newAsset, name: newAsset.name || source.name }, stores.now());
    await afterCreate(tx, createdAsset);
    return createdAsset;
  });
}

/** Content whose bytes were lost counts as absent. Uploading it again restores it. */
export async function isContentStored(stores: Pick<Stores, "database" | "blobs">, userId: number, hash: string): Promise<boolean> {
  const content = await findVisibleContent(stores.database, userId, hash);
  return content !== undefined && (await stores.blobs.has(content.hash));
}

async function findVisibleContent(reader: Reader, userId: number, hash: string): Promise<StoredAsset | undefined> {
  const [algorithm, digest = ""] = hash.split(":");
  const hashes =
    algorithm === "blake3"
      ? [digest]
      : (await reader.rows(query.selectFrom("blobs").select("hash").where("sha256", "=", digest))).map((row) => row.hash);
  for (const blake3 of hashes) {
    const seq = await findAssetSeqByHash(reader, userId, blake3);
    if (seq !== undefined) return (await readAssets(reader, [seq]))[0];
  }
  return undefined;
}

export async function insertBlob(tx: Transaction, staged: Omit<StagedFile, "path" | "dispose">, nowMs: number): Promise<void> {
  const values = { hash: staged.hash, sha256: staged.sha256, size: staged.size, media_type: staged.mediaType, created_at: nowMs };
  await tx.run(
    query
      .insertInto("blobs")
      .values(values)
      .onConflict((conflict) => conflict.column("hash").doNothing()),
  );
}

/** Does nothing if the asset is already the owner's newest with its name. */
async function makeNewestOfName(tx: Transaction, { seq, name }: StoredAsset, ownerId: number, nowMs: number): Promise<void> {
  const newestAsset = query
    .selectFrom("assets")
    .select(["seq", "created_at"])
    .where("name", "=", name)
    .where("owner_id", "=", ownerId)
    .orderBy(sql`created_at + 0`, "desc")
    .orderBy("seq", "desc")
    .limit(1);
  const newest = await tx.row(newestAsset);
  if (!newest || newest.seq === seq) return;
  const atMs = Math.max(nowMs, newest.created_at + 1);
  await tx.run(query.updateTable("assets").set({ created_at: atMs, updated_at: atMs }).where("seq", "=", seq));
}

async function findOrInsertAsset(
  tx: Transaction,
  content: { hash: string; size: number },
  newAsset: NewAsset,
  nowMs: number,
  insertContent: () => Promise<void> = () => Promise.resolve(),
): Promise<CreatedAsset> {
  await requirePreview(tx, newAsset);
  const existingAsset = await findExistingAsset(tx, content.hash, newAsset);
  if (existingAsset) {
    await addTags(tx, existingAsset.seq, newAsset.tags, nowMs);
    // A name refers to its newest upload. A repeated id is a retry, not an upload.
    if (existingAsset.origin === "upload" && existingAsset.id !== newAsset.id && existingAsset.name === toFileName(newAsset.name))
      await makeNewestOfName(tx, existingAsset, newAsset.ownerId, nowMs);
    return { asset: (await readAssets(tx, [existingAsset.seq]))[0] ?? existingAsset, isNew: false };
  }
  const { ownerId, name, tags, metadata, mimeType, previewId } = newAsset;
  const id = newAsset.id ?? generateId();
  await insertContent();
  const seq = await insertAsset(tx, { id, ownerId, origin: "upload", content, name, tags, metadata, mimeType, previewId }, nowMs);
  const [asset] = await readAssets(tx, [seq]);
  if (!asset) throw new Error(`asset ${id} was inserted but can't be read`);
  return { asset, isNew: true };
}

async function findExistingAsset(tx: Transaction, hash: string, newAsset: NewAsset): Promise<StoredAsset | undefined> {
  if (newAsset.id !== undefined) {
    const ownAsset = await findAsset(tx, newAsset.id, [newAsset.ownerId]);
    if (ownAsset) return ownAsset;
    const foreignAsset = await tx.row(query.selectFrom("assets").select("seq").where("id", "=", newAsset.id));
    if (foreignAsset) throw new ServiceError("ASSET_ID_UNAVAILABLE", "This id cannot be used for a new asset.", { field: "id" });
  }
  const seq = await findAssetSeqByHash(tx, newAsset.ownerId, hash);
  const [assetWithContent] = seq === undefined ? [] : await readAssets(tx, [seq]);
  return assetWithContent?.owner_id === newAsset.ownerId ? assetWithContent : undefined;
}

async function requirePreview(tx: Transaction, newAsset: NewAsset): Promise<void> {
  if (newAsset.previewId === undefined || newAsset.previewId === newAsset.id) return;
  if (!(await findAsset(tx, newAsset.previewId, [newAsset.ownerId, PUBLIC_OWNER]))) {
    throw new ServiceError("INVALID_PREVIEW_ID", "preview_id is not one of your assets.", { field: "preview_id" });
  }
}

type ShippingStores = { database: Database; blobs: BlobStore; tempFolder: string; now: () => number; log: ServiceLog };

export async function shipPublicAssets(stores: ShippingStores, imagesDir: string): Promise<void> {
  const names = await readdir(imagesDir).catch((error: unknown) => {
    stores.log.warn({ err: error, folder: imagesDir }, "sample images missing");
    return [];
  });
  for (const name of names.filter((value) => /\.(png|jpe?g|webp)$/i.test(value)).sort()) {
    try {
      await shipAsset(stores, join(imagesDir, name), name);
    } catch (error) {
      // A full disk must not prevent startup, because users can free space only while the service runs.
      if (!toStorageFailure(error)) throw error;
      stores.log.error({ err: error, name }, "sample image write failed");
    }
  }
}

async function shipAsset(stores: ShippingStores, path: string, name: string): Promise<void> {
  const { database, blobs } = stores;
  const staged = await stageStream(createReadStream(path), { folder: stores.tempFolder, maxBytes: Number.MAX_SAFE_INTEGER });
  try {
    await blobs.hold([staged.hash], async () => {
      await blobs.adopt(staged);
      await database.commit(async (tx) => {
        const nowMs = stores.now();
        await insertBlob(tx, staged, nowMs);
        const shippedAsset = await tx.row(
          query.selectFrom("assets").select(["seq", "hash"]).where("owner_id", "=", PUBLIC_OWNER).where("name", "=", name),
        );
        if (!shippedAsset) {
          const asset = {
            id: createAssetId(name),
            ownerId: PUBLIC_OWNER,
            origin: "shipped",
            content: staged,
            name,
            tags: ["input"],
            metadata: {},
          } as const;
          await insertAsset(tx, asset, nowMs);
        } else if (shippedAsset.hash !== staged.hash) {
          await tx.run(
            query
              .updateTable("assets")
              .set({ hash: staged.hash, size: staged.size, updated_at: nowMs })
              .where("seq", "=", shippedAsset.seq),
          );
        }
      });
    });
  } finally {
    await staged.dispose();
  }
}

/** Creates the same id on every machine, so that links to sample images remain valid. */
function createAssetId(name: string): string {
  return toUuid(createHash("sha256").update(`lightdesk public asset ${name}`).digest("hex"), 8);
}
