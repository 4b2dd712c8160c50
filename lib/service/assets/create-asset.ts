import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { toFileName } from "@/lib/contract/plain-line";
import { foldName, toUuid } from "@/lib/shared/text";
import { newId } from "../new-id";
import { type ServiceLog } from "../options";
import { ServiceError, toStorageFailure } from "../service-error";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { type AssetOrigin } from "../store/schema";
import { PUBLIC_OWNER } from "../users/keys";
import { findAsset, readAssets, type StoredAsset } from "./asset-view";
import { type BlobStore } from "./blob-store";
import { addTags } from "./change-asset";
import { findByHash } from "./file-names";
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

export async function insertAsset(tx: Transaction, asset: AssetToInsert, at: number): Promise<number> {
  await requireQuota(tx, asset.ownerId, asset.content);
  const name = toFileName(asset.name);
  const inserted = await tx.row(
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
        created_at: at,
        updated_at: at,
        last_access_time: at,
      })
      .returning("seq"),
  );
  if (!inserted) throw new Error(`asset ${asset.id} was not inserted`);
  await addTags(tx, inserted.seq, asset.tags, at);
  return inserted.seq;
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

export type CreatedAsset = { asset: StoredAsset; createdNew: boolean };
type Stores = { database: Database; blobs: BlobStore; now: () => number };

export async function createFromStaged(stores: Stores, staged: StagedFile, newAsset: NewAsset): Promise<CreatedAsset> {
  const [created] = await createAll(stores, [{ staged, newAsset }]);
  if (!created) throw new Error("nothing was created");
  return created;
}

export async function createAll(
  stores: Stores,
  files: readonly { staged: StagedFile; newAsset: NewAsset }[],
  afterCreate: (tx: Transaction, created: readonly CreatedAsset[]) => Promise<void> = () => Promise.resolve(),
): Promise<CreatedAsset[]> {
  const hashes = files.map(({ staged }) => staged.hash);
  try {
    return await stores.blobs.hold(hashes, async () => {
      for (const { staged } of files) await stores.blobs.adopt(staged);
      return stores.database.commit(async (tx) => {
        const at = stores.now();
        const created: CreatedAsset[] = [];
        // Created sequentially, because the same content may appear twice.
        for (const { staged, newAsset } of files)
          created.push(await findOrInsert(tx, staged, newAsset, at, () => insertBlob(tx, staged, at)));
        await afterCreate(tx, created);
        return created;
      });
    });
  } finally {
    // Bytes that were rejected or not needed must not remain on the disk without a row.
    for (const hash of hashes) await stores.blobs.drop(hash);
  }
}

/** For content that the user may already see (own or public) and whose bytes are stored. */
export async function createFromHash(stores: Stores, hash: string, newAsset: NewAsset): Promise<CreatedAsset> {
  const created = await createIfStored(stores, hash, newAsset);
  if (!created) throw new ServiceError("NOT_FOUND", "You have no content with this hash.");
  return created;
}

export async function createIfStored(
  stores: Stores,
  hash: string,
  newAsset: NewAsset,
  afterCreate: (tx: Transaction, created: CreatedAsset) => Promise<void> = () => Promise.resolve(),
): Promise<CreatedAsset | undefined> {
  if (!(await isStored(stores, newAsset.ownerId, hash))) return undefined;
  return stores.database.commit(async (tx) => {
    const source = await findVisibleContent(tx, newAsset.ownerId, hash);
    if (!source) return undefined;
    const created = await findOrInsert(tx, source, { ...newAsset, name: newAsset.name || source.name }, stores.now());
    await afterCreate(tx, created);
    return created;
  });
}

/** Content whose bytes were lost counts as absent. Uploading it again restores it. */
export async function isStored(stores: Pick<Stores, "database" | "blobs">, userId: number, hash: string): Promise<boolean> {
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
    const seq = await findByHash(reader, userId, blake3);
    if (seq !== undefined) return (await readAssets(reader, [seq]))[0];
  }
  return undefined;
}

export async function insertBlob(tx: Transaction, staged: Omit<StagedFile, "path" | "dispose">, at: number): Promise<void> {
  const values = { hash: staged.hash, sha256: staged.sha256, size: staged.size, media_type: staged.mediaType, created_at: at };
  await tx.run(
    query
      .insertInto("blobs")
      .values(values)
      .onConflict((conflict) => conflict.column("hash").doNothing()),
  );
}

async function findOrInsert(
  tx: Transaction,
  content: { hash: string; size: number },
  newAsset: NewAsset,
  at: number,
  storeBytes: () => Promise<void> = () => Promise.resolve(),
): Promise<CreatedAsset> {
  await requirePreview(tx, newAsset);
  const existing = await findExisting(tx, content.hash, newAsset);
  if (existing) {
    await addTags(tx, existing.seq, newAsset.tags, at);
    return { asset: (await readAssets(tx, [existing.seq]))[0] ?? existing, createdNew: false };
  }
  const { ownerId, name, tags, metadata, mimeType, previewId } = newAsset;
  const id = newAsset.id ?? newId();
  await storeBytes();
  const seq = await insertAsset(tx, { id, ownerId, origin: "upload", content, name, tags, metadata, mimeType, previewId }, at);
  const [asset] = await readAssets(tx, [seq]);
  if (!asset) throw new Error(`asset ${id} was inserted and is not there`);
  return { asset, createdNew: true };
}

async function findExisting(tx: Transaction, hash: string, newAsset: NewAsset): Promise<StoredAsset | undefined> {
  if (newAsset.id !== undefined) {
    const ownAsset = await findAsset(tx, newAsset.id, [newAsset.ownerId]);
    if (ownAsset) return ownAsset;
    const existing = await tx.row(query.selectFrom("assets").select("seq").where("id", "=", newAsset.id));
    if (existing) throw new ServiceError("ASSET_ID_UNAVAILABLE", "This id cannot be used for a new asset.", { field: "id" });
  }
  const seq = await findByHash(tx, newAsset.ownerId, hash);
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
      // A full disk must not keep the service from starting, because users can free space only while it runs.
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
        const at = stores.now();
        await insertBlob(tx, staged, at);
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
          await insertAsset(tx, asset, at);
        } else if (shippedAsset.hash !== staged.hash) {
          await tx.run(
            query.updateTable("assets").set({ hash: staged.hash, size: staged.size, updated_at: at }).where("seq", "=", shippedAsset.seq),
          );
        }
      });
    });
  } finally {
    await staged.dispose();
  }
}

/** The same on every machine, so that links to sample images remain valid. */
function createAssetId(name: string): string {
  return toUuid(createHash("sha256").update(`lightdesk public asset ${name}`).digest("hex"), 8);
}
