// Outputs and progress of running jobs, as services report them on the WebSocket; kept in memory and bounded.

import "server-only";
import { type ComfyMessage, readMessage } from "@/lib/comfyui/socket";
import { type JsonObject, numberOf, objectOf } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Outputs, outputsSchema } from "@/lib/contract/schemas/execution";
import { type Feed, type FeedEnd, feedEnds, type FeedTarget } from "@/lib/shared/http-types";

/** `jobs` and `bytes` are limits for each socket. */
const most = { sockets: 50, jobs: 200, bytes: 4 * 1024 ** 2, messageBytes: 256 * 1024 };
const MAX_ENDED = 2000;
const LOOK_MS = 30_000;
/** Long, because a job may run long without anyone looking at it. */
const UNASKED_MS = 30 * 60_000;
const AGAIN_MS = 10_000;
const WITHOUT_MS = 10 * 60_000;

/** `isListening`: from opening the socket until it has ended. It is not opened again before `restsUntil`. */
type Place = { askedAt: number; isListening: boolean; restsUntil: number; feed: Feed | undefined; jobs: Map<string, LiveReport> };
/**
 * `done`: nodes that have ended, including cached ones. `within`: the sum of the running nodes' progress, from 0 to 1 each.
 * `node`: the running one, with its step.
 */
type LiveProgress = { done: number; within: number; node?: string; step?: number; steps?: number };
/** `ended`: nodes that ended, from the messages of older servers. `nodesTotal`: set once the console has seen the job's graph. */
export type LiveReport = {
  outputs: Outputs;
  cached: readonly string[];
  ended: ReadonlySet<string>;
  bytes: number;
  nodesTotal?: number;
  isTotalRequested?: true;
  progress?: LiveProgress;
};
/** Opens a socket to the service; its messages arrive with secrets already removed. */
type Listen = (target: FeedTarget) => Promise<Feed | undefined>;

export type LiveOutputs = ReturnType<typeof createLiveOutputs>;

export function createLiveOutputs(now: () => number) {
  const places = new Map<string, Place>();
  const looking = setInterval(() => void look(), LOOK_MS).unref();

  function close(name: string, place: Place): void {
    places.delete(name);
    place.feed?.stop();
  }

  async function look(): Promise<void> {
    for (const [name, place] of [...places]) {
      if (now() - place.askedAt > UNASKED_MS) close(name, place);
      // An outage says nothing about the key: it is checked again at the next look.
      else if ((await ask(place).catch(() => undefined)) !== undefined) close(name, place);
    }
  }

  const ask = async ({ feed }: Place) => feed?.objection();

  async function open(name: string, place: Place, listen: Listen): Promise<void> {
    place.isListening = true;
    const end = (why?: FeedEnd) => {
      place.isListening = false;
      place.feed = undefined;
      place.restsUntil = now() + (why?.code === feedEnds.notFound ? WITHOUT_MS : AGAIN_MS);
    };
    const feed = await listen({ send: (message) => note(place.jobs, message), end }).catch(() => undefined);
    if (!feed) end();
    else if (places.get(name) === place && place.isListening) place.feed = feed;
    else feed.stop();
  }

  return {
    /** What is known by job; listening starts now. `name` identifies the service and the key. */
    at(name: string, listen: Listen): ReadonlyMap<string, LiveReport> {
      const place = places.get(name) ?? {
        askedAt: 0,
        isListening: false,
        restsUntil: 0,
        feed: undefined,
        jobs: new Map<string, LiveReport>(),
      };
      // Keeps the most recently used last.
      places.delete(name);
      places.set(name, place);
      place.askedAt = now();
      if (!place.isListening && now() >= place.restsUntil) void open(name, place, listen);
      for (const [oldest, other] of [...places].slice(0, -most.sockets)) close(oldest, other);
      return place.jobs;
    },

    setTotal(name: string, jobId: string, nodesTotal: number): void {
      const jobs = places.get(name)?.jobs;
      if (jobs) keep(jobs, jobId, { ...(jobs.get(jobId) ?? unknownJob), nodesTotal });
    },

    /** True once for each job that reports progress while its number of nodes is unknown. */
    requestTotal(name: string, jobId: string): boolean {
      const jobs = places.get(name)?.jobs;
      const report = jobs?.get(jobId);
      if (!jobs || !report?.progress || report.nodesTotal !== undefined || report.isTotalRequested) return false;
      jobs.set(jobId, { ...report, isTotalRequested: true });
      return true;
    },

    stop(): void {
      clearInterval(looking);
      for (const [name, place] of places) close(name, place);
    },
  };
}

