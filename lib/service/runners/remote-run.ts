// One attempt to run a job on a runner: its inputs are sent, it is submitted once and watched until it ends or is lost; its outputs come
// back.
// Guarantees: it is submitted only after the attempt is stored, and once; its end is read from the runner's history, never guessed from
// silence; everything that it writes about itself is fenced (attempts.ts); it always ends in an outcome. Must never: interrupt another job.

import { setTimeout as sleep } from "node:timers/promises";
import { isObject, objectOf, textOf } from "@/lib/contract/json/json";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type NodeLibrary } from "../nodes/definition";
import { type RunEvent, type RunOutcome } from "../nodes/run";
import { type Run } from "../nodes/runner";
import { type ServiceLog } from "../options";
import { type Database } from "../store/database";
import { whileAway } from "../store/while-away";
import { type Attempt, isCurrent, writeAttempt } from "./attempts";
import { bringOutputs } from "./bring-outputs";
import { type Ending, readEnding } from "./ending";
import { listenTo, type Listening } from "./events-of";
import { asKnown, withNames } from "./names-there";
import { askJson, type ExchangeFailure } from "./speak";
import { clearAway, looksFor, whereIs } from "./whereabouts";
import { bring, type Input, nameThere } from "./transfer";

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
  /** Whether the runner was removed. */
  isGone: () => Promise<boolean>;
  /** The runner could not be reached: it is checked before it gets another job. */
  unreachable: (failure: ExchangeFailure) => void;
};

