import { constants } from "node:fs";
import { open, rm } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { getErrorCode } from "@/lib/shared/error-codes";
import { createDigest, type StagedFile } from "../assets/staged-file";
import { ServiceError } from "../service-error";
import {
  createUnreachableError,
  discardBody,
  isPage,
  readContentRange,
  readEncoding,
  readFileName,
  readLength,
  readUnsatisfiedLength,
  readValidator,
  type SourceOpener,
  type SourceResponse,
} from "./source-opener";

type PartialFile = Awaited<ReturnType<typeof openPartialFile>>;

const SYNC_INTERVAL_MS = 250;
const READ_CHUNK_BYTES = 256 * 1024;

type PartialFileOptions = {
  path: string;
  partialBytes: number;
  signal: AbortSignal;
  onDurable(bytes: number): Promise<void>;
};

export async function openPartialFile({ path, partialBytes, signal, onDurable }: PartialFileOptions) {
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600).catch(rethrowFullDisk);
  let digest = createDigest();
  let syncedBytes = 0;
  let pendingSync: Promise<void> | undefined;
  let syncError: unknown;

  async function readExistingBytes(): Promise<void> {
    // If the disk lost synced bytes, the whole file is downloaded again.
    const durableBytes = (await handle.stat()).size < partialBytes ? 0 : partialBytes;
    if (durableBytes < partialBytes) await onDurable(0);
    await handle.truncate(durableBytes);
    const buffer = Buffer.allocUnsafe(READ_CHUNK_BYTES);
    while (digest.size() < durableBytes) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, durableBytes - digest.size()), digest.size());
      if (bytesRead === 0) throw new Error(`the partial file ${path} ended while it was read`);
      digest.update(buffer.subarray(0, bytesRead));
    }
    syncedBytes = durableBytes;
  }

  function sync(): Promise<void> {
    pendingSync ??= syncOnce().finally(() => (pendingSync = undefined));
    return pendingSync;
  }

  async function syncOnce(): Promise<void> {
    const size = digest.size();
    if (size === syncedBytes) return;
    await handle.datasync().catch(rethrowFullDisk);
    await onDurable(size);
    syncedBytes = size;
  }

  /** A running sync may have started before the last bytes were written. */
  async function syncAll(): Promise<void> {
    while (syncedBytes < digest.size()) await sync();
  }

  const timer = setInterval(() => void sync().catch((error: unknown) => (syncError ??= error)), SYNC_INTERVAL_MS).unref();

  async function close(): Promise<void> {
    clearInterval(timer);
    await pendingSync?.catch(() => undefined); // reported by `append` or by the last sync
    await handle.close();
  }

  try {
    await readExistingBytes();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    size: () => digest.size(),

    async append(chunk: Uint8Array): Promise<void> {
      if (syncError !== undefined) throw syncError;
      const start = digest.size();
      for (let offset = 0; offset < chunk.byteLength;) {
        const result = await handle.write(chunk, offset, chunk.byteLength - offset, start + offset).catch(rethrowFullDisk);
        offset += result.bytesWritten;
      }
      digest.update(chunk);
    },

    async reset(): Promise<void> {
      await pendingSync?.catch(() => undefined); // the count is written again below
      digest = createDigest();
      await onDurable(0);
      syncedBytes = 0;
      await handle.truncate(0);
    },

    async suspend(): Promise<void> {
      await syncAll().finally(close);
    },

    async finish(): Promise<StagedFile> {
      try {
        await syncAll();
        if ((await handle.stat()).size !== digest.size())
          throw new ServiceError("INTERNAL", "The disk did not store all bytes of the download.");
      } finally {
        await close();
      }
      return { path, ...(await digest.finish()), dispose: () => rm(path, { force: true }) };
    },

    close,
  };
}

function rethrowFullDisk(error: unknown): never {
  if (getErrorCode(error) === "ENOSPC") throw new ServiceError("INSUFFICIENT_STORAGE", "The disk of the service is full.");
  throw error;
}

export type RemoteFile = { total?: number; validator?: string; promisedSha256?: string; fileName?: string };

type FetchOptions = {
  url: URL;
  open: SourceOpener;
  partial: PartialFile;
  remoteFile: RemoteFile;
  maxBytes: number;
  createTooLargeError: () => ServiceError | Promise<ServiceError>;
  idleMs: number;
  signal: AbortSignal;
  /** Resolves when `remoteFile` is stored. False if the bytes are not needed. */
  onRemoteFile(remoteFile: RemoteFile): Promise<boolean>;
};

export const webPageMessage =
  "The source returned a web page instead of a file. It may require a sign-in, or the URL may be that of a page about the file.";

const RETRY_DELAYS_MS = [250, 1000, 3000];
/** If a source requests a longer delay, the download fails with the source's error. */
const MAX_RETRY_DELAY_MS = 120_000;
const MAX_ATTEMPTS = 10_000;
/** Fewer bytes don't count as progress, because a source could send one byte at a time forever. */
const MIN_PROGRESS_BYTES = 1024;
/** Required within each idle timeout, because a slower source could occupy a slot forever. */
const MIN_BYTES_PER_INTERVAL = 1024;

