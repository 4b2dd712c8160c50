// Uploads one file: looks for its id if it may exist, hashes it, offers the hash, sends the file only if the service lacks it, compares.
// Guarantees: no byte is sent for content that the service finds by its hash; of identical files one is sent and the others wait to be
// found by hash; a file that may have arrived is looked up before it is sent again; the service's hash is compared with the one made
// here, in every case.
// Must never: change the queue itself; it reports what happens, and stops when its signal aborts.

import { type ApiFailure } from "@/lib/browser/read-failure";
import { type HashPoint } from "@/lib/browser/uploads/hash-file";
import { type HashPool } from "@/lib/browser/uploads/hash-pool";
import { isWorthHashing, type Speeds } from "@/lib/browser/uploads/upload";
import { lacksOperation } from "@/lib/contract/failure";
import { isUnsent, mayHaveStarted } from "@/lib/contract/workflow/submission";
import { type Result } from "@/lib/shared/result";
import { type About, type Changes } from "./about-form";
import { type Check, type SentWhole, type StoredAsset, type Unwritten, type UploadItem, type UploadStatus } from "./upload-item";

type Answer = Promise<Result<StoredAsset, ApiFailure>>;
export type Asking = { connection?: string; act?: string; signal: AbortSignal; onHold: (isHolding: boolean) => void };

export type UploadPorts = {
  hash: HashPool;
  byId: (id: string, asking: Asking) => Answer;
  /** Undefined: the service does not know the hash. */
  fromHash: (hash: string, file: File, about: About, asking: Asking) => Promise<Result<StoredAsset | undefined, ApiFailure>>;
  send: (upload: { id?: string; file: File; about: About }, sending: Asking & { onProgress: (share: number) => void }) => Answer;
  /** Undefined: not a picture, or not checked. */
  canBeRead: (file: File) => Promise<boolean | undefined>;
  change: (id: string, changes: Changes, asking: Asking) => Promise<Result<unknown, Unwritten>>;
  nowMs: () => number;
};

/** What earlier files showed about the connection and this browser. */
export type Learnt = {
  speeds: () => Speeds;
  measured: (what: keyof Speeds, sample: { bytes: number; ms: number }) => void;
  /** Of one connection. */
  service: { takesNoId?: boolean; hasNoFromHash?: SentWhole };
};

type Reports = {
  status: (status: UploadStatus) => void;
  know: (facts: Partial<Pick<UploadItem, "hash" | "hashedTo" | "mayBeThere" | "sentWhole">>) => void;
};

type Carrying = {
  ports: UploadPorts;
  learnt: Learnt;
  report: Reports;
  /** The same content is being sent to the same place already. */
  isBehind: (hash: string) => boolean;
  signal: AbortSignal;
};

