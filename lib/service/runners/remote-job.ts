import { setTimeout as sleep } from "node:timers/promises";
import { clientOf, type QueueItem, removeFromServer } from "@/lib/comfyui/client";
import { type ComfyServer, comfyServer, type ExchangeFailure } from "@/lib/comfyui/http";
import { type Traffic } from "@/lib/comfyui/socket";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type NodeLibrary } from "../nodes/definition";
import { type RunEvent, type RunOutcome } from "../nodes/run";
import { type ServiceLog } from "../options";
import { type Database, whileAway } from "../store/database";
import { type Attempt, openClients, writeAttempt } from "./attempts";

export type RemoteLimits = {
  leaseMs: number;
  silenceMs: number;
  /** How often the runner is asked about a job; it also reports by itself. */
  pollMs: number;
  maxFileBytes: number;
};

export type RemoteParts = { database: Database; limits: RemoteLimits; now: () => number; log: ServiceLog };

/** `name`: the name in the graph, possibly with an annotation such as " [output]". */
export type Input = { name: string; hash: string; mediaType: string; size: number; path: string };

export type Order = {
  jobId: string;
  userId: number;
  attempt: Attempt;
  isResumed: boolean;
  runner: { id: string; label: string; address: string };
  graph: Graph;
  outputs: string[];
  nodesTotal: number;
  extraData: Record<string, unknown>;
  inputs: readonly Input[];
  library: NodeLibrary;
  outputDir: string;
  isFreeElsewhere: () => Promise<boolean>;
  /** The runner's queue has other clients' jobs: it gets no job for a moment if another runner is free. */
  reportBusy: () => void;
  isGone: () => Promise<boolean>;
  /** Records a problem with the runner. It gets no other job before it is checked or someone resumes it. */
  reportProblem: (failure: ExchangeFailure) => void;
  traffic: Traffic;
};

/** `signal`: aborts when this process stops following the attempt. `server`: the runner's client, aborted by `signal`. */
export type RemoteJob = RemoteParts & Order & { on: (event: RunEvent) => void; signal: AbortSignal; server: ComfyServer };

export const stale: RunOutcome = { kind: "stale" };

/** The job is tried again, elsewhere or here. `counts`: this attempt is one of the few that it has. */
export function lost(reason: string, counts = true): RunOutcome {
  return { kind: "lost", reason, counts };
}

export async function shouldGoElsewhere(job: RemoteJob, items: readonly QueueItem[]): Promise<boolean> {
  if (items.length === 0 || !(await job.isFreeElsewhere())) return false;
  const own = await openClients(job.database, job.runner.id);
  if (items.every((item) => own.has(clientOf(item) ?? ""))) return false;
  job.reportBusy();
  return true;
}

export const removeFromRunner = ({ runner, attempt }: RemoteJob, promptId: string) =>
  removeFromServer(comfyServer(runner.address), { promptId, clientId: attempt.clientId });

/** False: it is no longer the job's current attempt. */
export function write(job: RemoteJob, changes: Parameters<typeof writeAttempt>[2]): Promise<boolean> {
  return patiently(job, () => job.database.commit((tx) => writeAttempt(tx, job.attempt, changes)));
}

/** Retries while the database is away: the runner goes on with the job all the same. */
export function patiently<T>({ limits, signal }: RemoteJob, work: () => Promise<T>): Promise<T> {
  return whileAway(work, () => sleep(limits.pollMs, undefined, { signal }));
}