export async function fetchFile(options: FetchOptions): Promise<RemoteFile | undefined> {
  const { partial, signal } = options;
  const state = { remoteFile: options.remoteFile, canResume: true };
  let maxBytesReached = partial.size();
  let failureCount = 0;
  for (let attempt = 1; ; attempt += 1) {
    if (state.remoteFile.total !== undefined && partial.size() === state.remoteFile.total && partial.size() > 0) return state.remoteFile;
    try {
      return (await readFromSource(options, state)) ? state.remoteFile : undefined;
    } catch (error) {
      if (signal.aborted || !isTemporary(error) || attempt >= MAX_ATTEMPTS) throw error;
      if (partial.size() >= maxBytesReached + MIN_PROGRESS_BYTES) failureCount = 0;
      maxBytesReached = Math.max(maxBytesReached, partial.size());
      const delayMs = RETRY_DELAYS_MS[failureCount];
      failureCount += 1;
      if (delayMs === undefined || getRetryAfterMs(error) > MAX_RETRY_DELAY_MS) throw error;
      await sleep(Math.max(delayMs, getRetryAfterMs(error)), undefined, { signal });
    }
  }
}

type FetchProgress = { remoteFile: RemoteFile; canResume: boolean };

async function readFromSource(options: FetchOptions, state: FetchProgress): Promise<boolean> {
  const { partial, url, open, signal, idleMs } = options;
  const size = partial.size();
  const ifRange = state.remoteFile.validator;
  const isResuming = state.canResume && size > 0 && ifRange !== undefined;
  const response = await open(url, { method: "GET", signal, idleMs, ...(isResuming && { range: `bytes=${size}-`, ifRange }) });
  try {
    const encoding = readEncoding(response.headers);
    if (encoding !== undefined)
      throw new ServiceError("UNPROCESSABLE", `The source sent the file with the encoding ${encoding}, which was not requested.`);
    if (response.status === 200 && isPage(response.headers, url)) throw new ServiceError("UNPROCESSABLE", webPageMessage);
    if (response.status === 416 && isResuming && readUnsatisfiedLength(response.headers) === size) return true;
    if (isResuming && response.status === 206 && isSameFile(response, state.remoteFile, size))
      state.remoteFile.total ??= readContentRange(response.headers)?.total;
    else {
      if (response.status !== 200) await resetForRetry(options, state, isResuming);
      if (!(await startDownload(options, state, response))) return false;
    }
    await copyBody(options, response);
  } finally {
    discardBody(response.body);
  }
  const totalBytes = (state.remoteFile.total ??= partial.size());
  if (partial.size() < totalBytes) throw createUnreachableError("The source ended before the file was complete.");
  if (partial.size() > totalBytes) throw new ServiceError("UNPROCESSABLE", "The source sent more bytes than it declared.");
  return true;
}

async function resetForRetry({ partial }: FetchOptions, state: FetchProgress, isPartRequested: boolean): Promise<never> {
  if (!isPartRequested) throw new ServiceError("UNPROCESSABLE", "The source does not return the whole file.");
  await partial.reset();
  state.remoteFile = {};
  state.canResume = false;
  throw createUnreachableError("The source returned a different range than requested.");
}

async function startDownload(options: FetchOptions, state: FetchProgress, { headers, promisedSha256 }: SourceResponse): Promise<boolean> {
  const { partial, url, maxBytes, createTooLargeError, onRemoteFile } = options;
  const [total, validator] = [readLength(headers), readValidator(headers)];
  if (total !== undefined && total > maxBytes) throw await createTooLargeError();
  if (partial.size() > 0) await partial.reset();
  state.remoteFile = {
    fileName: readFileName(headers, url),
    ...(total !== undefined && { total }),
    ...(validator !== undefined && { validator }),
    ...(promisedSha256 !== undefined && { promisedSha256 }),
  };
  return onRemoteFile(state.remoteFile);
}

async function copyBody({ partial, signal, idleMs, maxBytes, createTooLargeError }: FetchOptions, response: SourceResponse): Promise<void> {
  let previousBytes = partial.size();
  const speedTimer = setInterval(() => {
    if (partial.size() - previousBytes < MIN_BYTES_PER_INTERVAL)
      response.body.destroy(createUnreachableError("The source sends too slowly."));
    previousBytes = partial.size();
  }, idleMs);
  try {
    for await (const chunk of readChunks(response, signal)) {
      if (partial.size() + chunk.byteLength > maxBytes) throw await createTooLargeError();
      await partial.append(chunk);
    }
  } finally {
    clearInterval(speedTimer);
  }
}

function isSameFile({ headers, promisedSha256 }: SourceResponse, remoteFile: RemoteFile, offset: number): boolean {
  const range = readContentRange(headers);
  if (!range || range.start !== offset) return false;
  if (range.total !== undefined && remoteFile.total !== undefined && range.total !== remoteFile.total) return false;
  if (promisedSha256 !== undefined && remoteFile.promisedSha256 !== undefined && promisedSha256 !== remoteFile.promisedSha256) return false;
  const validator = readValidator(headers);
  const isEntityTag = (text: string | undefined) => text?.startsWith('"') === true;
  return (
    validator === undefined ||
    remoteFile.validator === undefined ||
    isEntityTag(validator) !== isEntityTag(remoteFile.validator) ||
    validator === remoteFile.validator
  );
}

/** Connection errors count as temporary. Errors of the code that processes the chunks are not changed. */
async function* readChunks({ body }: SourceResponse, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) if (chunk instanceof Uint8Array) yield chunk;
  } catch (error) {
    if (signal.aborted || isTemporary(error)) throw error;
    const isTimeout = getErrorCode(error) === "UND_ERR_BODY_TIMEOUT";
    throw createUnreachableError(isTimeout ? "The source stopped sending." : "The source ended before the file was complete.");
  }
}

function isTemporary(error: unknown): boolean {
  return getErrorCode(error) === "UPSTREAM_UNREACHABLE";
}

function getRetryAfterMs(error: unknown): number {
  const details: unknown = error instanceof Error && "details" in error ? error.details : undefined;
  return typeof details === "object" && details !== null && "retryAfterMs" in details ? Number(details.retryAfterMs) : 0;
}
