import { basename } from "node:path/posix";
import { setTimeout as sleep } from "node:timers/promises";
import { type ComfyServer, createInvalidResponse, type ExchangeFailure } from "@/lib/comfyui/http";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { toFileName } from "@/lib/contract/plain-line";
import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type OutputFile } from "@/lib/contract/views/outputs-view";
import { readPictureSize } from "@/lib/shared/picture-size";
import { getFreeBytes } from "@/lib/shared/readiness";
import { failed, ok, type Result } from "@/lib/shared/result";
import { getExtension } from "../assets/media-type";
import { checkQuota, quotaExceeded, readUsedBytes, remainingQuota } from "../assets/quota";
import { type StagedFile, stageStream } from "../assets/staged-file";
import { createServiceError, type ProducedFile } from "../nodes/run";
import { toRefusal, toStorageFailure } from "../service-error";
import { groupOutputs, type NodeFile, type NodeOutputs, readOutputs } from "./read-outputs";
import { type RemoteJob } from "./remote-job";
import { type JobListener } from "./report-events";
import { replaceRemoteNames } from "./submit-to-runner";

const FILE_LIMIT_BYTES = 16 * 1024 ** 3;
const MAX_EARLY_OUTPUTS = 1000;

/** `error`: the job's error. If it is absent, the job may be retried. */
type OutputFailure = { message: string; code: string; status?: number; error?: ExecutionError };
type Fetch = (file: OutputFile) => Promise<Result<FetchedFile, OutputFailure>>;
/** One node's reported output and fetched files. Undefined if a file could not be fetched. */
type EarlyOutput = { reported: string; files: Promise<readonly StagedFile[] | undefined> };

export function fetchOutputs(job: RemoteJob, getTimes: JobListener["timesOf"]) {
  const { database, userId, limits, outputDir: folder, now, signal } = job;
  const earlyOutputs = new Map<string, EarlyOutput>();
  let lastFetch: Promise<unknown> = Promise.resolve();
  /** After a failure, the rest is fetched at the end, so that the job waits for an unreachable runner only once. */
  let isFailing = false;
  /** Prevents repeated downloads of files that exceed a limit. */
  let limitFailure: OutputFailure | undefined;
  const maxJobBytes = getFreeBytes(folder) / 2;
  let takenBytes = 0;

  const fetchOnce: Fetch = async (file) => {
    if (limitFailure) return failed(limitFailure);
    const maxPerFile = Math.min(limits.maxFileBytes, FILE_LIMIT_BYTES);
    const quotaLeft = await remainingQuota(database, userId, takenBytes);
    const maxBytes = Math.max(0, Math.floor(Math.min(maxPerFile, quotaLeft, maxJobBytes - takenBytes)));
    const fetched = await fetchOutput(job.server, file, { folder, maxBytes, now });
    if (!fetched.ok && !fetched.failure.isTooLarge) return fetched;
    const refusal = fetched.ok
      ? await checkQuota(database, userId, fetched.value, takenBytes)
      : await findQuotaRefusal(quotaLeft, maxBytes);
    if (fetched.ok && !refusal) {
      takenBytes += fetched.value.size;
      return fetched;
    }
    if (fetched.ok) await fetched.value.dispose();
    const limit = maxBytes === maxPerFile ? `at most ${maxBytes} bytes are taken` : `the service's disk has no room for it`;
    const error = refusal
      ? createServiceError("StorageQuotaExceeded", refusal.message)
      : createServiceError("OutputTooLarge", `${job.runner.label} sent a file that is too large, ${file.filename}: ${limit}.`);
    limitFailure = { code: "too_large", message: error.exception_message, error };
    return failed(limitFailure);
  };

  /** Undefined if a limit other than the user's quota applied. */
  async function findQuotaRefusal(quotaLeft: number, maxBytes: number) {
    const quota = database.limits.userQuotaBytes;
    return quota !== undefined && maxBytes >= Math.floor(quotaLeft)
      ? quotaExceeded(await readUsedBytes(database, userId), quota)
      : undefined;
  }

  /** The runner has completed the job, so a temporarily broken connection is no reason to run it again. */
  const fetchWithRetries: Fetch = async (file) => {
    const deadlineMs = now() + limits.leaseMs;
    for (;;) {
      const fetched = await fetchOnce(file);
      signal.throwIfAborted();
      if (fetched.ok || !["not_reachable", "timeout", "failing"].includes(fetched.failure.code)) return fetched;
      if (now() > deadlineMs || (await job.isGone())) return fetched;
      await sleep(Math.min(limits.pollMs, limits.leaseMs / 4), undefined, { signal });
    }
  };

  async function fetchNodeOutputs(nodeId: string, outputs: NodeOutputs, fetch: Fetch): Promise<Result<StagedFile[], OutputFailure>> {
    const staged: StagedFile[] = [];
    const files: ProducedFile[] = [];
    for (const file of outputs.files) {
      const fetched = await fetch(file);
      if (!fetched.ok) {
        for (const stagedFile of staged) await stagedFile.dispose();
        return failed(fetched.failure);
      }
      staged.push(fetched.value);
      files.push(toProducedFile(file, fetched.value));
    }
    const { texts, others } = replaceRemoteNames({ texts: outputs.texts, others: outputs.otherValues }, job.inputs);
    const times = getTimes(nodeId) ?? { startMs: now(), endMs: now(), cached: false };
    job.on({ kind: "node", nodeId, ...times, files, ...(texts && { texts }), ...(others && { others }) });
    return ok(staged);
  }

  return {
    /** Called with a node's reported output. Nodes are fetched one after the other. */
    executed(nodeId: string, output: unknown): void {
      if (earlyOutputs.has(nodeId) || earlyOutputs.size >= MAX_EARLY_OUTPUTS || isFailing || !isObject(output)) return;
      const outputs = readOutputs(new Map([[nodeId, output]])).get(nodeId) ?? { files: [] };
      const fetched = lastFetch.then(async () => {
        const result = isFailing ? undefined : await fetchNodeOutputs(nodeId, outputs, fetchOnce).catch(() => undefined);
        isFailing ||= !result?.ok;
        return result?.ok ? result.value : undefined;
      });
      lastFetch = fetched;
      earlyOutputs.set(nodeId, { reported: writeExactJson(output), files: fetched });
    },

    async rest(entry: unknown): Promise<OutputFailure | undefined> {
      const byNode = groupOutputs(entry, job.graph);
      await lastFetch;
      for (const [nodeId, outputs] of readOutputs(byNode)) {
        const earlyOutput = earlyOutputs.get(nodeId);
        const staged = await earlyOutput?.files;
        if (staged && earlyOutput?.reported === writeExactJson(byNode.get(nodeId))) continue;
        const nodeOutputsResult = await fetchNodeOutputs(nodeId, outputs, fetchWithRetries);
        if (!nodeOutputsResult.ok) return nodeOutputsResult.failure;
        for (const stagedFile of staged ?? []) await stagedFile.dispose();
      }
      return undefined;
    },
  };
}

