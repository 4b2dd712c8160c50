import { type ErrorCode, isErrorCode } from "@/lib/contract/failure";

export class ServiceError extends Error {
  readonly code: ErrorCode;
  readonly details?: unknown;

  constructor(code: ErrorCode, message: string, details?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.details = details;
  }
}

export type ErrorBody = { code: ErrorCode; message: string; details?: unknown };

/** Returns undefined for an unexpected error. Node.js errors also have codes (ENOENT), so only known codes count. */
export function toErrorBody(error: unknown): ErrorBody | undefined {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string" || !isErrorCode(error.code)) return undefined;
  return { code: error.code, message: error.message, details: "details" in error ? error.details : undefined };
}

/** `outcome`: what happened to the request that failed. */
type StorageFailure = { code: ErrorCode; problem: string; remedy: string; outcome?: string };

const diskFull: StorageFailure = {
  code: "INSUFFICIENT_STORAGE",
  problem: "The disk of the service's data folder is full.",
  remedy: "The operator must free space on it. Then try again.",
};
const notWritable: StorageFailure = {
  code: "SERVICE_UNAVAILABLE",
  problem: "The service's data folder is not writable.",
  remedy: "The operator must make it writable. Then try again.",
};
const databaseDamaged: StorageFailure = {
  code: "SERVICE_UNAVAILABLE",
  problem: "The service's database is damaged.",
  remedy: "The operator must stop the service and restore the data folder from a backup.",
};
const diskFailing: StorageFailure = {
  code: "SERVICE_UNAVAILABLE",
  problem: "The disk of the service's data folder reported an error.",
  // The error may have been reported after all data was written.
  outcome: "This request may have been carried out: check before you send it again.",
  remedy: "See the service's log for the cause.",
};
const serviceOverloaded: StorageFailure = {
  code: "SERVICE_UNAVAILABLE",
  problem: "The service has too many open files, or is waiting for its database.",
  remedy: "Try again in a while.",
};

const objectStoreUnavailable: StorageFailure = {
  code: "SERVICE_UNAVAILABLE",
  problem: "The service's object store is unavailable or returned an error.",
  remedy: "Try again in a while. See the service's log for the cause.",
};

const databaseUnavailable: StorageFailure = {
  code: "SERVICE_UNAVAILABLE",
  problem: "The service's database is unavailable.",
  // The lost response may be that of the final commit.
  outcome: "This request may have been carried out: check before you send it again.",
  remedy: "Try again in a while. See the service's log for the cause.",
};

/** The code of object store errors, which are outages, never missing files. */
export const OBJECT_STORE_FAILED = "OBJECT_STORE_FAILED";

const failuresByCode: readonly (readonly [RegExp, StorageFailure])[] = [
  [/^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL)$/, diskFull],
  [/^(EROFS|EACCES|EPERM|SQLITE_READONLY.*|SQLITE_CANTOPEN.*)$/, notWritable],
  [/^(SQLITE_CORRUPT.*|SQLITE_NOTADB)$/, databaseDamaged],
  [new RegExp(`^${OBJECT_STORE_FAILED}$`), objectStoreUnavailable],
  [/^STORE_AWAY$/, databaseUnavailable],
  [/^(EIO|SQLITE_IOERR.*)$/, diskFailing],
  [/^(EMFILE|ENFILE|SQLITE_BUSY.*)$/, serviceOverloaded],
];

function findStorageFailure(error: unknown): StorageFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  const code = "code" in error ? String(error.code) : "";
  // The image library reports a full disk only in its message.
  if (code === "" && /No space left on device|File too large|Disk quota exceeded/i.test(error.message)) return diskFull;
  return failuresByCode.find(([pattern]) => pattern.test(code))?.[1];
}

/** Returns undefined for an error that is unrelated to the disk and the database. */
export function toStorageFailure(error: unknown): ErrorBody | undefined {
  const failure = findStorageFailure(error);
  if (!failure) return undefined;
  const { code, problem, outcome = "Nothing from this request was stored.", remedy } = failure;
  return { code, message: `${problem} ${outcome} ${remedy}` };
}

/** Explains a storage error at startup, with the folder and the cause. Returns other errors unchanged. */
export function toStartupError(error: unknown, dataDir: string): unknown {
  const failure = findStorageFailure(error);
  if (!failure || !(error instanceof Error)) return error;
  if (failure === databaseUnavailable) return new Error(`${failure.problem} ${failure.remedy}`, { cause: error });
  const message =
    failure === notWritable
      ? `LIGHTDESK_DATA_DIR must be a writable folder (${dataDir}: ${error.message}).`
      : `The data folder ${dataDir} cannot be used. ${failure.problem} ${failure.remedy} (${error.message})`;
  return new Error(message, { cause: error });
}

export function toStorageException(error: unknown): { type: string; message: string } | undefined {
  const failure = findStorageFailure(error);
  if (!failure) return undefined;
  const type = failure.code === "INSUFFICIENT_STORAGE" ? "InsufficientStorage" : "StorageUnavailable";
  return { type, message: `${failure.problem} ${failure.remedy}` };
}
