// Limits the output of a job on a runner. A runner may send an endless file, so the limits apply during the download, not afterwards.
// Guarantees: a job takes at most half of the disk space that was free when it started, and no more than its user's quota allows.

import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { freeBytes } from "@/lib/shared/readiness";
import { quotaExceeded, refusalOf, roomFor, usedBytes } from "../assets/quota";
import { errorAround } from "../nodes/error-around";
import { type Database } from "../store/database";

const MAX_FILE_BYTES = 16 * 1024 ** 3;

export type OutputBudget = ReturnType<typeof createOutputBudget>;
type Parts = { database: Database; folder: string; label: string; maxFileBytes: number };

export function createOutputBudget({ database, folder, label, maxFileBytes }: Parts, userId: number) {
  const maxJobBytes = freeBytes(folder) / 2;
  /** Bytes of downloaded files that are not stored yet. */
  let takenBytes = 0;

  return {
    /** The maximum size of the next file, and the job's error if the file is larger. */
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

    /** Counts a downloaded file. Returns the job's error if the file doesn't fit after all. */
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
