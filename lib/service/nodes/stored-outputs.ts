import { randomUUID } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Blake3Hasher } from "@napi-rs/blake-hash";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { codeOf } from "@/lib/shared/error-codes";
import { blobPath } from "../assets/blob-store";
import { type PlannedNode } from "./plan";
import { type ProducedFile, type RunRequest } from "./run";

type Shown = { files: ProducedFile[]; texts?: string[] };
type StoredFile = Pick<
  ProducedFile,
  "hash" | "sha256" | "byteLength" | "extension" | "displayName" | "type" | "mimeType" | "width" | "height"
> & {
  animated?: boolean;
};
type Entry = { files: StoredFile[]; texts?: string[] };

function entryPath(cacheDir: string, key: string): string {
  return join(cacheDir, key.slice(0, 2), `${key.slice(2)}.json`);
}

/** Links the node's files into the job's folder; undefined if something of the result is gone. */
export async function recallOutputs(request: RunRequest, key: string, planned: PlannedNode): Promise<Shown | undefined> {
  const { cacheDir, blobsDir, outputDir } = request;
  if (cacheDir === undefined || blobsDir === undefined) return undefined;
  const path = entryPath(cacheDir, key);
  const entry = await readEntry(path);
  if (!entry) return undefined;
  const files: ProducedFile[] = [];
  for (const [index, file] of entry.files.entries()) {
    const target = producedPath(outputDir, planned, index, file.extension);
    if (!(await linkBlob(blobPath(blobsDir, file.hash), target, file.hash))) {
      await Promise.all([...files.map((linked) => linked.path), path].map((one) => rm(one, { force: true })));
      return undefined;
    }
    files.push({ nodeId: planned.id, key: "images", index, path: target, ...file });
  }
  // The most recently used entries go last when the folder is trimmed.
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
  return { files, ...(entry.texts && { texts: entry.texts }) };
}

/** Called before the job that names the blobs has ended: until then, and if it is cancelled, the entry names blobs that do not exist. */
export async function rememberOutputs(request: RunRequest, key: string, { files, texts }: Shown): Promise<void> {
  if (request.cacheDir === undefined || request.blobsDir === undefined) return;
  const entry: Entry = {
    files: files.map(({ nodeId: _node, key: _key, index: _index, path: _path, ...file }) => file),
    ...(texts && { texts }),
  };
  const path = entryPath(request.cacheDir, key);
  const unfinished = join(request.outputDir, `entry-${randomUUID()}`);
  try {
    await writeFile(unfinished, writeExactJson(entry), { flag: "wx", mode: 0o600 });
    await rename(unfinished, path).catch(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(unfinished, path);
    });
  } catch {
    // A full disk, or a cancelled job whose folder is gone: the next run computes it again.
    await rm(unfinished, { force: true }).catch(() => undefined);
  }
}

export function producedPath(outputDir: string, { place }: PlannedNode, index: number, extension: string): string {
  return join(outputDir, `${place}-${index}.${extension}`);
}

async function readEntry(path: string): Promise<Entry | undefined> {
  // Usually it does not exist, and this thread finds that out long before a thread of the pool is awake.
  if (!existsSync(path)) return undefined;
  try {
    const entry: unknown = JSON.parse(await readFile(path, "utf8"));
    return isEntry(entry) ? entry : undefined;
  } catch {
    return undefined; // missing, or cut short by a crash
  }
}

/** Reads the linked file whole: if the disk has changed it, the node makes it anew. */
async function linkBlob(blob: string, target: string, hash: string): Promise<boolean> {
  try {
    await link(blob, target).catch(async (error: unknown) => {
      if (codeOf(error) !== "EXDEV") throw error;
      await copyFile(blob, target); // a folder that several share is on another disk
    });
    if ((await hashOf(target)) === hash) return true;
    await rm(target);
  } catch {
    // The blob is gone: no asset names it any more.
  }
  return false;
}

async function hashOf(path: string): Promise<string> {
  const hasher = new Blake3Hasher();
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) if (chunk instanceof Uint8Array) hasher.update(chunk);
  return hasher.digest("hex");
}

function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null || !("files" in value)) return false;
  const texts = "texts" in value ? value.texts : undefined;
  const isText = texts === undefined || (Array.isArray(texts) && texts.every((text) => typeof text === "string"));
  return isText && Array.isArray(value.files) && value.files.every(isStoredFile);
}

function isStoredFile(value: unknown): value is StoredFile {
  if (typeof value !== "object" || value === null) return false;
  const {
    hash,
    sha256,
    byteLength,
    extension,
    displayName,
    type,
    mimeType,
    width,
    height,
    animated,
  }: Partial<Record<keyof StoredFile, unknown>> = value;
  return (
    [hash, sha256].every((digest) => typeof digest === "string" && /^[0-9a-f]{64}$/.test(digest)) &&
    (extension === "png" || extension === "webp") &&
    (type === "output" || type === "temp") &&
    [displayName, mimeType].every((text) => typeof text === "string") &&
    [byteLength, width, height].every((number) => Number.isSafeInteger(number)) &&
    (animated === undefined || typeof animated === "boolean")
  );
}

const BLOCK = 4096;
/** The folder is trimmed to this share of the bound, so that not every round has something to do. */
const SLACK = 0.9;

type FolderEntry = { path: string; bytes: number; usedMs: number };

export async function trimCache(folder: string, maxBytes: number, goOn: () => boolean): Promise<number | undefined> {
  const entries: FolderEntry[] = [];
  for (const name of await readdir(folder, { recursive: true })) {
    if (!goOn()) return undefined;
    const path = join(folder, name);
    // It may have gone or been replaced since the folder was read.
    const found = name.endsWith(".json") ? await stat(path).catch(() => undefined) : undefined;
    if (found?.isFile()) entries.push({ path, bytes: Math.ceil(found.size / BLOCK) * BLOCK, usedMs: found.mtimeMs });
  }
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return total;
  for (const { path, bytes } of entries.sort((a, b) => a.usedMs - b.usedMs)) {
    if (total <= maxBytes * SLACK || !goOn()) break;
    await rm(path, { force: true });
    total -= bytes;
  }
  return total;
}
