// One attempt at a job on a runner: submits it once, and watches it until it ends or is lost.

import { findEnded, findJob, type Whereabouts } from "@/lib/comfyui/client";
import { comfyServer, type ExchangeFailure, overLimits } from "@/lib/comfyui/http";
import { sleep } from "@/lib/shared/async";
import { ok } from "@/lib/shared/result";
import { errorAround, type RunEvent, type RunOutcome } from "../nodes/run";
import { type Run } from "../nodes/runner";
import { CACHE_CLEARED, isCurrent, wasCacheCleared } from "./attempts";
import { bringOutputs } from "./bring-outputs";
import { type Ending, readEnding } from "./read-outputs";
import {
  clearAwayThere,
  lost,
  type Order,
  patiently,
  type RemoteJob,
  type RemoteParts,
  shouldGoElsewhere,
  stale,
  write,
} from "./remote-job";
import { type Listening, listenTo } from "./report-events";
import { submitThere, withUserNames } from "./submit-there";

type Watched = {
  promptId: string;
  listening: Listening;
  outputs: ReturnType<typeof bringOutputs>;
  lastReportMs: () => number;
  /** Until the runner is asked again. */
  pause: () => Promise<void>;
};

async function watchThere(job: RemoteJob, { promptId, listening, outputs, lastReportMs, pause }: Watched): Promise<RunOutcome> {
  const { limits, now, runner, signal } = job;
  const look = createLookout(job, promptId, listening);
  const isLeased = leaseOf(job);
  const isInterrupted = interrupterOf(job, promptId);
  let seenMs = now();
  let beganMs = now();
  for (;;) {
    if (await patiently(job, job.isGone)) {
      await clearAwayThere(job, promptId);
      return lost(`${runner.label} was removed.`, false);
    }
    const place = await look();
    signal.throwIfAborted();
    if (place.kind === "runs" || place.kind === "ended") job.on({ kind: "begun" });
    if (place.kind === "ended") return finish(job, place.entry, outputs);
    if (place.kind === "nowhere") return lost(`${runner.label} has forgotten the job.`);
    if (place.kind === "silent") {
      const { code, message } = place.failure;
      const isOver = code === "over_limits";
      if (isOver || now() - seenMs > limits.leaseMs) {
        job.reportProblem(place.failure);
        return lost(`${runner.label}${isOver ? "" : ` was out of reach for ${Math.round(limits.leaseMs / 1000)} s`}: ${message}`);
      }
    } else {
      seenMs = now();
      if (place.kind === "waits") {
        beganMs = now();
        job.on({ kind: "queued", runner: runner.label, ahead: place.ahead.length });
        if ((await shouldGoElsewhere(job, place.ahead)) && (await clearAwayThere(job, promptId)))
          return lost(`${runner.label} is busy with the work of others.`, false);
      }
      if (!(await isLeased())) {
        await clearAwayThere(job, promptId);
        return stale;
      }
      const quietMs = now() - Math.max(lastReportMs(), beganMs);
      if (place.kind === "runs" && quietMs > limits.silenceMs && (await isInterrupted()))
        return lost(`${runner.label} said nothing of the job for ${Math.round(quietMs / 1000)} s while it ran.`);
    }
    await pause();
  }
}

const POLLS_PER_QUEUE_REQUEST = 10;

/**
 * Polls for a job. A queue contains whole graphs: while the runner reports over the same connection, only one of ten polls requests it,
 * plus one after each change for a waiting job. Other polls assume the last position unless the job has ended.
 */
function createLookout({ server, attempt: { clientId } }: RemoteJob, promptId: string, { connection, queueVersion }: Listening) {
  let before: { place: Whereabouts<ExchangeFailure>; connection: number; version: string; looks: number } | undefined;
  return async (): Promise<Whereabouts<ExchangeFailure>> => {
    const now = { connection: connection(), version: queueVersion() };
    const isSame = before?.connection === now.connection && (before?.place.kind === "runs" || before?.version === now.version);
    if (before && isSame && before.looks < POLLS_PER_QUEUE_REQUEST) {
      before.looks += 1;
      const ended = await findEnded(server, { promptId });
      return ended.kind === "nowhere" ? before.place : ended;
    }
    const place = await findJob(server, { promptId, clientId });
    const isThere = place.kind === "runs" || place.kind === "waits";
    before = isThere && now.connection !== undefined ? { ...now, connection: now.connection, place, looks: 1 } : undefined;
    return place;
  };
}

/** Stores the lease anew once half of it is over. False: the attempt is stale, which it learns in this way. */
function leaseOf(job: RemoteJob): () => Promise<boolean> {
  const { limits, now } = job;
  let untilMs = now() + limits.leaseMs;
  return async () => {
    if (untilMs - now() >= limits.leaseMs / 2) return true;
    untilMs = now() + limits.leaseMs;
    return write(job, { lease_until: untilMs });
  };
}

/** Interrupts the job. False: it still runs, and is given some more time to end. */
function interrupterOf(job: RemoteJob, promptId: string): () => Promise<boolean> {
  const { limits, now, server, attempt } = job;
  let firstMs: number | undefined;
  return async () => {
    firstMs ??= now();
    await clearAwayThere(job, promptId);
    const place = await findJob(server, { promptId, clientId: attempt.clientId });
    return place.kind !== "runs" || now() - firstMs > limits.leaseMs;
  };
}

