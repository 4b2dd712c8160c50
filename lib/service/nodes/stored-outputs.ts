// Names output files, and caches node outputs for later jobs.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, mkdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { getErrorCode } from "@/lib/shared/error-codes";
import { hashFile } from "@/lib/shared/files";
import { getBlobPath } from "../assets/blob-store";
import { type PlannedNode } from "./plan";
import { type ProducedFile, type RunRequest } from "./run";

type StoredOutput = { files: ProducedFile[]; texts?: string[] };
type Entry = { files: Omit<ProducedFile, "nodeId" | "key" | "index" | "path">[]; texts?: string[] };

function getEntryPath(cacheDir: string, key: string): string {
  return join(cacheDir, key.slice(0, 2), `${key.slice(2)}.json`);
}

/** Links the node's files into the job's folder. Returns undefined if part of the result no longer exists. */
export async function restoreOutputs(request: RunRequest, key: string, plannedNode: PlannedNode): Promise<StoredOutput | undefined> {
  const { cacheDir, blobsDir, outputDir } = request;
  if (cacheDir === undefined || blobsDir === undefined) return undefined;
  const path = getEntryPath(cacheDir, key);
  const entry = await readEntry(path);
  if (!entry) return undefined;
  const files: ProducedFile[] = [];
  for (const [index, file] of entry.files.entries()) {
    const target = getOutputPath(outputDir, plannedNode, index, file.extension);
    if (!(await linkBlob(getBlobPath(blobsDir, file.hash), target, file.hash))) {
      await Promise.all([...files.map((file) => file.path), path].map((filePath) => rm(filePath, { force: true })));
      return undefined;
    }
    files.push({ nodeId: plannedNode.id, key: "images", index, path: target, ...file });
  }
  // Cache eviction removes the least recently used entries first.
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
  return { files, ...(entry.texts && { texts: entry.texts }) };
}

/** Called before the job has stored its blobs. Until then, and if the job is cancelled, the entry refers to missing blobs. */
export async function cacheOutputs(request: RunRequest, key: string, { files, texts }: StoredOutput): Promise<void> {
  if (request.cacheDir === undefined || request.blobsDir === undefined) return;
  const entry: Entry = {
    files: files.map(({ nodeId: _node, key: _key, index: _index, path: _path, ...file }) => file),
    ...(texts && { texts }),
  };
  const path = getEntryPath(request.cacheDir, key);
  const temporaryPath = join(request.outputDir, `entry-${randomUUID()}`);
  try {
    await writeFile(temporaryPath, writeExactJson(entry), { flag: "wx", mode: 0o600 });
    await rename(temporaryPath, path).catch(async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await rename(temporaryPath, path);
    });
  } catch {
    // A full disk, or a cancelled job whose folder was removed: the next run computes the result again.
    await rm(temporaryPath, { force: true }).catch(() => undefined);
  }
}

export function getOutputPath(outputDir: string, { position }: PlannedNode, index: number, extension: string): string {
  return join(outputDir, `${position}-${index}.${extension}`);
}

/** Entries are complete and of this version, because they are renamed into place under a key that contains the version. */
async function readEntry(path: string): Promise<Entry | undefined> {
  if (!existsSync(path)) return undefined;
  try {
    return parseExactJson<Entry>(await readFile(path, "utf8"));
  } catch {
    return undefined; // missing, or truncated by a crash
  }
}

/** Verifies the linked file. If the disk corrupted it, the node runs again. */
async function linkBlob(blob: string, target: string, hash: string): Promise<boolean> {
  try {
    await link(blob, target).catch(async (error: unknown) => {
      if (getErrorCode(error) !== "EXDEV") throw error;
      await copyFile(blob, target); // a shared folder is on another disk
    });
    if ((await hashFile(target)).hash === hash) return true;
    await rm(target);
  } catch {
    // The blob was removed because no asset uses it.
  }
  return false;
}
