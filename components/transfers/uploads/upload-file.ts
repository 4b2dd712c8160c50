// Uploads one file: hashes it, offers the hash, sends the file only if the service lacks it, and verifies the stored hash.
// Never sends content that the service finds by its hash. If several files are identical, only one is sent and the others wait for it. A file
// that may already be stored is looked up before it is sent again. Stops when its signal aborts.

import { type ApiFailure } from "@/lib/browser/api-failure";
import { type HashPool } from "@/lib/browser/uploads/asset-from-hash";
import { type HashCheckpoint } from "@/lib/browser/uploads/hash-file";
import { isWorthHashing, type Speeds } from "@/lib/browser/uploads/upload";
import { isMissingOperation } from "@/lib/contract/failure";
import { couldHaveStarted, isUnsent } from "@/lib/contract/workflow/submission";
import { type Result } from "@/lib/shared/result";
import { type AssetFields, type FieldChanges } from "./asset-fields-form";
import {
  type FieldsFailure,
  type SkipHashReason,
  type StoredAsset,
  type StoredFileCheck,
  type UploadItem,
  type UploadStatus,
} from "./upload-item";

type AssetResult = Promise<Result<StoredAsset, ApiFailure>>;
export type RequestOptions = { connection?: string; action?: string; signal: AbortSignal; onHold: (isHolding: boolean) => void };

export type UploadDependencies = {
  hash: HashPool;
  findById: (id: string, requestOptions: RequestOptions) => AssetResult;
  /** Returns undefined if the service doesn't have the hash. */
  createFromHash: (
    hash: string,
    file: File,
    assetFields: AssetFields,
    requestOptions: RequestOptions,
  ) => Promise<Result<StoredAsset | undefined, ApiFailure>>;
  send: (
    upload: { id?: string; file: File; assetFields: AssetFields },
    sendOptions: RequestOptions & { onProgress: (share: number) => void },
  ) => AssetResult;
  /** Returns undefined if the file is not an image or was not checked. */
  isReadablePicture: (file: File) => Promise<boolean | undefined>;
  saveChanges: (id: string, changes: FieldChanges, requestOptions: RequestOptions) => Promise<Result<unknown, FieldsFailure>>;
  nowMs: () => number;
};

/** Speeds and limits learned from earlier uploads. */
export type UploadConditions = {
  getSpeeds: () => Speeds;
  recordSpeed: (speed: keyof Speeds, sample: { bytes: number; ms: number }) => void;
  /** Limits of the connection's service. */
  service: { rejectsIds?: boolean; fromHashProblem?: SkipHashReason };
};

type UploadReporter = {
  status: (status: UploadStatus) => void;
  updateItem: (facts: Partial<Pick<UploadItem, "hash" | "hashCheckpoint" | "mayBeStored" | "skipHashReason">>) => void;
};

type UploadContext = {
  dependencies: UploadDependencies;
  conditions: UploadConditions;
  report: UploadReporter;
  /** Whether the same content is already being sent to the same connection. */
  isDuplicateInProgress: (hash: string) => boolean;
  signal: AbortSignal;
};

