// A job on a runner: attempt parameters and output limits.

import { setTimeout as sleep } from "node:timers/promises";
import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { freeBytes } from "@/lib/shared/readiness";
import { quotaExceeded, refusalOf, roomFor, usedBytes } from "../assets/quota";
import { type NodeLibrary } from "../nodes/definition";
import { errorAround, type RunEvent, type RunOutcome } from "../nodes/run";
import { type ServiceLog } from "../options";
import { type Database, whileAway } from "../store/database";
import { type QueueEntry } from "./ask-about";
import { type Attempt, openClients, writeAttempt } from "./attempts";
import { type ExchangeFailure, type RunnerTraffic } from "./speak";
import { type Input } from "./transfer";

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

export type RemoteLimits = {
  /** How long a runner may be out of reach before its job is given up as lost. */
  leaseMs: number;
  /** How long a running job may say nothing. */
  silenceMs: number;
  /** How often the runner is asked about a job; it also reports by itself. */
  pollMs: number;
  maxFileBytes: number;
};

export type RemoteParts = { database: Database; limits: RemoteLimits; now: () => number; log: ServiceLog };

export type Order = {
  jobId: string;
  attempt: Attempt;
  /** It was sent before the service started. */
  isResumed: boolean;
  runner: { id: string; label: string; address: string };
  graph: Graph;
  outputs: string[];
  nodesTotal: number;
  extraData: Record<string, unknown>;
  inputs: readonly Input[];
  library: NodeLibrary;
  outputDir: string;
  /** Whether another runner could take the job now. */
  isFreeElsewhere: () => Promise<boolean>;
  /** The runner's queue has other clients' jobs: it gets no job for a moment if another runner is free. */
  reportBusy: () => void;
  /** Whether the runner was removed. */
  isGone: () => Promise<boolean>;
  /** Records a problem with the runner. It gets no other job before it is checked or someone resumes it. */
  reportProblem: (failure: ExchangeFailure) => void;
  traffic: RunnerTraffic;
  /** Space for the job's output files. */
  outputBudget: OutputBudget;
};

/** `signal`: the attempt is no longer followed here. */
export type RemoteJob = RemoteParts & Order & { on: (event: RunEvent) => void; signal: AbortSignal };

export const stale: RunOutcome = { kind: "stale" };

/** The job is tried again, elsewhere or here. `counts`: this attempt is one of the few that it has. */
export function lost(reason: string, counts = true): RunOutcome {
  return { kind: "lost", reason, counts };
}

/** Whether `entries` of the runner's queue include other clients' jobs while another runner is free for this job. */
export async function shouldGoElsewhere(job: RemoteJob, entries: readonly QueueEntry[]): Promise<boolean> {
  if (entries.length === 0 || !(await job.isFreeElsewhere())) return false;
  const own = await openClients(job.database, job.runner.id);
  if (entries.every(({ clientId }) => clientId !== undefined && own.has(clientId))) return false;
  job.reportBusy();
  return true;
}

/** False: it is no longer the job's current attempt. */
export function write(job: RemoteJob, changes: Parameters<typeof writeAttempt>[2]): Promise<boolean> {
  return patiently(job, () => job.database.commit((tx) => writeAttempt(tx, job.attempt, changes)));
}

/** Retries while the database is away: the runner goes on with the job all the same. */
export function patiently<T>({ limits, signal }: RemoteJob, work: () => Promise<T>): Promise<T> {
  return whileAway(work, () => sleep(limits.pollMs, undefined, { signal }));
}
