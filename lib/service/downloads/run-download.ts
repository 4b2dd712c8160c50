// Runs a download task. After a stop or crash, the next run continues it. Downloaded content must match the promised hash.

import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { findAsset, type StoredAsset } from "../assets/asset-view";
import { type BlobStore } from "../assets/blob-store";
import { createAssetIfStored, createAssets } from "../assets/create-asset";
import { createQuotaExceededError, getRemainingQuota, readUsedBytes } from "../assets/quota";
import { type StagedFile } from "../assets/staged-file";
import { readRecord, readStrings } from "../jobs/job-row";
import { ServiceError } from "../service-error";
import { type Database, type Transaction } from "../store/database";
import { PUBLIC_OWNER } from "../users/keys";
import { fetchFile, openPartialFile, type RemoteFile } from "./fetch-file";
import { readFileName, type SourceOpener } from "./source-opener";
import { requireSource, type SourcePolicy } from "./sources";
import { endTask, findEarlierHash, recordSource, type StoredTask, updateTask } from "./task-rows";

export type RunDependencies = {
  database: Database;
  blobs: BlobStore;
  folder: string;
  policy: SourcePolicy;
  open: SourceOpener;
  maxBytes: number;
  idleMs: number;
  now: () => number;
};

class TaskLostError extends Error {}

export function isTaskLost(error: unknown): boolean {
  return error instanceof TaskLostError;
}

export async function runDownload(
  dependencies: RunDependencies,
  task: StoredTask,
  signal: AbortSignal,
  isSuspended: () => boolean,
): Promise<void> {
  const { database, now } = dependencies;
  const url = requireSource(dependencies.policy, task.source_url, "source_url");
  const saveChanges = (changes: Partial<StoredTask>) =>
    database.commit(async (tx) => {
      if (!(await updateTask(tx, task, changes, now()))) throw new TaskLostError();
    });
  const { name, partialBytes } = await findPart(dependencies, task);
  if (name !== (task.part ?? task.id)) await saveChanges({ part: name, bytes_downloaded: 0 });
  const path = getPartPath(dependencies, name);

  // The same URL may have been downloaded while this task waited, so its content may exist now.
  const earlierHash = await findEarlierHash(database, task.user_id, url);
  if (earlierHash !== undefined && (await completeWithContent(dependencies, task, earlierHash, readFileName({}, url)))) return;
  const remainingBytes = await getRemainingQuota(database, task.user_id);
  const partialFile = await openPartialFile({
    path,
    partialBytes,
    signal,
    onDurable: (bytes) => saveChanges({ bytes_downloaded: bytes }),
  });
  try {
    const remoteFile = await fetchFile({
      url,
      open: dependencies.open,
      partial: partialFile,
      remoteFile: partialBytes > 0 ? toRemoteFile(task) : {},
      maxBytes: Math.min(dependencies.maxBytes, remainingBytes),
      createTooLargeError: () =>
        remainingBytes < dependencies.maxBytes ? readQuotaError(database, task.user_id) : createFileTooLargeError(dependencies.maxBytes),
      idleMs: dependencies.idleMs,
      signal,
      async onRemoteFile(file) {
        await saveChanges(toColumns(file));
        return !(await completeWithPromisedContent(dependencies, task, file));
      },
    });
    if (!remoteFile) return await partialFile.close();
    signal.throwIfAborted();
    const staged = await partialFile.finish();
    requirePromisedHash(staged, remoteFile);
    await completeWithFile(dependencies, task, staged, remoteFile.fileName ?? readFileName({}, url));
  } catch (error) {
    if (isSuspended())
      await partialFile.suspend().catch(() => undefined); // the next run only uses synced bytes
    else await partialFile.close();
    throw error;
  } finally {
    if (!isSuspended()) await removePart(dependencies, name);
  }
}

/** Returns a new name if the partial file is missing, because another process may have a file with the same name but other bytes. */
async function findPart(dependencies: RunDependencies, task: StoredTask): Promise<{ name: string; partialBytes: number }> {
  const name = task.part ?? task.id;
  const isFirstRun = task.started_at === null;
  if (isFirstRun || (await isFile(getPartPath(dependencies, name)))) return { name, partialBytes: task.bytes_downloaded };
  return { name: randomUUID(), partialBytes: 0 };
}

const isFile = (path: string) =>
  stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );

export async function removePart(dependencies: { folder: string }, name: string): Promise<void> {
  await rm(getPartPath(dependencies, name), { force: true });
}

function getPartPath(dependencies: { folder: string }, name: string): string {
  return join(dependencies.folder, name);
}

async function completeWithPromisedContent(
  dependencies: RunDependencies,
  task: StoredTask,
  { promisedSha256, fileName = "" }: RemoteFile,
): Promise<boolean> {
  return promisedSha256 !== undefined && (await completeWithContent(dependencies, task, `sha256:${promisedSha256}`, fileName));
}

async function completeWithContent(dependencies: RunDependencies, task: StoredTask, hash: string, name: string): Promise<boolean> {
  const newAsset = { ...(await toNewAsset(dependencies, task)), name };
  return (
    (await createAssetIfStored(dependencies, hash, newAsset, (tx, { asset }) => completeTask(tx, dependencies, task, asset))) !== undefined
  );
}

async function completeWithFile(dependencies: RunDependencies, task: StoredTask, staged: StagedFile, name: string): Promise<void> {
  const newAsset = { ...(await toNewAsset(dependencies, task)), name };
  await createAssets(dependencies, [{ staged, newAsset }], async (tx, [createdAsset]) => {
    if (createdAsset) await completeTask(tx, dependencies, task, createdAsset.asset);
  });
}

async function completeTask(tx: Transaction, { now }: RunDependencies, task: StoredTask, asset: StoredAsset): Promise<void> {
  const { name, size, media_type, hash } = asset;
  const result = {
    success: true,
    filename: name,
    bytes_downloaded: size,
    content_type: media_type,
    asset_id: asset.id,
    hash: `blake3:${hash}`,
  };
  const byteCounts = { bytes_total: size, bytes_downloaded: size };
  if (!(await endTask(tx, task, { status: "completed", ...byteCounts, result: writeExactJson(result) }, now()))) throw new TaskLostError();
  await recordSource(tx, task, hash);
}

/** Omits a preview that was deleted meanwhile, so that the download continues. */
async function toNewAsset({ database }: RunDependencies, task: StoredTask) {
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

function createFileTooLargeError(maxBytes: number): ServiceError {
  return new ServiceError("FILE_TOO_LARGE", `The file is larger than the ${maxBytes} bytes that this service downloads.`);
}

async function readQuotaError(database: Database, userId: number): Promise<ServiceError> {
  return createQuotaExceededError(await readUsedBytes(database, userId), database.limits.userQuotaBytes ?? 0);
}
