// Uploads one file: hashes it, offers the hash, sends the file only if the service lacks it, and verifies the stored hash.
// Guarantees: sends no bytes of content that the service finds by its hash. Of identical files only one is sent; the others wait to be found by
// hash. A file that may have arrived is looked up before it is sent again. Stops when its signal aborts.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { type HashPoint } from "@/lib/browser/uploads/hash-file";
import { type HashPool } from "@/lib/browser/uploads/offer-hash";
import { isWorthHashing, type Speeds } from "@/lib/browser/uploads/upload";
import { isMissingOperation } from "@/lib/contract/failure";
import { couldHaveStarted, isUnsent } from "@/lib/contract/workflow/submission";
import { type Result } from "@/lib/shared/result";
import { type AssetFields, type FieldChanges } from "./asset-fields-form";
import { type Check, type FieldsFailure, type SentWhole, type StoredAsset, type UploadItem, type UploadStatus } from "./upload-item";

type AssetResult = Promise<Result<StoredAsset, ApiFailure>>;
export type RequestOptions = { connection?: string; action?: string; signal: AbortSignal; onHold: (isHolding: boolean) => void };

export type UploadPorts = {
  hash: HashPool;
  byId: (id: string, requestOptions: RequestOptions) => AssetResult;
  /** Returns undefined if the service doesn't have the hash. */
  fromHash: (
    hash: string,
    file: File,
    assetFields: AssetFields,
    requestOptions: RequestOptions,
  ) => Promise<Result<StoredAsset | undefined, ApiFailure>>;
  send: (
    upload: { id?: string; file: File; assetFields: AssetFields },
    sending: RequestOptions & { onProgress: (share: number) => void },
  ) => AssetResult;
  /** Returns undefined if the file is not a picture or was not checked. */
  canBeRead: (file: File) => Promise<boolean | undefined>;
  change: (id: string, changes: FieldChanges, requestOptions: RequestOptions) => Promise<Result<unknown, FieldsFailure>>;
  nowMs: () => number;
};

/** What earlier uploads revealed about the service and this browser. */
export type UploadConditions = {
  speeds: () => Speeds;
  measured: (speed: keyof Speeds, sample: { bytes: number; ms: number }) => void;
  /** Facts about the connection's service. */
  service: { takesNoId?: boolean; hasNoFromHash?: SentWhole };
};

type Reports = {
  status: (status: UploadStatus) => void;
  remember: (facts: Partial<Pick<UploadItem, "hash" | "hashedTo" | "mayBeStored" | "sentWhole">>) => void;
};

type UploadContext = {
  ports: UploadPorts;
  conditions: UploadConditions;
  report: Reports;
  /** Whether the same content is already being sent to the same connection. */
  isBehind: (hash: string) => boolean;
  signal: AbortSignal;
};

