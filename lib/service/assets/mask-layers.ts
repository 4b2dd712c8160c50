import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import sharp from "sharp";
import { MASK_LAYER_TAG } from "@/lib/contract/assets/file-refs";
import { createLimiter } from "@/lib/shared/async";
import { ImageTooLargeError, requireDecodable, withImage } from "@/lib/shared/decode-image";
import { ServiceError } from "../service-error";
import { type Database, query, type Reader, type Transaction } from "../store/database";
import { getFileName, type StoredAsset } from "./asset-view";
import { type BlobStore } from "./blob-store";
import { createAssets } from "./create-asset";
import { findFilesByName } from "./file-names";
import { isRaster, MAX_PIXELS } from "./media-type";
import { type StagedFile, stageFile } from "./staged-file";

export const MAX_IMAGE_BYTES = 50 * 1024 * 1024;
const MAX_SIDE_PX = 16_384;

type ImageFile = { path: string; mediaType: string; size: number };

export async function requireImage(file: ImageFile): Promise<{ width: number; height: number }> {
  if (!isRaster(file.mediaType)) throw createNotAnImageError();
  if (file.size > MAX_IMAGE_BYTES) throw createImageTooLargeError();
  const { width, height } = await readSize(file.path);
  if (width > MAX_SIDE_PX || height > MAX_SIDE_PX) {
    throw new ServiceError("INVALID_IMAGE", `The image is ${width} by ${height} pixels; the limit per side is ${MAX_SIDE_PX}.`, {
      width,
      height,
    });
  }
  if (width * height > MAX_PIXELS) {
    throw new ServiceError("INVALID_IMAGE", `The image has ${width * height} pixels; at most ${MAX_PIXELS} are accepted.`, {
      width,
      height,
    });
  }
  return { width, height };
}

async function readSize(path: string): Promise<{ width: number; height: number }> {
  try {
    return (await requireDecodable(path)).autoOrient;
  } catch (error) {
    if (error instanceof ImageTooLargeError) throw new ServiceError("INVALID_IMAGE", error.message, { field: "image", ...error.size });
    if (await isMissing(path)) throw new ServiceError("NOT_FOUND", "The bytes of this file are missing from the store.");
    throw createNotAnImageError(error);
  }
}

const isMissing = (path: string) =>
  stat(path).then(
    () => false,
    () => true,
  );

export function createImageTooLargeError(): ServiceError {
  return new ServiceError("INVALID_IMAGE", "The image is larger than 50 MB.", { field: "image" });
}

function createNotAnImageError(error?: unknown): ServiceError {
  const reason = error instanceof Error && { reason: error.message };
  return new ServiceError("INVALID_IMAGE", "The file is not an image that this service can read.", { field: "image", ...reason });
}

type Stores = { database: Database; blobs: BlobStore; folders: { temp: string }; now: () => number };
type MaskNames = { result: string; mask: string; paint: string; painted: string };
type StoredMask = MaskNames & { displayName: string };
const layers = ["result", "mask", "paint", "painted"] as const;
/** One at a time, because each may process several images of the maximum size. */
const limit = createLimiter(1);

export function storeMask(stores: Stores, userId: number, upload: StagedFile, original: StoredAsset): Promise<StoredMask> {
  const { hash } = original;
  return limit(() => stores.blobs.withFiles([hash], (getPath) => createLayers(stores, userId, upload, original, getPath(hash))));
}

async function createLayers(
  stores: Stores,
  userId: number,
  upload: StagedFile,
  original: StoredAsset,
  source: string,
): Promise<StoredMask> {
  await requireSameSize(upload, { path: source, mediaType: original.media_type, size: original.size });
  const basePath = join(stores.folders.temp, randomUUID());
  const files = {
    result: `${basePath}-result.png`,
    mask: `${basePath}-mask.png`,
    paint: `${basePath}-paint.png`,
    painted: `${basePath}-painted.png`,
  };
  const [alpha, colours, flat] = [`${basePath}-alpha.png`, `${basePath}-colours.png`, `${basePath}-flat.png`];
  try {
    await withImage(source, () => drawLayers(upload.path, source, files, { alpha, colours, flat }));
    const stem = original.name.replace(/\.[^.]*$/, "");
    const stagedLayers = [];
    for (const layer of layers) {
      const tags = layer === "result" ? ["input"] : [MASK_LAYER_TAG];
      const metadata = { mask_layer: layer === "result" ? "painted_masked" : layer, original_hash: `blake3:${original.hash}` };
      const name = `${stem}-${layer === "result" ? "masked" : layer}.png`;
      stagedLayers.push({ staged: await stageFile(files[layer]), newAsset: { ownerId: userId, name, tags, metadata } });
    }
    const names: MaskNames = { result: "", mask: "", paint: "", painted: "" };
    const [result] = await createAssets(stores, stagedLayers, async (tx, createdAssets) => {
      for (const [index, layer] of layers.entries()) {
        const asset = createdAssets[index]?.asset;
        // eslint-disable-next-line lightdesk/outside-key -- one of four constant names
        if (asset) names[layer] = getFileName(asset);
      }
      await storeLayerNames(tx, userId, names);
    });
    return { ...names, displayName: result?.asset.name ?? "" };
  } finally {
    for (const file of [alpha, colours, flat, ...Object.values(files)]) await rm(file, { force: true });
  }
}