const wanted = /"(?:executed|execution_cached|execution_start|executing|progress|progress_state)"/;
const unknownJob: LiveReport = { outputs: {}, cached: [], ended: new Set(), bytes: 0 };

export function isWanted(message: string | Uint8Array): message is string {
  return typeof message === "string" && message.length <= most.messageBytes && wanted.test(message);
}

function note(jobs: Place["jobs"], text: string | Uint8Array): void {
  const message = isWanted(text) ? readMessage(parseJson(text)) : undefined;
  if (message?.jobId === undefined) return;
  const next = after(jobs.get(message.jobId) ?? unknownJob, message, text.length);
  if (next && next.bytes <= most.bytes) keep(jobs, message.jobId, next);
}

function keep(jobs: Place["jobs"], jobId: string, next: LiveReport): void {
  jobs.delete(jobId);
  jobs.set(jobId, next);
  let bytes = [...jobs.values()].reduce((sum, one) => sum + one.bytes, 0);
  for (const [oldest, one] of jobs) {
    if (jobs.size <= most.jobs && bytes <= most.bytes) return;
    jobs.delete(oldest);
    bytes -= one.bytes;
  }
}

function after(known: LiveReport, { type, node, ...message }: ComfyMessage, length: number): LiveReport | undefined {
  const bytes = known.bytes + length;
  if (type === "executed" && node !== undefined) {
    const output = outputsSchema.safeParse({ [node]: message.output });
    return output.success ? { ...known, bytes, outputs: { ...known.outputs, ...output.data } } : undefined;
  }
  if (type === "execution_cached") return { ...known, bytes, cached: message.nodes };
  if (type === "execution_start") return { ...known, progress: { done: 0, within: 0 } };
  if (type === "executing") return afterNode(known, node);
  const isOfNode = node === undefined || node === known.progress?.node;
  if (type === "progress" && isOfNode && known.progress) return { ...known, progress: { ...known.progress, ...stepIn(message) } };
  const states = type === "progress_state" ? message.states : undefined;
  return states && { ...known, progress: progressIn(states, known.cached) };
}

/** A node begins, so the one before it has ended. */
function afterNode(known: LiveReport, node: string | undefined): LiveReport {
  const before = known.progress?.node;
  if (before === node && before !== undefined) return known;
  const isOver = before === undefined || known.ended.has(before) || known.ended.size >= MAX_ENDED;
  const ended = isOver ? known.ended : new Set([...known.ended, before]);
  const done = Math.max(known.progress?.done ?? 0, new Set([...known.cached, ...ended]).size);
  return { ...known, ended, bytes: known.bytes + (ended === known.ended ? 0 : (before?.length ?? 0)), progress: { done, within: 0, node } };
}

function stepIn({
  step,
  steps,
}: {
  step?: number | undefined;
  steps?: number | undefined;
}): Pick<LiveProgress, "within" | "step" | "steps"> {
  return { within: share(step, steps), ...(step !== undefined && steps !== undefined && steps > 1 && { step, steps }) };
}

/** A service may or may not list cached nodes here too. */
function progressIn(nodes: JsonObject, cached: readonly string[]): LiveProgress {
  const done = new Set(cached);
  let within = 0;
  let running: Pick<LiveProgress, "node" | "step" | "steps"> = {};
  for (const [id, state] of Object.entries(nodes)) {
    const { state: word, value, max } = objectOf(state) ?? {};
    if (word === "finished") done.add(id);
    else if (word === "running") {
      const { within: part, ...step } = stepIn({ step: numberOf(value), steps: numberOf(max) });
      within += part;
      running = { node: id, ...step };
    }
  }
  return { done: done.size, within, ...running };
}

function share(value = 0, max = 0): number {
  return max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
}
