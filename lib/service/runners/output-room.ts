// How much a job on a runner may put out. A runner may send a file without end: the limits apply while it is written, not afterwards.
// Guarantees: a job takes at most half of the disk space that was free when it began, and no more than its user's quota allows.

import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { freeBytes } from "@/lib/shared/readiness";
import { quotaExceeded, refusalOf, roomFor, usedBytes } from "../assets/quota";
import { errorAround } from "../nodes/error-around";
import { type Database } from "../store/database";

const MAX_FILE_BYTES = 16 * 1024 ** 3;

export type OutputRoom = ReturnType<typeof createOutputRoom>;
type Parts = { database: Database; folder: string; label: string; maxFileBytes: number };

export function createOutputRoom({ database, folder, label, maxFileBytes }: Parts, userId: number) {
  const maxJobBytes = freeBytes(folder) / 2;
  /** Of files that are fetched and not stored yet. */
  let takenBytes = 0;

  return {
    /** The most bytes that the next file may have, and the error of the job if it has more. */
    async next(filename: string): Promise<{ bytes: number; error: () => Promise<ExecutionError> }> {
      const perFile = Math.min(maxFileBytes, MAX_FILE_BYTES);
      const ofQuota = await roomFor(database, userId, takenBytes);
      const ofDisk = maxJobBytes - takenBytes;
      const bytes = Math.max(0, Math.floor(Math.min(perFile, ofQuota, ofDisk)));
      return {
        bytes,
        error: async () => {
          const quota = database.limits.userQuotaBytes;
          if (quota !== undefined && bytes >= Math.floor(ofQuota)) return overQuota(await usedBytes(database, userId), quota);
          const limit = bytes === perFile ? `at most ${bytes} bytes are taken` : `the service's disk has no room for it`;
          return errorAround("OutputTooLarge", `${label} sent a file that is too large, ${filename}: ${limit}.`);
        },
      };
    },

    /** Counts a fetched file. Returns the error of the job if the file does not fit after all. */
    async take(file: { hash: string; size: number }): Promise<ExecutionError | undefined> {
      const refusal = await refusalOf(database, userId, file, takenBytes);
      if (refusal) return errorAround("StorageQuotaExceeded", refusal.message);
      takenBytes += file.size;
      return undefined;
    },
  };
}

function overQuota(used: number, quota: number): ExecutionError {
  return errorAround("StorageQuotaExceeded", quotaExceeded(used, quota).message);
}