const rgbSpaces: readonly string[] = ["srgb", "rgb16"];
const openWithProfile = (path: string) => sharp(path, { ignoreIcc: true }).keepIccProfile();
type TempFiles = { alpha: string; colours: string; flat: string };

/** Also detects images whose pixels don't match their header. */
async function drawLayers(upload: string, original: string, layerFiles: MaskNames, tempFiles: TempFiles): Promise<void> {
  try {
    // Colours and alpha are separated first, because joining a channel to an image with alpha would give a different result.
    await sharp(upload).autoOrient().ensureAlpha().extractChannel(3).toColourspace("b-w").png().toFile(tempFiles.alpha);
    await sharp(upload).autoOrient().removeAlpha().toColourspace("srgb").png().toFile(tempFiles.colours);
    // Colour values and their profile are unchanged, because a conversion would lose colours of wide-gamut photos.
    const colourSpace = (await sharp(original).metadata()).space ?? "";
    const uprightImage = sharp(original, { ignoreIcc: rgbSpaces.includes(colourSpace) })
      .autoOrient()
      .removeAlpha()
      .toColourspace("srgb");
    const flatImage = rgbSpaces.includes(colourSpace) ? uprightImage.keepIccProfile() : uprightImage;
    await flatImage.png({ compressionLevel: 0 }).toFile(tempFiles.flat);
    await sharp(tempFiles.alpha).negate().toColourspace("b-w").png().toFile(layerFiles.mask);
    await openWithProfile(tempFiles.flat).joinChannel(tempFiles.alpha).png().toFile(layerFiles.result);
    await sharp(tempFiles.colours).joinChannel(layerFiles.mask).png().toFile(layerFiles.paint);
    await openWithProfile(tempFiles.flat)
      .composite([{ input: layerFiles.paint }])
      .removeAlpha()
      .png()
      .toFile(layerFiles.painted);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (/no space left/i.test(reason)) throw new ServiceError("INSUFFICIENT_STORAGE", "The disk of the service is full.");
    throw new ServiceError("INVALID_IMAGE", "The mask or its original cannot be decoded.", { field: "image", reason });
  }
}

export async function findMaskLayers(
  reader: Reader,
  userId: number,
  result: string,
): Promise<Record<keyof MaskNames, string | null> | undefined> {
  const maskQuery = query.selectFrom("mask_layers").select(layers).where("owner_id", "=", userId).where("result", "=", result);
  const names = await reader.row(maskQuery);
  if (!names) return undefined;
  const existingFiles = await findFilesByName(reader, userId, Object.values(names));
  const toExistingName = (name: string) => (existingFiles.has(name) ? name : null);
  return {
    result: toExistingName(names.result),
    mask: toExistingName(names.mask),
    paint: toExistingName(names.paint),
    painted: toExistingName(names.painted),
  };
}

async function storeLayerNames(tx: Transaction, userId: number, names: MaskNames): Promise<void> {
  await tx.run(
    query
      .insertInto("mask_layers")
      .values({ owner_id: userId, ...names })
      .onConflict((conflict) => conflict.columns(["owner_id", "result"]).doUpdateSet(names)),
  );
}

async function requireSameSize(upload: StagedFile, original: ImageFile): Promise<void> {
  const maskSize = await requireImage(upload);
  const originalSize = await requireImage(original);
  if (maskSize.width === originalSize.width && maskSize.height === originalSize.height) return;
  const sizes = `the mask is ${maskSize.width} by ${maskSize.height} pixels, the original ${originalSize.width} by ${originalSize.height}`;
  throw new ServiceError("INVALID_IMAGE", `The mask does not fit its original: ${sizes}.`, { field: "image" });
}