function toProducedFile({ nodeId, key, index, filename, type, facts }: NodeFile, fetched: FetchedFile): ProducedFile {
  const { path, hash, sha256, size, mediaType, width, height } = fetched;
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

/** Short pauses are allowed. Without this limit, a runner that sends a few bytes at a time would never time out. */
const MAX_SLOW_MS = 60_000;
const MIN_BYTES_PER_MS = 16;
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
  const createFault = (reason: string): FetchFailure => createInvalidResponse(`Its file ${file.filename} ${reason}`);
  const tooLarge: FetchFailure = { ...createFault(`has more than ${maxBytes} bytes.`), isTooLarge: true };
  if (size !== undefined && size > maxBytes) {
    bytes.destroy();
    return failed(tooLarge);
  }
  const head: Uint8Array[] = [];
  let length = 0;
  let isSlow = false;
  const beganMs = now();
  async function* readChunks(source: AsyncIterable<unknown>): AsyncIterable<Uint8Array> {
    for await (const chunk of source) {
      if (!(chunk instanceof Uint8Array)) continue;
      if (length < HEAD_BYTES) head.push(chunk);
      length += chunk.byteLength;
      isSlow = now() - beganMs > MAX_SLOW_MS + length / MIN_BYTES_PER_MS;
      if (isSlow) return;
      yield chunk;
    }
  }
  try {
    const staged = await stageStream(readChunks(bytes), { folder, maxBytes });
    if (isSlow || (size !== undefined && staged.size !== size)) {
      await staged.dispose();
      return failed(
        isSlow
          ? { ...createFault("comes too slowly."), code: "timeout" }
          : createFault(`came with ${staged.size} of ${size ?? "unknown"} bytes.`),
      );
    }
    const pictureSize = staged.mediaType.startsWith("image/") ? await readPictureSize(Buffer.concat(head)) : undefined;
    return ok({ ...staged, ...pictureSize });
  } catch (error) {
    if (toRefusal(error)?.code === "FILE_TOO_LARGE") return failed(tooLarge);
    const failure = createFault(`could not be fetched: ${error instanceof Error ? error.message : "unknown"}`);
    return failed(toStorageFailure(error) ? failure : { ...failure, code: "not_reachable" });
  }
}