const lost = (reason: string, counts = true): RunOutcome => ({ kind: "lost", reason, counts });
export function runRemotely(parts: RemoteParts, order: Order, on: (event: RunEvent) => void): Run & { leave(): void } {
  const leaving = new AbortController();
  const wake = createWake();
  let isOver = false;
  let settleEarly: (outcome: RunOutcome) => void = () => undefined;
  const early = new Promise<RunOutcome>((resolve) => (settleEarly = resolve));
  const tell = (event: RunEvent) => {
    if (!isOver) on(event);
  };
  const work = attempt({ ...parts, ...order, on: tell, wake, signal: leaving.signal }).catch((error: unknown): RunOutcome => {
    if (leaving.signal.aborted) return { kind: "left" };
    const { jobId: job, attempt, runner } = order;
    parts.log.error({ err: error, job, attempt: attempt.number, runner: runner.label }, "an attempt on a runner failed inside the service");
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

type At = RemoteParts & Order & { on: (event: RunEvent) => void; wake: Wake; signal: AbortSignal };

async function attempt(at: At): Promise<RunOutcome> {
  const { runner, attempt: own, graph, nodesTotal, wake, on } = at;
  let lastReportMs = at.now();
  const listening = listenTo(
    { address: runner.address, clientId: own.clientId },
    { promptId: own.promptId, graph, nodesTotal },
    {
      reported: () => (lastReportMs = at.now()),
      executed: (nodeId, output) => outputs.executed(nodeId, output),
      ended: wake.now,
      on,
    },
  );
  const outputs = bringOutputs(at, listening.timesOf);
  at.signal.addEventListener("abort", () => listening.stop(), { once: true });
  try {
    const names = new Map(at.inputs.map((input) => [nameThere(input), input.name]));
    const follow = (promptId: string) => watch(at, { promptId, listening, outputs, names, lastReportMs: () => lastReportMs });
    if (at.isResumed) return await follow(own.promptId);
    const sent = await send(at, listening);
    return typeof sent === "string" ? await follow(sent) : sent;
  } finally {
    listening.stop();
  }
}

/** The job's id at the runner, or how the attempt has already ended. */
async function send(at: At, listening: Listening): Promise<string | RunOutcome> {
  const { runner, attempt: own, signal } = at;
  const called = new Map<string, string>();
  for (const input of at.inputs) {
    const uploaded = await bring(runner.address, input, signal);
    if (!uploaded.ok && uploaded.failure.status === 413) return { kind: "error", error: tooLarge(input, runner.label) };
    if (!uploaded.ok) return notSent(at, uploaded.failure);
    called.set(input.name, uploaded.value);
  }
  await listening.ready;
  const body = {
    prompt: withNames(at.graph, at.library, called),
    client_id: own.clientId,
    prompt_id: own.promptId,
    extra_data: { ...at.extraData, client_id: own.clientId },
    partial_execution_targets: at.outputs,
  };
  const answer = await askJson(runner.address, "/prompt", { method: "POST", body, signal });
  if (!answer.ok) {
    const { failure } = answer;
    if (failure.status === 400) return { kind: "error", error: refusedThere(failure.body ?? "", runner.label) };
    // If it may have arrived, the runner's queue and history are asked.
    return failure.wasSent ? own.promptId : notSent(at, failure);
  }
  const reply = objectOf(answer.value);
  const promptId = textOf(reply?.prompt_id);
  if (promptId === undefined) return own.promptId;
  listening.isCalled(promptId);
  const isOwn = await write(at, { state: "sent", prompt_id: promptId });
  const refusal = isObject(reply?.node_errors) && Object.keys(reply.node_errors).length > 0 ? reply : undefined;
  if (!isOwn || refusal) {
    await clearAway(runner.address, { promptId, clientId: own.clientId });
    return isOwn ? { kind: "error", error: refusedThere(writeExactJson(refusal), runner.label) } : { kind: "stale" };
  }
  return promptId;
}

/** False: it is no longer the job's current attempt. */
function write(at: At, changes: Parameters<typeof writeAttempt>[2]): Promise<boolean> {
  return patiently(at, () => at.database.commit((tx) => writeAttempt(tx, at.attempt, changes)));
}

/** Retries while the database is away: the runner goes on with the job all the same. */
const patiently = <T>({ limits, signal }: At, work: () => Promise<T>) => whileAway(work, () => sleep(limits.pollMs, undefined, { signal }));

/** The job cannot run at this runner: it goes elsewhere, or waits. If the runner was not reached, no attempt of the job is used up. */
function notSent(at: At, failure: ExchangeFailure): RunOutcome {
  if (!failure.wasSent || failure.status === undefined) at.unreachable(failure);
  return lost(`${at.runner.label}: ${failure.message}`, failure.wasSent);
}

type Watched = {
  promptId: string;
  listening: Listening;
  outputs: ReturnType<typeof bringOutputs>;
  names: ReadonlyMap<string, string>;
  lastReportMs: () => number;
};

async function watch(at: At, { promptId, listening, outputs, names, lastReportMs }: Watched): Promise<RunOutcome> {
  const { limits, now, runner, attempt: own } = at;
  let seenAt = now();
  let leasedUntil = seenAt + limits.leaseMs;
  let interruptedAt: number | undefined;
  let began = now();
  const look = looksFor(runner.address, { promptId, clientId: own.clientId });
  for (;;) {
    if (await patiently(at, at.isGone)) {
      await clearAway(runner.address, { promptId, clientId: own.clientId });
      return lost(`${runner.label} was removed.`, false);
    }
    const place = await look(listening.connection(), at.signal);
    at.signal.throwIfAborted();
    if (place.kind === "ended") return finish(at, { entry: place.entry, outputs, names });
    if (place.kind === "nowhere") return lost(`${runner.label} has forgotten the job.`);
    if (place.kind === "silent") {
      if (now() - seenAt > limits.leaseMs) {
        at.unreachable(place.failure);
        return lost(`${runner.label} was out of reach for ${Math.round(limits.leaseMs / 1000)} s: ${place.failure.message}`);
      }
    } else {
      seenAt = now();
      if (place.kind === "waits") began = now();
      // The lease is stored now and then; this is how a stale attempt learns that it is stale.
      if (leasedUntil - now() < limits.leaseMs / 2) {
        leasedUntil = now() + limits.leaseMs;
        if (!(await write(at, { lease_until: leasedUntil }))) {
          await clearAway(runner.address, { promptId, clientId: own.clientId });
          return { kind: "stale" };
        }
      }
      const quiet = now() - Math.max(lastReportMs(), began);
      if (place.kind === "runs" && quiet > limits.silenceMs) {
        const reason = `${runner.label} said nothing of the job for ${Math.round(quiet / 1000)} s while it ran.`;
        interruptedAt ??= now();
        await clearAway(runner.address, { promptId, clientId: own.clientId });
        const still = await whereIs(runner.address, { promptId, clientId: own.clientId }, at.signal);
        if (still.kind !== "runs" || now() - interruptedAt > limits.leaseMs) return lost(reason);
      }
    }
    await at.wake.within(limits.pollMs, at.signal);
  }
}

type Ended = Pick<Watched, "outputs" | "names"> & { entry: unknown };

async function finish(at: At, { entry, outputs, names }: Ended): Promise<RunOutcome> {
  const { runner } = at;
  const ending = readEnding(entry);
  if (!ending) return lost(`What ${runner.label} says of how the job ended cannot be read.`);
  // The runner waits for its next job meanwhile: this only reads, since a commit takes longer.
  if (!(await patiently(at, () => isCurrent(at.database, at.attempt)))) return { kind: "stale" };
  const problem = await outputs.rest(entry);
  // A failed job keeps the outputs that could be fetched.
  if (problem !== undefined && ending.kind === "success") return lost(`${runner.label}: ${problem}`);
  return toOutcome(ending, at, names);
}

function toOutcome(ending: Ending, { runner }: At, names: ReadonlyMap<string, string>): RunOutcome {
  if (ending.kind === "success") return { kind: "success" };
  if (ending.kind === "interrupted")
    return { kind: "error", error: errorOf("Interrupted", `The job was interrupted on ${runner.label}, and not from here.`) };
  return { kind: "error", error: asKnown(ending.error, names) };
}

function errorOf(exception_type: string, exception_message: string): ExecutionError {
  return { node_id: "", node_type: "", exception_type, exception_message, traceback: [], current_inputs: {}, current_outputs: {} };
}

/** A plain server accepts at most 100 MB, unless it is configured otherwise. */
function tooLarge({ name, size }: Input, label: string): ExecutionError {
  const megabytes = Math.ceil(size / 1024 ** 2);
  return errorOf("InputTooLarge", `${label} takes no file as large as ${name} (${megabytes} MB). Its --max-upload-size can be raised.`);
}

/** Worded like a refusal that comes late, in the family's wire format: readers take from it what is wrong. */
function refusedThere(body: string, label: string): ExecutionError {
  return errorOf("ValidationError", `${label} refused the workflow. 400: ${body}`);
}

type Wake = ReturnType<typeof createWake>;

/** A pause that can be ended early. */
function createWake() {
  let ring: (() => void) | undefined;
  let isDue = false;
  return {
    now: () => {
      isDue = true;
      ring?.();
    },
    async within(ms: number, signal: AbortSignal): Promise<void> {
      if (!isDue) {
        const paused = new AbortController();
        ring = () => paused.abort();
        await sleep(ms, undefined, { signal: AbortSignal.any([signal, paused.signal]) }).catch(() => undefined); // it was ended early
      }
      isDue = false;
      ring = undefined;
    },
  };
}
