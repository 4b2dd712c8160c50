// One attempt at a job on a runner: submits it once and watches it until it ends or is lost.

import { findEnded, findJob, type JobLocation } from "@/lib/comfyui/client";
import { createComfyServer, createLimitFailure, type ExchangeFailure } from "@/lib/comfyui/http";
import { sleep } from "@/lib/shared/async";
import { ok } from "@/lib/shared/result";
import { createServiceError, type RunEvent, type RunOutcome } from "../nodes/run";
import { type Run } from "../nodes/runner";
import { CACHE_CLEARED_SUFFIX, isCurrentAttempt, wasCacheCleared } from "./attempts";
import { createOutputFetcher } from "./fetch-outputs";
import { type Ending, readEnding } from "./read-outputs";
import {
  createLostOutcome,
  type RemoteDependencies,
  type RemoteJob,
  type RemoteRunOptions,
  removeFromRunner,
  retryUntilDeadline,
  shouldMoveToOtherRunner,
  staleOutcome,
} from "./remote-job";
import { type JobListener, listenToRunner } from "./report-events";
import { replaceRemoteNames, submitToRunner } from "./submit-to-runner";

type WatchOptions = {
  promptId: string;
  jobListener: JobListener;
  outputs: ReturnType<typeof createOutputFetcher>;
  getLastReportMs: () => number;
  pause: () => Promise<void>;
};

async function watchJob(job: RemoteJob, { promptId, jobListener, outputs, getLastReportMs, pause }: WatchOptions): Promise<RunOutcome> {
  const { limits, now, runner, signal } = job;
  const poll = createPoller(job, promptId, jobListener);
  const interrupt = createInterrupter(job, promptId);
  let lastSeenMs = now();
  let startMs = now();
  for (;;) {
    if (await retryUntilDeadline(job, job.isRunnerDeleted)) {
      await removeFromRunner(job, promptId);
      return createLostOutcome(`${runner.label} was removed.`, false);
    }
    const location = await poll();
    signal.throwIfAborted();
    if (location.kind === "runs" || location.kind === "ended") job.onEvent({ kind: "begun" });
    if (location.kind === "ended") return finishJob(job, location.entry, outputs);
    if (location.kind === "missing") return createLostOutcome(`${runner.label} no longer has the job.`);
    if (location.kind === "unreachable") {
      const { code, message } = location.failure;
      const isOverLimits = code === "over_limits";
      if (isOverLimits || now() - lastSeenMs > limits.leaseMs) {
        job.reportProblem(location.failure);
        return createLostOutcome(
          `${runner.label}${isOverLimits ? "" : ` was unreachable for ${Math.round(limits.leaseMs / 1000)} s`}: ${message}`,
        );
      }
    } else {
      lastSeenMs = now();
      if (location.kind === "waits") {
        startMs = now();
        job.onEvent({ kind: "queued", runner: runner.label, ahead: location.ahead.length });
        if ((await shouldMoveToOtherRunner(job, location.ahead)) && (await removeFromRunner(job, promptId)))
          return createLostOutcome(`${runner.label} is busy with other clients' jobs.`, false);
      }
      if (!(await retryUntilDeadline(job, () => isCurrentAttempt(job.database, job.attempt)))) {
        await removeFromRunner(job, promptId);
        return staleOutcome;
      }
      const quietMs = now() - Math.max(getLastReportMs(), startMs);
      if (location.kind === "runs" && quietMs > limits.unresponsiveMs && (await interrupt()))
        return createLostOutcome(`${runner.label} did not report on the running job for ${Math.round(quietMs / 1000)} s.`);
    }
    await pause();
  }
}

const POLLS_PER_QUEUE_REQUEST = 10;

/** Queue responses contain full graphs, so while messages arrive, only one in ten polls requests the queue. */
function createPoller(
  { server, attempt: { clientId } }: RemoteJob,
  promptId: string,
  { connection: getConnection, getQueueVersion }: JobListener,
) {
  let lastState: { location: JobLocation<ExchangeFailure>; connection: number; version: string; polls: number } | undefined;
  return async (): Promise<JobLocation<ExchangeFailure>> => {
    const state = { connection: getConnection(), version: getQueueVersion() };
    const isUnchanged =
      lastState?.connection === state.connection && (lastState?.location.kind === "runs" || lastState?.version === state.version);
    if (lastState && isUnchanged && lastState.polls < POLLS_PER_QUEUE_REQUEST) {
      lastState.polls += 1;
      const jobLocation = await findEnded(server, { promptId });
      return jobLocation.kind === "missing" ? lastState.location : jobLocation;
    }
    const location = await findJob(server, { promptId, clientId });
    const isAtRunner = location.kind === "runs" || location.kind === "waits";
    lastState = isAtRunner && state.connection !== undefined ? { ...state, connection: state.connection, location, polls: 1 } : undefined;
    return location;
  };
}

function createInterrupter(job: RemoteJob, promptId: string): () => Promise<boolean> {
  const { limits, now, server, attempt } = job;
  let firstInterruptMs: number | undefined;
  return async () => {
    firstInterruptMs ??= now();
    await removeFromRunner(job, promptId);
    const location = await findJob(server, { promptId, clientId: attempt.clientId });
    return location.kind !== "runs" || now() - firstInterruptMs > limits.leaseMs;
  };
}

