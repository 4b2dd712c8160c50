import { basename } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import { type ComfyServer, createInvalidResponseFailure, type ExchangeFailure, MIN_BYTES_PER_MS } from "@/lib/comfyui/http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { toFileName } from "@/lib/contract/plain-line";
import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { readImageSize } from "@/lib/shared/image-size";
import { getFreeBytes } from "@/lib/shared/readiness";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getExtension } from "../assets/media-type";
import { checkQuota, createQuotaExceededError, getRemainingQuota, readUsedBytes } from "../assets/quota";
import { type StagedFile, stageStream } from "../assets/staged-file";
import { createServiceError, type ProducedFile } from "../nodes/run";
import { toErrorBody, toStorageFailure } from "../service-error";
import { groupOutputs, type NodeFile, type NodeOutputs, readOutputs } from "./read-outputs";
import { type RemoteJob } from "./remote-job";
import { type JobListener } from "./report-events";
import { replaceRemoteNames } from "./submit-to-runner";

const MAX_FILE_BYTES = 16 * 1024 ** 3;
const MAX_EARLY_OUTPUTS = 1000;

/** `error`: the job's error. If it is absent, the job may be retried. */
type OutputFailure = { message: string; code: string; status?: number; error?: ExecutionError };
type Fetch = (file: OutputFile) => Promise<Result<FetchedFile, OutputFailure>>;
/** One node's reported output and fetched files. `files` resolves to undefined if a file could not be fetched. */
type EarlyOutput = { reportedJson: string; files: Promise<readonly StagedFile[] | undefined> };

export function createOutputFetcher(job: RemoteJob, getTimes: JobListener["findTimes"]) {
  const { database, userId, limits, outputDir: folder, now, signal } = job;
  const earlyOutputs = new Map<string, EarlyOutput>();
  let lastFetch: Promise<unknown> = Promise.resolve();
  /** After a failure, the remaining outputs are fetched at the end, so that the job waits for an unreachable runner only once. */
  let hasFailed = false;
  /** Prevents repeated downloads of files that exceed a limit. */
  let limitFailure: OutputFailure | undefined;
  const maxJobBytes = getFreeBytes(folder) / 2;
  let fetchedBytes = 0;

  const fetchOnce: Fetch = async (file) => {
    if (limitFailure) return failed(limitFailure);
    const maxPerFile = Math.min(limits.maxFileBytes, MAX_FILE_BYTES);
    const remainingBytes = await getRemainingQuota(database, userId, fetchedBytes);
    const maxBytes = Math.max(0, Math.floor(Math.min(maxPerFile, remainingBytes, maxJobBytes - fetchedBytes)));
    const result = await fetchOutput(job.server, file, { folder, maxBytes, now });
    if (!result.ok && !result.failure.isTooLarge) return result;
    const quotaError = result.ok
      ? await checkQuota(database, userId, result.value, fetchedBytes)
      : await findQuotaError(remainingBytes, maxBytes);
    if (result.ok && !quotaError) {
      fetchedBytes += result.value.size;
      return result;
    }
    if (result.ok) await result.value.dispose();
    const limit = maxBytes === maxPerFile ? `at most ${maxBytes} bytes are allowed` : `the service's disk is too full for it`;
    const error = quotaError
      ? createServiceError("StorageQuotaExceeded", quotaError.message)
      : createServiceError("OutputTooLarge", `${job.runner.label} sent a file that is too large, ${file.filename}: ${limit}.`);
    limitFailure = { code: "too_large", message: error.exception_message, error };
    return failed(limitFailure);
  };

  /** Returns undefined if a limit other than the user's quota applied. */
  async function findQuotaError(remainingBytes: number, maxBytes: number) {
    const quota = database.limits.userQuotaBytes;
    return quota !== undefined && maxBytes >= Math.floor(remainingBytes)
      ? createQuotaExceededError(await readUsedBytes(database, userId), quota)
      : undefined;
  }

  /** Retries while the connection is broken, because the runner has already completed the job. */
  const fetchWithRetries: Fetch = async (file) => {
    const deadlineMs = now() + limits.leaseMs;
    for (;;) {
      const result = await fetchOnce(file);
      signal.throwIfAborted();
      if (result.ok || !["not_reachable", "timeout", "failing"].includes(result.failure.code)) return result;
      if (now() > deadlineMs || (await job.isRunnerDeleted())) return result;
      await sleep(Math.min(limits.pollMs, limits.leaseMs / 4), undefined, { signal });
    }
  };

  async function fetchNodeOutputs(nodeId: string, outputs: NodeOutputs, fetch: Fetch): Promise<Result<StagedFile[], OutputFailure>> {
    const stagedFiles: StagedFile[] = [];
    const files: ProducedFile[] = [];
    for (const file of outputs.files) {
      const result = await fetch(file);
      if (!result.ok) {
        for (const stagedFile of stagedFiles) await stagedFile.dispose();
        return failed(result.failure);
      }
      stagedFiles.push(result.value);
      files.push(toProducedFile(file, result.value));
    }
    const { texts, others } = replaceRemoteNames({ texts: outputs.texts, others: outputs.otherValues }, job.inputs);
    const times = getTimes(nodeId) ?? { startMs: now(), endMs: now(), cached: false };
    job.onEvent({ kind: "node", nodeId, ...times, files, ...(texts && { texts }), ...(others && { others }) });
    return ok(stagedFiles);
  }

  return {
    /** Called with a node's reported output. Nodes are fetched one after the other. */
    handleExecuted(nodeId: string, output: unknown): void {
      if (earlyOutputs.has(nodeId) || earlyOutputs.size >= MAX_EARLY_OUTPUTS || hasFailed || !isObject(output)) return;
      const outputs = readOutputs(new Map([[nodeId, output]])).get(nodeId) ?? { files: [] };
      const filesPromise = lastFetch.then(async () => {
        const result = hasFailed ? undefined : await fetchNodeOutputs(nodeId, outputs, fetchOnce).catch(() => undefined);
        hasFailed ||= !result?.ok;
        return result?.ok ? result.value : undefined;
      });
      lastFetch = filesPromise;
      earlyOutputs.set(nodeId, { reportedJson: writeExactJson(output), files: filesPromise });
    },

    async fetchRemaining(entry: unknown): Promise<OutputFailure | undefined> {
      const outputsByNode = groupOutputs(entry, job.graph);
      await lastFetch;
      for (const [nodeId, outputs] of readOutputs(outputsByNode)) {
        const earlyOutput = earlyOutputs.get(nodeId);
        const stagedFiles = await earlyOutput?.files;
        if (stagedFiles && earlyOutput?.reportedJson === writeExactJson(outputsByNode.get(nodeId))) continue;
        const nodeOutputsResult = await fetchNodeOutputs(nodeId, outputs, fetchWithRetries);
        if (!nodeOutputsResult.ok) return nodeOutputsResult.failure;
        for (const stagedFile of stagedFiles ?? []) await stagedFile.dispose();
      }
      return undefined;
    },
  };
}

