// One attempt at a job on a runner: submits it once and watches it until it ends or is lost.

import { findEnded, findJob, type JobLocation } from "@/lib/comfyui/client";
import { createComfyServer, createLimitFailure, type ExchangeFailure } from "@/lib/comfyui/http";
import { sleep } from "@/lib/shared/async";
import { ok } from "@/lib/shared/result";
import { createServiceError, type RunEvent, type RunOutcome } from "../nodes/run";
import { type Run } from "../nodes/runner";
import { CACHE_CLEARED, isCurrent, wasCacheCleared } from "./attempts";
import { fetchOutputs } from "./fetch-outputs";
import { type Ending, readEnding } from "./read-outputs";
import {
  lostOutcome,
  type RemoteJob,
  type RemoteOrder,
  type RemoteParts,
  removeFromRunner,
  retryUntilDeadline,
  shouldGoElsewhere,
  staleOutcome,
} from "./remote-job";
import { type JobListener, listenToRunner } from "./report-events";
import { replaceRemoteNames, submitToRunner } from "./submit-to-runner";

type WatchOptions = {
  promptId: string;
  jobListener: JobListener;
  outputs: ReturnType<typeof fetchOutputs>;
  lastReportMs: () => number;
  pause: () => Promise<void>;
};

async function watchJob(
  job: RemoteJob,
  { promptId, jobListener: listening, outputs, lastReportMs, pause }: WatchOptions,
): Promise<RunOutcome> {
  const { limits, now, runner, signal } = job;
  const poll = createPoller(job, promptId, listening);
  const interrupt = createInterrupter(job, promptId);
  let lastSeenMs = now();
  let beganMs = now();
  for (;;) {
    if (await retryUntilDeadline(job, job.isGone)) {
      await removeFromRunner(job, promptId);
      return lostOutcome(`${runner.label} was removed.`, false);
    }
    const location = await poll();
    signal.throwIfAborted();
    if (location.kind === "runs" || location.kind === "ended") job.on({ kind: "begun" });
    if (location.kind === "ended") return finishJob(job, location.entry, outputs);
    if (location.kind === "missing") return lostOutcome(`${runner.label} has forgotten the job.`);
    if (location.kind === "unreachable") {
      const { code, message } = location.failure;
      const isOver = code === "over_limits";
      if (isOver || now() - lastSeenMs > limits.leaseMs) {
        job.reportProblem(location.failure);
        return lostOutcome(`${runner.label}${isOver ? "" : ` was out of reach for ${Math.round(limits.leaseMs / 1000)} s`}: ${message}`);
      }
    } else {
      lastSeenMs = now();
      if (location.kind === "waits") {
        beganMs = now();
        job.on({ kind: "queued", runner: runner.label, ahead: location.ahead.length });
        if ((await shouldGoElsewhere(job, location.ahead)) && (await removeFromRunner(job, promptId)))
          return lostOutcome(`${runner.label} is busy with the work of others.`, false);
      }
      if (!(await retryUntilDeadline(job, () => isCurrent(job.database, job.attempt)))) {
        await removeFromRunner(job, promptId);
        return staleOutcome;
      }
      const quietMs = now() - Math.max(lastReportMs(), beganMs);
      if (location.kind === "runs" && quietMs > limits.unresponsiveMs && (await interrupt()))
        return lostOutcome(`${runner.label} said nothing of the job for ${Math.round(quietMs / 1000)} s while it ran.`);
    }
    await pause();
  }
}

const POLLS_PER_QUEUE_REQUEST = 10;

/** Queue responses contain whole graphs, so while messages arrive, only one in ten polls requests the queue. */
function createPoller({ server, attempt: { clientId } }: RemoteJob, promptId: string, { connection, queueVersion }: JobListener) {
  let previous: { location: JobLocation<ExchangeFailure>; connection: number; version: string; polls: number } | undefined;
  return async (): Promise<JobLocation<ExchangeFailure>> => {
    const state = { connection: connection(), version: queueVersion() };
    const isSame = previous?.connection === state.connection && (previous?.location.kind === "runs" || previous?.version === state.version);
    if (previous && isSame && previous.polls < POLLS_PER_QUEUE_REQUEST) {
      previous.polls += 1;
      const jobLocation = await findEnded(server, { promptId });
      return jobLocation.kind === "missing" ? previous.location : jobLocation;
    }
    const location = await findJob(server, { promptId, clientId });
    const isAtRunner = location.kind === "runs" || location.kind === "waits";
    previous = isAtRunner && state.connection !== undefined ? { ...state, connection: state.connection, location, polls: 1 } : undefined;
    return location;
  };
}

function createInterrupter(job: RemoteJob, promptId: string): () => Promise<boolean> {
  const { limits, now, server, attempt } = job;
  let firstMs: number | undefined;
  return async () => {
    firstMs ??= now();
    await removeFromRunner(job, promptId);
    const location = await findJob(server, { promptId, clientId: attempt.clientId });
    return location.kind !== "runs" || now() - firstMs > limits.leaseMs;
  };
}