async function finishJob(job: RemoteJob, entry: unknown, outputs: WatchOptions["outputs"]): Promise<RunOutcome> {
  const { runner } = job;
  const ending = readEnding(entry);
  if (!ending) return createLostOutcome(`${runner.label} reported the job's outcome in an invalid format.`);
  // Don't commit here: the runner waits for its next job meanwhile, and a commit would take longer.
  if (!(await retryUntilDeadline(job, () => isCurrentAttempt(job.database, job.attempt)))) return staleOutcome;
  const failure = await outputs.fetchRemaining(entry);
  // A failed job keeps the outputs that could be fetched.
  if (failure && ending.kind === "success") {
    if (failure.status === 404) return handleMissingFile(job);
    return failure.error ? { kind: "error", error: failure.error } : createLostOutcome(`${runner.label}: ${failure.message}`);
  }
  return toRunOutcome(ending, job);
}

/** The runner's output folder was cleaned while its cache still lists the files. POST /free clears the cache for one more run. */
async function handleMissingFile(job: RemoteJob): Promise<RunOutcome> {
  const { runner, attempt, server } = job;
  if (await retryUntilDeadline(job, () => wasCacheCleared(job.database, attempt.seq))) {
    const message = `${runner.label} reports output files that it does not have, even after its cache was cleared. Check its output folder.`;
    return { kind: "error", error: createServiceError("OutputMissing", message) };
  }
  const result = await server.freeMemory({ unload_models: true, free_memory: true });
  return createLostOutcome(
    `${runner.label} no longer has the job's output files. ${result.ok ? "" : `${result.failure.message} `}${CACHE_CLEARED_SUFFIX}`,
  );
}

function toRunOutcome(ending: Ending, { runner, inputs, graph }: RemoteJob): RunOutcome {
  if (ending.kind === "success") return { kind: "success" };
  if (ending.kind === "interrupted")
    return { kind: "error", error: createServiceError("Interrupted", `The job was interrupted on ${runner.label} by another client.`) };
  const { node_id, current_outputs, ...error } = replaceRemoteNames(ending.error, inputs);
  const isGraphNode = (id: unknown) => typeof id === "string" && Object.hasOwn(graph, id);
  return {
    kind: "error",
    error: {
      ...error,
      ...(isGraphNode(node_id) && { node_id }),
      current_outputs: Array.isArray(current_outputs) ? current_outputs.filter(isGraphNode) : current_outputs,
    },
  };
}

export function runRemotely(
  dependencies: RemoteDependencies,
  options: RemoteRunOptions,
  onEvent: (event: RunEvent) => void,
): Run & { detach(): void } {
  const abortController = new AbortController();
  let hasEnded = false;
  let settleEarly: (outcome: RunOutcome) => void = () => undefined;
  const earlyOutcome = new Promise<RunOutcome>((resolve) => (settleEarly = resolve));
  const report = (event: RunEvent) => {
    if (!hasEnded) onEvent(event);
  };
  /** runner-chores.ts removes the job from the runner. */
  const endOverLimits = (message: string) => {
    options.reportProblem(createLimitFailure(message));
    endEarly(createLostOutcome(`${options.runner.label}: ${message}`));
  };
  const server = createComfyServer(options.runner.address, abortController.signal);
  const job: RemoteJob = { ...dependencies, ...options, onEvent: report, signal: abortController.signal, server };
  const attemptOutcome = runAttempt(job, endOverLimits).catch((error: unknown): RunOutcome => {
    if (abortController.signal.aborted) return { kind: "left" };
    const { jobId, attempt, runner } = options;
    dependencies.log.error({ err: error, job: jobId, attempt: attempt.number, runner: runner.label }, "runner attempt failed");
    return createLostOutcome("The service failed to track the job on its runner.");
  });
  const endEarly = (outcome: RunOutcome) => {
    settleEarly(outcome);
    abortController.abort();
  };
  const done = Promise.race([attemptOutcome, earlyOutcome]).then((outcome) => {
    hasEnded = true;
    return outcome;
  });
  return {
    done,
    // Cancelling stores the attempt as lost, and runner-chores.ts removes the job from the runner.
    cancel: () => endEarly({ kind: "cancelled" }),
    detach: () => endEarly({ kind: "left" }),
  };
}

async function runAttempt(job: RemoteJob, onLimitExceeded: (message: string) => void): Promise<RunOutcome> {
  const { runner, attempt, graph, nodesTotal, limits, now, onEvent, signal, traffic } = job;
  const pause = createPause();
  let lastReportMs = now();
  const jobListener = listenToRunner(
    { address: runner.address, clientId: attempt.clientId, traffic },
    { promptId: attempt.promptId, graph, nodesTotal },
    {
      onReport: () => (lastReportMs = now()),
      onExecuted: (nodeId, output) => outputs.handleExecuted(nodeId, output),
      onEnd: pause.end,
      onLimitExceeded,
      onEvent,
    },
  );
  const outputs = createOutputFetcher(job, jobListener.findTimes);
  signal.addEventListener("abort", () => jobListener.stop(), { once: true });
  try {
    const submission = job.isResumed ? ok(attempt.promptId) : await submitToRunner(job, jobListener);
    if (!submission.ok) return submission.failure;
    return await watchJob(job, {
      promptId: submission.value,
      jobListener,
      outputs,
      getLastReportMs: () => lastReportMs,
      pause: () => pause.waitAtMost(limits.pollMs, signal),
    });
  } finally {
    jobListener.stop();
  }
}

function createPause() {
  let abortController = new AbortController();
  return {
    end: () => abortController.abort(),
    async waitAtMost(ms: number, signal: AbortSignal): Promise<void> {
      await sleep(ms, { signal: AbortSignal.any([signal, abortController.signal]) });
      abortController = new AbortController();
    },
  };
}