function toProducedFile({ nodeId, key, index, filename, type, facts }: NodeFile, fetchedFile: FetchedFile): ProducedFile {
  const { path, hash, sha256, size, mediaType, width, height } = fetchedFile;
  const displayName = toFileName(basename(filename.replaceAll("\\", "/"))).slice(0, 200);
  return {
    nodeId,
    key,
    index,
    path,
    displayName,
    type: type === "temp" ? "temp" : "output",
    hash,
    sha256,
    byteLength: size,
    mimeType: mediaType,
    extension: getExtension(mediaType, displayName),
    ...(width !== undefined && height !== undefined && { width, height }),
    facts,
  };
}

/** How long a download may be slower than `MIN_BYTES_PER_MS`. Without a limit, a slow trickle of bytes would never time out. */
const MAX_SLOW_MS = 60_000;
const HEAD_BYTES = 64 * 1024;

type FetchedFile = StagedFile & { width?: number; height?: number };
type FetchFailure = ExchangeFailure & { isTooLarge?: true };
type FetchOptions = { folder: string; maxBytes: number; now: () => number };

/** Rejects truncated files. Leaves nothing on disk after a failure. */
export async function fetchOutput(
  server: Pick<ComfyServer, "open">,
  file: OutputFile,
  { folder, maxBytes, now }: FetchOptions,
): Promise<Result<FetchedFile, FetchFailure>> {
  const result = await server.open(file);
  if (!result.ok) return result;
  const { bytes, size } = result.value;
  const createFileFailure = (reason: string): FetchFailure => createInvalidResponseFailure(`Its file ${file.filename} ${reason}`);
  const tooLargeFailure: FetchFailure = { ...createFileFailure(`has more than ${maxBytes} bytes.`), isTooLarge: true };
  if (size !== undefined && size > maxBytes) {
    bytes.destroy();
    return failed(tooLargeFailure);
  }
  const head: Uint8Array[] = [];
  let receivedBytes = 0;
  let isSlow = false;
  const startMs = now();
  async function* readChunks(source: AsyncIterable<unknown>): AsyncIterable<Uint8Array> {
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array)) continue;
      if (receivedBytes < HEAD_BYTES) head.push(chunk);
      receivedBytes += chunk.byteLength;
      isSlow = now() - startMs > MAX_SLOW_MS + receivedBytes / MIN_BYTES_PER_MS;
      if (isSlow) return;
      yield chunk;
    }
  }
  try {
    const stagedFile = await stageStream(readChunks(bytes), { folder, maxBytes });
    if (isSlow || (size !== undefined && stagedFile.size !== size)) {
      await stagedFile.dispose();
      return failed(
        isSlow
          ? { ...createFileFailure("is sent too slowly."), code: "timeout" }
          : createFileFailure(`has only ${stagedFile.size} of ${size ?? "unknown"} bytes.`),
      );
    }
    const imageSize = stagedFile.mediaType.startsWith("image/") ? await readImageSize(Buffer.concat(head)) : undefined;
    return ok({ ...stagedFile, ...imageSize });
  } catch (error) {
    if (toErrorBody(error)?.code === "FILE_TOO_LARGE") return failed(tooLargeFailure);
    const failure = createFileFailure(`could not be fetched: ${error instanceof Error ? error.message : "unknown"}`);
    return failed(toStorageFailure(error) ? failure : { ...failure, code: "not_reachable" });
  }
}
