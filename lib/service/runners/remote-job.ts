import { getClient, type QueueItem, removeFromServer } from "@/lib/comfyui/client";
import { type ComfyServer, createComfyServer, type ExchangeFailure } from "@/lib/comfyui/http";
import { type Traffic } from "@/lib/comfyui/socket";
import { type Graph } from "@/lib/contract/schemas/graph";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { type NodeLibrary } from "../nodes/definition";
import { type RunEvent, type RunOutcome } from "../nodes/run";
import { type ServiceLog } from "../options";
import { type Database, retry } from "../store/database";
import { type Attempt, findOpenClients } from "./attempts";

export type RemoteLimits = {
  leaseMs: number;
  unresponsiveMs: number;
  /** The interval for polling the runner about a job. The runner also sends messages. */
  pollMs: number;
  maxFileBytes: number;
};

export type RemoteDependencies = { database: Database; limits: RemoteLimits; now: () => number; log: ServiceLog };

/** `name` is the name in the graph, possibly with an annotation such as " [output]". */
export type RemoteInput = { name: string; hash: string; mediaType: string; size: number; path: string };

export type RemoteRunOptions = {
  jobId: string;
  userId: number;
  attempt: Attempt;
  isResumed: boolean;
  runner: { id: string; label: string; address: string };
  graph: Graph;
  outputs: string[];
  nodesTotal: number;
  extraData: Record<string, unknown>;
  inputs: readonly RemoteInput[];
  library: NodeLibrary;
  outputDir: string;
  isOtherRunnerFree: () => Promise<boolean>;
  /** The runner's queue has other clients' jobs, so free runners are preferred for a moment. */
  reportBusy: () => void;
  isRunnerDeleted: () => Promise<boolean>;
  /** Records a problem with the runner, which gets no other job until it is checked or resumed. */
  reportProblem: (failure: ExchangeFailure) => void;
  traffic: Traffic;
};

/** `signal`: aborts when this process stops following the attempt. `server`: the runner's client, aborted by `signal`. */
export type RemoteJob = RemoteDependencies &
  RemoteRunOptions & { onEvent: (event: RunEvent) => void; signal: AbortSignal; server: ComfyServer };

export const staleOutcome: RunOutcome = { kind: "stale" };

/** The job is retried on any runner. `countsAsAttempt`: whether this attempt counts towards the limit. */
export function createLostOutcome(reason: string, countsAsAttempt = true): RunOutcome {
  return { kind: "lost", reason, countsAsAttempt };
}

export async function shouldMoveToOtherRunner(job: RemoteJob, items: readonly QueueItem[]): Promise<boolean> {
  if (items.length === 0 || !(await job.isOtherRunnerFree())) return false;
  const ownClients = await findOpenClients(job.database, job.runner.id);
  if (items.every((item) => ownClients.has(getClient(item) ?? ""))) return false;
  job.reportBusy();
  return true;
}

export const removeFromRunner = ({ runner, attempt }: RemoteJob, promptId: string) =>
  removeFromServer(createComfyServer(runner.address), { promptId, clientId: attempt.clientId });

/** Retries while the database is unavailable, because the runner continues with the job. */
export function retryUntilDeadline<T>({ limits, signal }: RemoteJob, task: () => Promise<T>): Promise<T> {
  return retry(task, isStoreUnavailable, { pauseMs: limits.pollMs, signal });
}
