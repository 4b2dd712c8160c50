// Runs a download task. After a stop or crash, the next run continues it. Downloaded content must match the promised hash.

import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { findAsset, type StoredAsset } from "../assets/asset-view";
import { type BlobStore } from "../assets/blob-store";
import { createAll, createIfStored } from "../assets/create-asset";
import { quotaExceeded, readUsedBytes, remainingQuota } from "../assets/quota";
import { type StagedFile } from "../assets/staged-file";
import { readRecord, readStrings } from "../jobs/job-row";
import { ServiceError } from "../service-error";
import { type Database, type Transaction } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";
import { fetchFile, openPartialFile, type RemoteFile } from "./fetch-file";
import { type OpenSource, readFileName } from "./open-source";
import { requireSource, type SourcePolicy } from "./sources";
import { changeTask, endTask, findEarlierHash, recordSource, type StoredTask } from "./task-rows";

export type RunParts = {
  database: Database;
  blobs: BlobStore;
  folder: string;
  policy: SourcePolicy;
  open: OpenSource;
  maxBytes: number;
  idleMs: number;
  now: () => number;
};

class TaskLostError extends Error {}

export function isTaskLost(error: unknown): boolean {
  return error instanceof TaskLostError;
}

export async function runDownload(parts: RunParts, task: StoredTask, signal: AbortSignal, isKept: () => boolean): Promise<void> {
  const { database, now } = parts;
  const url = requireSource(parts.policy, task.source_url, "source_url");
  const change = (changes: Partial<StoredTask>) =>
    database.commit(async (tx) => {
      if (!(await changeTask(tx, task, changes, now()))) throw new TaskLostError();
    });
  const { name, partialBytes } = await findPart(parts, task);
  if (name !== (task.part ?? task.id)) await change({ part: name, bytes_downloaded: 0 });
  const path = partPath(parts, name);

  // The same URL may have been downloaded while this task waited, so its content may exist now.
  const earlierHash = await findEarlierHash(database, task.user_id, url);
  if (earlierHash !== undefined && (await completeWithContent(parts, task, earlierHash, readFileName({}, url)))) return;
  const remainingBytes = await remainingQuota(database, task.user_id);
  const partial = await openPartialFile({
    path,
    partialBytes: partialBytes,
    signal,
    onDurable: (bytes) => change({ bytes_downloaded: bytes }),
  });
  try {
    const remoteFile = await fetchFile({
      url,
      open: parts.open,
      partial,
      remoteFile: partialBytes > 0 ? toRemoteFile(task) : {},
      maxBytes: Math.min(parts.maxBytes, remainingBytes),
      tooLarge: () => (remainingBytes < parts.maxBytes ? toQuotaError(database, task.user_id) : fileTooLarge(parts.maxBytes)),
      idleMs: parts.idleMs,
      signal,
      async onRemoteFile(file) {
        await change(toColumns(file));
        return !(await completeWithPromisedContent(parts, task, file));
      },
    });
    if (!remoteFile) return await partial.close();
    signal.throwIfAborted();
    const staged = await partial.finish();
    requirePromisedHash(staged, remoteFile);
    await completeWithFile(parts, task, staged, remoteFile.fileName ?? readFileName({}, url));
  } catch (error) {
    if (isKept())
      await partial.suspend().catch(() => undefined); // the next run trusts only what is durable
    else await partial.close();
    throw error;
  } finally {
    if (!isKept()) await removePart(parts, name);
  }
}

/** Uses a new name for each process, because another process may have a file of this name with different bytes. */
async function findPart(parts: RunParts, task: StoredTask): Promise<{ name: string; partialBytes: number }> {
  const name = task.part ?? task.id;
  const isFirst = task.started_at === null;
  if (isFirst || (await isFile(partPath(parts, name)))) return { name, partialBytes: task.bytes_downloaded };
  return { name: randomUUID(), partialBytes: 0 };
}

const isFile = (path: string) =>
  stat(path).then(
    (info) => info.isFile(),
    () => false,
  );

export async function removePart(parts: { folder: string }, name: string): Promise<void> {
  await rm(partPath(parts, name), { force: true });
}

function partPath(parts: { folder: string }, name: string): string {
  return join(parts.folder, name);
}

async function completeWithPromisedContent(
  parts: RunParts,
  task: StoredTask,
  { promisedSha256, fileName = "" }: RemoteFile,
): Promise<boolean> {
  return promisedSha256 !== undefined && (await completeWithContent(parts, task, `sha256:${promisedSha256}`, fileName));
}

async function completeWithContent(parts: RunParts, task: StoredTask, hash: string, name: string): Promise<boolean> {
  const newAsset = { ...(await toNewAsset(parts, task)), name };
  return (await createIfStored(parts, hash, newAsset, (tx, { asset }) => complete(tx, parts, task, asset))) !== undefined;
}

async function completeWithFile(parts: RunParts, task: StoredTask, staged: StagedFile, name: string): Promise<void> {
  const newAsset = { ...(await toNewAsset(parts, task)), name };
  await createAll(parts, [{ staged, newAsset }], async (tx, [created]) => {
    if (created) await complete(tx, parts, task, created.asset);
  });
}

async function complete(tx: Transaction, { now }: RunParts, task: StoredTask, asset: StoredAsset): Promise<void> {
  const { name, size, media_type, hash } = asset;
  const result = {
    success: true,
    filename: name,
    bytes_downloaded: size,
    content_type: media_type,
    asset_id: asset.id,
    hash: `blake3:${hash}`,
  };
  const counts = { bytes_total: size, bytes_downloaded: size };
  if (!(await endTask(tx, task, { status: "completed", ...counts, result: writeExactJson(result) }, now()))) throw new TaskLostError();
  await recordSource(tx, task, hash);
}

/** If the preview was deleted meanwhile, it is left out, and the download continues. */
async function toNewAsset({ database }: RunParts, task: StoredTask) {
  const preview = task.preview_id !== null && (await findAsset(database, task.preview_id, [task.user_id, PUBLIC_OWNER]));
  return {
    ownerId: task.user_id,
    tags: readStrings(task.tags),
    metadata: readRecord(task.metadata),
    ...(preview && { previewId: preview.id }),
  };
}

function requirePromisedHash(staged: StagedFile, { promisedSha256 }: RemoteFile): void {
  if (promisedSha256 !== undefined && staged.sha256 !== promisedSha256)
    throw new ServiceError("UNPROCESSABLE", "The file's SHA-256 differs from the one that the source announced.");
}

function toRemoteFile(task: StoredTask): RemoteFile {
  return {
    ...(task.bytes_total !== null && { total: task.bytes_total }),
    ...(task.validator !== null && { validator: task.validator }),
    ...(task.promised_sha256 !== null && { promisedSha256: task.promised_sha256 }),
    ...(task.file_name !== null && { fileName: task.file_name }),
  };
}

function toColumns({ total, validator, promisedSha256, fileName }: RemoteFile): Partial<StoredTask> {
  return {
    bytes_total: total ?? null,
    validator: validator ?? null,
    promised_sha256: promisedSha256 ?? null,
    file_name: fileName ?? null,
  };
}

function fileTooLarge(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${maxBytes} bytes that this service downloads.`);
}

async function toQuotaError(database: Database, userId: number): Promise<ServiceError> {
  return quotaExceeded(await readUsedBytes(database, userId), database.limits.userQuotaBytes ?? 0);
}