export async function uploadFile(item: UploadItem, { ports, conditions, report, isBehind, signal }: UploadContext): Promise<UploadStatus> {
  const { file, assetFields, connection, action } = item;
  const requestOptions = (during: UploadStatus): RequestOptions => ({
    connection,
    action,
    signal,
    onHold: (isHolding) => report.status(isHolding ? { kind: "holding" } : during),
  });
  let hash = item.hash;

  if (item.mayBeStored) {
    report.status({ kind: "asking" });
    const result = await ports.byId(item.id, requestOptions({ kind: "asking" }));
    if (result.ok)
      return { kind: "done", asset: result.value, sentBytes: file.size, check: checkStored(result.value, { size: file.size, hash }) };
    if (result.failure.status !== 404) return { kind: "failed", failure: result.failure };
    report.remember({ mayBeStored: false });
  }

  const skipHashReason = findSkipHashReason(item, conditions);
  if (skipHashReason === undefined && hash === undefined) {
    const hashed = await hashFile((share) => report.status({ kind: "hashing", share }));
    if (hashed === "unreadable") return { kind: "failed", failure: unreadable };
    hash = hashed;
  }
  if (skipHashReason === undefined && hash !== undefined) {
    if (isBehind(hash)) return { kind: "waiting", isBehind: true };
    report.status({ kind: "asking" });
    const existing = await ports.fromHash(hash, file, assetFields, requestOptions({ kind: "asking" }));
    if (existing.ok && existing.value) return toDone(existing.value, 0, hash);
    const reason = existing.ok ? undefined : toSkipHashReason(existing.failure);
    if (!existing.ok && reason === undefined) return { kind: "failed", failure: existing.failure };
    if (reason !== undefined) conditions.service.hasNoFromHash = reason;
    report.remember({ sentWhole: reason });
  } else report.remember({ sentWhole: skipHashReason ?? "not-hashed" });
  return sendFile();

  async function hashFile(onShare: (share: number) => void): Promise<string | "unreadable" | undefined> {
    const started = ports.nowMs();
    const from = item.hashedTo?.offset ?? 0;
    const share = (bytes: number) => (file.size === 0 ? 1 : bytes / file.size);
    onShare(share(from));
    const outcome = await ports.hash(file, { from: item.hashedTo, signal, onProgress: (bytes) => onShare(share(bytes)) });
    if (outcome.kind === "stopped") report.remember({ hashedTo: outcome.at satisfies HashPoint });
    if (outcome.kind === "unreadable") return "unreadable";
    if (outcome.kind !== "hashed") return undefined;
    conditions.measured("hash", { bytes: file.size - from, ms: ports.nowMs() - started });
    report.remember({ hash: outcome.hash, hashedTo: undefined });
    return outcome.hash;
  }

  async function sendFile(): Promise<UploadStatus> {
    let isSent = false;
    // If the hash wasn't computed first, it is computed during sending and compared.
    const hashPromise =
      hash === undefined && !signal.aborted
        ? hashFile((share) => isSent && report.status({ kind: "checking", share }))
        : Promise.resolve(hash);
    const started = ports.nowMs();
    const result = await sendOnce(!conditions.service.takesNoId);
    if (!result.ok) {
      const existingStatus = mayHaveArrived(result.failure) ? await lookUp() : undefined;
      return existingStatus ?? { kind: "failed", failure: result.failure };
    }
    conditions.measured("send", { bytes: file.size, ms: ports.nowMs() - started });
    isSent = true;
    if (hash === undefined) report.status({ kind: "checking", share: 0 });
    const localHash = await hashPromise;
    return toDone(result.value, file.size, localHash === "unreadable" ? undefined : localHash);
  }

  /** Looks up a file that may have arrived. Undefined if it hasn't, or if the service can't look it up, which is stored. */
  async function lookUp(): Promise<UploadStatus | undefined> {
    report.remember({ mayBeStored: true });
    if (signal.aborted || conditions.service.takesNoId) return undefined;
    report.status({ kind: "checking", share: 1 });
    const existing = await ports.byId(item.id, requestOptions({ kind: "checking", share: 1 }));
    if (existing.ok) return toDone(existing.value, file.size, hash);
    if (existing.failure.status === 404) report.remember({ mayBeStored: false });
    return undefined;
  }

  async function sendOnce(withId: boolean): AssetResult {
    let share = 0;
    const onProgress = (now: number) => report.status({ kind: "sending", share: (share = now) });
    onProgress(0);
    const sending = {
      connection,
      action,
      signal,
      onProgress,
      onHold: (isOnHold: boolean) => report.status(isOnHold ? { kind: "holding" } : { kind: "sending", share }),
    };
    const result = await ports.send({ file, assetFields, ...(withId && { id: item.id }) }, sending);
    if (result.ok || !withId || signal.aborted || result.failure.code !== "UNSUPPORTED_FIELD") return result;
    conditions.service.takesNoId = true;
    return sendOnce(false);
  }

  function toDone(asset: StoredAsset, sentBytes: number, localHash: string | undefined): UploadStatus {
    return { kind: "done", asset, sentBytes, check: checkStored(asset, { size: file.size, hash: localHash }) };
  }
}

function findSkipHashReason({ file, hash, assetFields }: UploadItem, { speeds, service }: UploadConditions): SentWhole | undefined {
  if (service.hasNoFromHash) return service.hasNoFromHash;
  if (assetFields.tags.length === 0) return "no-tags";
  if (hash !== undefined || file.size === 0) return undefined;
  return isWorthHashing(file.size, speeds()) ? undefined : "hashing-slower";
}

/** Why to send the file after a failed hash offer; undefined if sending would fail as well. */
function toSkipHashReason(failure: ApiFailure): SentWhole | undefined {
  const { status, code, message } = failure;
  if (isMissingOperation(failure)) return "no-from-hash";
  // Some services name the hash only in the message.
  return code === "INVALID_HASH" || (status === 400 && /\bhash\b/i.test(message)) ? "other-hash" : undefined;
}

function mayHaveArrived(failure: ApiFailure): boolean {
  return couldHaveStarted(failure) || (failure.status === 0 && !isUnsent(failure));
}

const unreadable: ApiFailure = { code: "FILE_UNREADABLE", message: "", status: 0 };

// Compares the stored file with the sent one: "verified" only if the BLAKE3 hashes match. A different size is an alarm too.

const hexPattern = /^[0-9a-f]{64}$/;

/** `hash`: the local hash in hexadecimal; undefined if there is none. */
export function checkStored(asset: StoredAsset, { size, hash }: { size: number; hash: string | undefined }): Check {
  if (asset.size !== undefined && asset.size !== size) return { kind: "differs", serverHash: String(asset.size) };
  if (hash === undefined) return { kind: "unchecked", why: "not-hashed" };
  if (asset.asset_hash === undefined || asset.asset_hash === "") return { kind: "unchecked", why: "no-hash" };
  const serverHash = asset.asset_hash.toLowerCase();
  const digits = serverHash.startsWith("blake3:") ? serverHash.slice("blake3:".length) : serverHash;
  // Another algorithm, or not a hash, can't be compared.
  if (!hexPattern.test(digits)) return { kind: "unchecked", why: "other-hash" };
  return digits === hash ? { kind: "verified" } : { kind: "differs", serverHash };
}