async function finish(job: RemoteJob, entry: unknown, outputs: Watched["outputs"]): Promise<RunOutcome> {
  const { runner } = job;
  const ending = readEnding(entry);
  if (!ending) return lost(`What ${runner.label} says of how the job ended cannot be read.`);
  // The runner waits for its next job meanwhile: this only reads, since a commit takes longer.
  if (!(await patiently(job, () => isCurrent(job.database, job.attempt)))) return stale;
  const problem = await outputs.rest(entry);
  // A failed job keeps the outputs that could be fetched.
  if (problem && ending.kind === "success") {
    if (problem.status === 404) return missingFile(job);
    return problem.error ? { kind: "error", error: problem.error } : lost(`${runner.label}: ${problem.message}`);
  }
  return toOutcome(ending, job);
}

/**
 * The runner's output folder was cleaned while its cache still lists the files. ComfyUI's POST /free clears the cache; then the job runs
 * once more.
 */
async function missingFile(job: RemoteJob): Promise<RunOutcome> {
  const { runner, attempt, server } = job;
  if (await patiently(job, () => wasCacheCleared(job.database, attempt.seq))) {
    const message = `${runner.label} reports output files that it does not have, also after its cache was cleared. Check its output folder.`;
    return { kind: "error", error: errorAround("OutputMissing", message) };
  }
  const freed = await server.free({ unload_models: true, free_memory: true });
  return lost(`${runner.label} no longer has the job's output files. ${freed.ok ? "" : `${freed.failure.message} `}${CACHE_CLEARED}`);
}

function toOutcome(ending: Ending, { runner, inputs, graph }: RemoteJob): RunOutcome {
  if (ending.kind === "success") return { kind: "success" };
  if (ending.kind === "interrupted")
    return { kind: "error", error: errorAround("Interrupted", `The job was interrupted on ${runner.label}, and not from here.`) };
  const { node_id, current_outputs, ...error } = withUserNames(ending.error, inputs);
  const isOwn = (id: unknown) => typeof id === "string" && Object.hasOwn(graph, id);
  return {
    kind: "error",
    error: {
      ...error,
      ...(isOwn(node_id) && { node_id }),
      current_outputs: Array.isArray(current_outputs) ? current_outputs.filter(isOwn) : current_outputs,
    },
  };
}

export function runRemotely(parts: RemoteParts, order: Order, on: (event: RunEvent) => void): Run & { leave(): void } {
  const leaving = new AbortController();
  let isOver = false;
  let settleEarly: (outcome: RunOutcome) => void = () => undefined;
  const early = new Promise<RunOutcome>((resolve) => (settleEarly = resolve));
  const report = (event: RunEvent) => {
    if (!isOver) on(event);
  };
  /** rounds.ts removes what is left at the runner. */
  const exceeded = (message: string) => {
    order.reportProblem(overLimits(message));
    end(lost(`${order.runner.label}: ${message}`));
  };
  const server = comfyServer(order.runner.address, leaving.signal);
  const job: RemoteJob = { ...parts, ...order, on: report, signal: leaving.signal, server };
  const work = attempt(job, exceeded).catch((error: unknown): RunOutcome => {
    if (leaving.signal.aborted) return { kind: "left" };
    const { jobId, attempt, runner } = order;
    parts.log.error(
      { err: error, job: jobId, attempt: attempt.number, runner: runner.label },
      "an attempt on a runner failed inside the service",
    );
    return lost("The service failed to follow the job there.");
  });
  const end = (outcome: RunOutcome) => {
    settleEarly(outcome);
    leaving.abort();
  };
  const done = Promise.race([work, early]).then((outcome) => {
    isOver = true;
    return outcome;
  });
  return {
    done,
    // The rounds (rounds.ts) clear away what is left at the runner: the cancel stores the attempt as lost.
    cancel: () => end({ kind: "cancelled" }),
    leave: () => end({ kind: "left" }),
  };
}

async function attempt(job: RemoteJob, exceeded: (message: string) => void): Promise<RunOutcome> {
  const { runner, attempt: own, graph, nodesTotal, limits, now, on, signal, traffic } = job;
  const pause = createPause();
  let lastReportMs = now();
  const listening = listenTo(
    { address: runner.address, clientId: own.clientId, traffic },
    { promptId: own.promptId, graph, nodesTotal },
    {
      reported: () => (lastReportMs = now()),
      executed: (nodeId, output) => outputs.executed(nodeId, output),
      ended: pause.end,
      exceeded,
      on,
    },
  );
  const outputs = bringOutputs(job, listening.timesOf);
  signal.addEventListener("abort", () => listening.stop(), { once: true });
  try {
    const submitted = job.isResumed ? ok(own.promptId) : await submitThere(job, listening);
    if (!submitted.ok) return submitted.failure;
    return await watchThere(job, {
      promptId: submitted.value,
      listening,
      outputs,
      lastReportMs: () => lastReportMs,
      pause: () => pause.within(limits.pollMs, signal),
    });
  } finally {
    listening.stop();
  }
}

/** A pause that can be ended early, also before it begins. */
function createPause() {
  let ended = new AbortController();
  return {
    end: () => ended.abort(),
    async within(ms: number, signal: AbortSignal): Promise<void> {
      await sleep(ms, { signal: AbortSignal.any([signal, ended.signal]) });
      ended = new AbortController();
    },
  };
}