export async function uploadFile(
  item: UploadItem,
  { dependencies, conditions, report, isDuplicateInProgress, signal }: UploadContext,
): Promise<UploadStatus> {
  const { file, assetFields, connection, action } = item;
  const createRequestOptions = (status: UploadStatus): RequestOptions => ({
    connection,
    action,
    signal,
    onHold: (isHolding) => report.status(isHolding ? { kind: "holding" } : status),
  });
  let hash = item.hash;

  if (item.mayBeStored) {
    report.status({ kind: "asking" });
    const result = await dependencies.findById(item.id, createRequestOptions({ kind: "asking" }));
    if (result.ok)
      return { kind: "done", asset: result.value, sentBytes: file.size, check: compareStoredFile(result.value, { size: file.size, hash }) };
    if (result.failure.status !== 404) return { kind: "failed", failure: result.failure };
    report.updateItem({ mayBeStored: false });
  }

  const skipHashReason = findSkipHashReason(item, conditions);
  if (skipHashReason === undefined && hash === undefined) {
    const hashResult = await hashFile((share) => report.status({ kind: "hashing", share }));
    if (hashResult === "unreadable") return { kind: "failed", failure: unreadableFailure };
    hash = hashResult;
  }
  if (skipHashReason === undefined && hash !== undefined) {
    if (isDuplicateInProgress(hash)) return { kind: "waiting", isDuplicate: true };
    report.status({ kind: "asking" });
    const existingResult = await dependencies.createFromHash(hash, file, assetFields, createRequestOptions({ kind: "asking" }));
    if (existingResult.ok && existingResult.value) return toDoneStatus(existingResult.value, 0, hash);
    const reason = existingResult.ok ? undefined : toSkipHashReason(existingResult.failure);
    if (!existingResult.ok && reason === undefined) return { kind: "failed", failure: existingResult.failure };
    if (reason !== undefined) conditions.service.fromHashProblem = reason;
    report.updateItem({ skipHashReason: reason });
  } else report.updateItem({ skipHashReason: skipHashReason ?? "not-hashed" });
  return sendFile();

  async function hashFile(onShare: (share: number) => void): Promise<string | "unreadable" | undefined> {
    const startedAtMs = dependencies.nowMs();
    const startOffset = item.hashCheckpoint?.offset ?? 0;
    const toShare = (bytes: number) => (file.size === 0 ? 1 : bytes / file.size);
    onShare(toShare(startOffset));
    const outcome = await dependencies.hash(file, { from: item.hashCheckpoint, signal, onProgress: (bytes) => onShare(toShare(bytes)) });
    if (outcome.kind === "stopped") report.updateItem({ hashCheckpoint: outcome.at satisfies HashCheckpoint });
    if (outcome.kind === "unreadable") return "unreadable";
    if (outcome.kind !== "hashed") return undefined;
    conditions.recordSpeed("hash", { bytes: file.size - startOffset, ms: dependencies.nowMs() - startedAtMs });
    report.updateItem({ hash: outcome.hash, hashCheckpoint: undefined });
    return outcome.hash;
  }

  async function sendFile(): Promise<UploadStatus> {
    let isSent = false;
    // If the hash wasn't computed first, it is computed while sending.
    const hashPromise =
      hash === undefined && !signal.aborted
        ? hashFile((share) => isSent && report.status({ kind: "checking", share }))
        : Promise.resolve(hash);
    const startedAtMs = dependencies.nowMs();
    const result = await sendOnce(!conditions.service.rejectsIds);
    if (!result.ok) {
      const existingStatus = mayHaveArrived(result.failure) ? await findStoredFile() : undefined;
      return existingStatus ?? { kind: "failed", failure: result.failure };
    }
    conditions.recordSpeed("send", { bytes: file.size, ms: dependencies.nowMs() - startedAtMs });
    isSent = true;
    if (hash === undefined) report.status({ kind: "checking", share: 0 });
    const localHash = await hashPromise;
    return toDoneStatus(result.value, file.size, localHash === "unreadable" ? undefined : localHash);
  }

  /** Looks up a file that may already be stored. Returns undefined if it isn't, or if the service can't look it up. */
  async function findStoredFile(): Promise<UploadStatus | undefined> {
    report.updateItem({ mayBeStored: true });
    if (signal.aborted || conditions.service.rejectsIds) return undefined;
    report.status({ kind: "checking", share: 1 });
    const existingResult = await dependencies.findById(item.id, createRequestOptions({ kind: "checking", share: 1 }));
    if (existingResult.ok) return toDoneStatus(existingResult.value, file.size, hash);
    if (existingResult.failure.status === 404) report.updateItem({ mayBeStored: false });
    return undefined;
  }

  async function sendOnce(includesId: boolean): AssetResult {
    let share = 0;
    const onProgress = (newShare: number) => report.status({ kind: "sending", share: (share = newShare) });
    onProgress(0);
    const sendOptions = {
      connection,
      action,
      signal,
      onProgress,
      onHold: (isHolding: boolean) => report.status(isHolding ? { kind: "holding" } : { kind: "sending", share }),
    };
    const result = await dependencies.send({ file, assetFields, ...(includesId && { id: item.id }) }, sendOptions);
    if (result.ok || !includesId || signal.aborted || result.failure.code !== "UNSUPPORTED_FIELD") return result;
    conditions.service.rejectsIds = true;
    return sendOnce(false);
  }

  function toDoneStatus(asset: StoredAsset, sentBytes: number, localHash: string | undefined): UploadStatus {
    return { kind: "done", asset, sentBytes, check: compareStoredFile(asset, { size: file.size, hash: localHash }) };
  }
}

function findSkipHashReason({ file, hash, assetFields }: UploadItem, { getSpeeds, service }: UploadConditions): SkipHashReason | undefined {
  if (service.fromHashProblem) return service.fromHashProblem;
  if (assetFields.tags.length === 0) return "no-tags";
  if (hash !== undefined || file.size === 0) return undefined;
  return isWorthHashing(file.size, getSpeeds()) ? undefined : "hashing-slower";
}

/** Returns why to send the file after a failed hash offer, or undefined if sending would fail as well. */
function toSkipHashReason(failure: ApiFailure): SkipHashReason | undefined {
  const { status, code, message } = failure;
  if (isMissingOperation(failure)) return "no-from-hash";
  // Some services name the hash only in the message.
  return code === "INVALID_HASH" || (status === 400 && /\bhash\b/i.test(message)) ? "other-hash" : undefined;
}

function mayHaveArrived(failure: ApiFailure): boolean {
  return couldHaveStarted(failure) || (failure.status === 0 && !isUnsent(failure));
}

const unreadableFailure: ApiFailure = { code: "FILE_UNREADABLE", message: "", status: 0 };

// Compares the stored file with the sent one. It is verified only if the BLAKE3 hashes match. A different size is a mismatch too.

const hexPattern = /^[0-9a-f]{64}$/;

/** `hash`: the local hash in hexadecimal; undefined if there is none. */
export function compareStoredFile(asset: StoredAsset, { size, hash }: { size: number; hash: string | undefined }): StoredFileCheck {
  if (asset.size !== undefined && asset.size !== size) return { kind: "differs", serverHash: String(asset.size) };
  if (hash === undefined) return { kind: "unchecked", why: "not-hashed" };
  if (asset.asset_hash === undefined || asset.asset_hash === "") return { kind: "unchecked", why: "no-hash" };
  const serverHash = asset.asset_hash.toLowerCase();
  const hexDigits = serverHash.startsWith("blake3:") ? serverHash.slice("blake3:".length) : serverHash;
  // Hashes of other algorithms can't be compared.
  if (!hexPattern.test(hexDigits)) return { kind: "unchecked", why: "other-hash" };
  return hexDigits === hash ? { kind: "verified" } : { kind: "differs", serverHash };
}
