import { getClient, type QueueItem, removeFromServer } from "@/lib/comfyui/client";
import { type ComfyServer, createComfyServer, type ExchangeFailure } from "@/lib/comfyui/http";
import { type Traffic } from "@/lib/comfyui/socket";
import { type Graph } from "@/lib/contract/schemas/graph";
import { isStoreAway } from "@/lib/shared/error-codes";
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

export type RemoteParts = { database: Database; limits: RemoteLimits; now: () => number; log: ServiceLog };

/** `name`: the name in the graph, possibly with an annotation such as " [output]". */
export type RemoteInput = { name: string; hash: string; mediaType: string; size: number; path: string };

export type RemoteOrder = {
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
  isFreeElsewhere: () => Promise<boolean>;
  /** The runner's queue has other clients' jobs, so it gets no job for a moment if another runner is free. */
  reportBusy: () => void;
  isGone: () => Promise<boolean>;
  /** Records a problem with the runner, which gets no other job until it is checked or resumed. */
  reportProblem: (failure: ExchangeFailure) => void;
  traffic: Traffic;
};

/** `signal`: aborts when this process stops following the attempt. `server`: the runner's client, aborted by `signal`. */
export type RemoteJob = RemoteParts & RemoteOrder & { on: (event: RunEvent) => void; signal: AbortSignal; server: ComfyServer };

export const staleOutcome: RunOutcome = { kind: "stale" };

/** The job is retried on any runner. `counts`: whether this attempt counts towards the limit. */
export function lostOutcome(reason: string, counts = true): RunOutcome {
  return { kind: "lost", reason, counts };
}

export async function shouldGoElsewhere(job: RemoteJob, items: readonly QueueItem[]): Promise<boolean> {
  if (items.length === 0 || !(await job.isFreeElsewhere())) return false;
  const ownClients = await findOpenClients(job.database, job.runner.id);
  if (items.every((item) => ownClients.has(getClient(item) ?? ""))) return false;
  job.reportBusy();
  return true;
}

export const removeFromRunner = ({ runner, attempt }: RemoteJob, promptId: string) =>
  removeFromServer(createComfyServer(runner.address), { promptId, clientId: attempt.clientId });

/** Retries while the database is unavailable, because the runner continues with the job. */
export function retryUntilDeadline<T>({ limits, signal }: RemoteJob, work: () => Promise<T>): Promise<T> {
  return retry(work, isStoreAway, { pauseMs: limits.pollMs, signal });
}