export async function carry(item: UploadItem, { ports, learnt, report, isBehind, signal }: Carrying): Promise<UploadStatus> {
  const { file, about, connection, act } = item;
  const asking = (during: UploadStatus): Asking => ({
    connection,
    act,
    signal,
    onHold: (isHolding) => report.status(isHolding ? { kind: "holding" } : during),
  });
  let hash = item.hash;

  if (item.mayBeThere) {
    report.status({ kind: "asking" });
    const found = await ports.byId(item.id, asking({ kind: "asking" }));
    if (found.ok)
      return { kind: "done", asset: found.value, sentBytes: file.size, check: checkStored(found.value, { size: file.size, hash }) };
    if (found.failure.status !== 404) return { kind: "failed", failure: found.failure };
    report.know({ mayBeThere: false });
  }

  const whole = reasonToSend(item, learnt);
  if (whole === undefined && hash === undefined) {
    const hashed = await hashIt((share) => report.status({ kind: "hashing", share }));
    if (hashed === "unreadable") return { kind: "failed", failure: unreadable };
    hash = hashed;
  }
  if (whole === undefined && hash !== undefined) {
    if (isBehind(hash)) return { kind: "waiting", isBehind: true };
    report.status({ kind: "asking" });
    const known = await ports.fromHash(hash, file, about, asking({ kind: "asking" }));
    if (known.ok && known.value) return finished(known.value, 0, hash);
    const why = known.ok ? undefined : whyNotFromHash(known.failure);
    if (!known.ok && why === undefined) return { kind: "failed", failure: known.failure };
    if (why !== undefined) learnt.service.hasNoFromHash = why;
    report.know({ sentWhole: why });
  } else report.know({ sentWhole: whole ?? "not-hashed" });
  return sendIt();

  async function hashIt(onShare: (share: number) => void): Promise<string | "unreadable" | undefined> {
    const started = ports.nowMs();
    const from = item.hashedTo?.offset ?? 0;
    const share = (bytes: number) => (file.size === 0 ? 1 : bytes / file.size);
    onShare(share(from));
    const outcome = await ports.hash(file, { from: item.hashedTo, signal, onProgress: (bytes) => onShare(share(bytes)) });
    if (outcome.kind === "stopped") report.know({ hashedTo: outcome.at satisfies HashPoint });
    if (outcome.kind === "unreadable") return "unreadable";
    if (outcome.kind !== "hashed") return undefined;
    learnt.measured("hash", { bytes: file.size - from, ms: ports.nowMs() - started });
    report.know({ hash: outcome.hash, hashedTo: undefined });
    return outcome.hash;
  }

  async function sendIt(): Promise<UploadStatus> {
    let isSent = false;
    // If the hash was not made first, it is made during sending: what arrived is still compared.
    const late =
      hash === undefined && !signal.aborted
        ? hashIt((share) => isSent && report.status({ kind: "checking", share }))
        : Promise.resolve(hash);
    const started = ports.nowMs();
    const answer = await sendOnce(!learnt.service.takesNoId);
    if (!answer.ok) {
      const there = mayHaveArrived(answer.failure) ? await lookUp() : undefined;
      return there ?? { kind: "failed", failure: answer.failure };
    }
    learnt.measured("send", { bytes: file.size, ms: ports.nowMs() - started });
    isSent = true;
    if (hash === undefined) report.status({ kind: "checking", share: 0 });
    const ours = await late;
    return finished(answer.value, file.size, ours === "unreadable" ? undefined : ours);
  }

  /** It may have arrived anyway: the service is asked. Undefined: it has not, or cannot say, which is remembered. */
  async function lookUp(): Promise<UploadStatus | undefined> {
    report.know({ mayBeThere: true });
    if (signal.aborted || learnt.service.takesNoId) return undefined;
    report.status({ kind: "checking", share: 1 });
    const found = await ports.byId(item.id, asking({ kind: "checking", share: 1 }));
    if (found.ok) return finished(found.value, file.size, hash);
    if (found.failure.status === 404) report.know({ mayBeThere: false });
    return undefined;
  }

  async function sendOnce(withId: boolean): Answer {
    let share = 0;
    const onProgress = (now: number) => report.status({ kind: "sending", share: (share = now) });
    onProgress(0);
    const sending = {
      connection,
      act,
      signal,
      onProgress,
      onHold: (isOnHold: boolean) => report.status(isOnHold ? { kind: "holding" } : { kind: "sending", share }),
    };
    const answer = await ports.send({ file, about, ...(withId && { id: item.id }) }, sending);
    if (answer.ok || !withId || signal.aborted || answer.failure.code !== "UNSUPPORTED_FIELD") return answer;
    learnt.service.takesNoId = true;
    return sendOnce(false);
  }

  function finished(asset: StoredAsset, sentBytes: number, ours: string | undefined): UploadStatus {
    return { kind: "done", asset, sentBytes, check: checkStored(asset, { size: file.size, hash: ours }) };
  }
}

function reasonToSend({ file, hash, about }: UploadItem, { speeds, service }: Learnt): SentWhole | undefined {
  if (service.hasNoFromHash) return service.hasNoFromHash;
  if (about.tags.length === 0) return "no-tags";
  if (hash !== undefined || file.size === 0) return undefined;
  return isWorthHashing(file.size, speeds()) ? undefined : "hashing-slower";
}

/** Undefined: a refusal that sending would meet as well. */
function whyNotFromHash(failure: ApiFailure): SentWhole | undefined {
  const { status, code, message } = failure;
  if (lacksOperation(failure)) return "no-from-hash";
  // Some services say it only in words.
  return code === "INVALID_HASH" || (status === 400 && /\bhash\b/i.test(message)) ? "other-hash" : undefined;
}

function mayHaveArrived(failure: ApiFailure): boolean {
  return mayHaveStarted(failure) || (failure.status === 0 && !isUnsent(failure));
}

const unreadable: ApiFailure = { code: "FILE_UNREADABLE", message: "", status: 0 };

// Compares what the service stored with what was sent: "verified" only if the BLAKE3 hash made here came back; another size is an alarm too.

const hex = /^[0-9a-f]{64}$/;

/** `hash`: ours, as bare hexadecimal digits; undefined if there is none. */
export function checkStored(asset: StoredAsset, { size, hash }: { size: number; hash: string | undefined }): Check {
  if (asset.size !== undefined && asset.size !== size) return { kind: "differs", theirs: String(asset.size) };
  if (hash === undefined) return { kind: "unchecked", why: "not-hashed" };
  if (asset.asset_hash === undefined || asset.asset_hash === "") return { kind: "unchecked", why: "no-hash" };
  const theirs = asset.asset_hash.toLowerCase();
  const digits = theirs.startsWith("blake3:") ? theirs.slice("blake3:".length) : theirs;
  // Another algorithm, or a name that is no hash: it cannot be compared.
  if (!hex.test(digits)) return { kind: "unchecked", why: "other-hash" };
  return digits === hash ? { kind: "verified" } : { kind: "differs", theirs };
}