async function finishJob(job: RemoteJob, entry: unknown, outputs: WatchOptions["outputs"]): Promise<RunOutcome> {
  const { runner } = job;
  const ending = readEnding(entry);
  if (!ending) return lostOutcome(`${runner.label} reported the job's outcome in an unreadable form.`);
  // Only reads, because the runner waits for its next job meanwhile and a commit would take longer.
  if (!(await retryUntilDeadline(job, () => isCurrent(job.database, job.attempt)))) return staleOutcome;
  const problem = await outputs.rest(entry);
  // A failed job keeps the outputs that could be fetched.
  if (problem && ending.kind === "success") {
    if (problem.status === 404) return handleMissingFile(job);
    return problem.error ? { kind: "error", error: problem.error } : lostOutcome(`${runner.label}: ${problem.message}`);
  }
  return toRunOutcome(ending, job);
}

/** The runner's output folder was cleaned while its cache still lists the files. POST /free clears the cache for one more run. */
async function handleMissingFile(job: RemoteJob): Promise<RunOutcome> {
  const { runner, attempt, server } = job;
  if (await retryUntilDeadline(job, () => wasCacheCleared(job.database, attempt.seq))) {
    const message = `${runner.label} reports output files that it does not have, also after its cache was cleared. Check its output folder.`;
    return { kind: "error", error: createServiceError("OutputMissing", message) };
  }
  const freed = await server.free({ unload_models: true, free_memory: true });
  return lostOutcome(
    `${runner.label} no longer has the job's output files. ${freed.ok ? "" : `${freed.failure.message} `}${CACHE_CLEARED}`,
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

export function runRemotely(parts: RemoteParts, order: RemoteOrder, on: (event: RunEvent) => void): Run & { leave(): void } {
  const aborter = new AbortController();
  let isOver = false;
  let settleEarly: (outcome: RunOutcome) => void = () => undefined;
  const earlyOutcome = new Promise<RunOutcome>((resolve) => (settleEarly = resolve));
  const report = (event: RunEvent) => {
    if (!isOver) on(event);
  };
  /** rounds.ts removes the job from the runner. */
  const endOverLimits = (message: string) => {
    order.reportProblem(createLimitFailure(message));
    endEarly(lostOutcome(`${order.runner.label}: ${message}`));
  };
  const server = createComfyServer(order.runner.address, aborter.signal);
  const job: RemoteJob = { ...parts, ...order, on: report, signal: aborter.signal, server };
  const work = runAttempt(job, endOverLimits).catch((error: unknown): RunOutcome => {
    if (aborter.signal.aborted) return { kind: "left" };
    const { jobId, attempt, runner } = order;
    parts.log.error({ err: error, job: jobId, attempt: attempt.number, runner: runner.label }, "runner attempt failed");
    return lostOutcome("The service failed to follow the job there.");
  });
  const endEarly = (outcome: RunOutcome) => {
    settleEarly(outcome);
    aborter.abort();
  };
  const done = Promise.race([work, earlyOutcome]).then((outcome) => {
    isOver = true;
    return outcome;
  });
  return {
    done,
    // The cancel stores the attempt as lost, and rounds.ts removes the job from the runner.
    cancel: () => endEarly({ kind: "cancelled" }),
    leave: () => endEarly({ kind: "left" }),
  };
}

async function runAttempt(job: RemoteJob, exceeded: (message: string) => void): Promise<RunOutcome> {
  const { runner, attempt: ownAttempt, graph, nodesTotal, limits, now, on, signal, traffic } = job;
  const pause = createPause();
  let lastReportMs = now();
  const jobListener = listenToRunner(
    { address: runner.address, clientId: ownAttempt.clientId, traffic },
    { promptId: ownAttempt.promptId, graph, nodesTotal },
    {
      reported: () => (lastReportMs = now()),
      executed: (nodeId, output) => outputs.executed(nodeId, output),
      ended: pause.end,
      exceeded,
      on,
    },
  );
  const outputs = fetchOutputs(job, jobListener.timesOf);
  signal.addEventListener("abort", () => jobListener.stop(), { once: true });
  try {
    const submitted = job.isResumed ? ok(ownAttempt.promptId) : await submitToRunner(job, jobListener);
    if (!submitted.ok) return submitted.failure;
    return await watchJob(job, {
      promptId: submitted.value,
      jobListener: jobListener,
      outputs,
      lastReportMs: () => lastReportMs,
      pause: () => pause.within(limits.pollMs, signal),
    });
  } finally {
    jobListener.stop();
  }
}

function createPause() {
  let abortController = new AbortController();
  return {
    end: () => abortController.abort(),
    async within(ms: number, signal: AbortSignal): Promise<void> {
      await sleep(ms, { signal: AbortSignal.any([signal, abortController.signal]) });
      abortController = new AbortController();
    },
  };
}
