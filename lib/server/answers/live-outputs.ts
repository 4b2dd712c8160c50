// Outputs and progress of running jobs, as services report them on the WebSocket; kept in memory and bounded.

import "server-only";
import { type ComfyMessage, readMessage } from "@/lib/comfyui/socket";
import { type JsonObject, numberOf, objectOf } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Outputs, outputsSchema } from "@/lib/contract/schemas/execution";
import { type Feed, type FeedEnd, feedEnds, type FeedTarget } from "@/lib/shared/http-types";
import { createLru } from "@/lib/shared/lru";

/** `jobs` and `bytes` are limits for each socket. */
const limits = { sockets: 50, jobs: 200, bytes: 4 * 1024 ** 2, messageBytes: 256 * 1024 };
const MAX_ENDED = 2000;
const LOOK_MS = 30_000;
/** Long, because a job may run for hours without a viewer. */
const UNASKED_MS = 30 * 60_000;
const AGAIN_MS = 10_000;
const WITHOUT_MS = 10 * 60_000;

/** `isListening`: from opening the socket until it has ended. It is not opened again before `restsUntil`. */
type Place = {
  askedAt: number;
  isListening: boolean;
  /** True after the first message on the open socket. */
  isConnected: boolean;
  /** The job of the last message. Previews have no job id. */
  lastJob: string | undefined;
  restsUntil: number;
  feed: Feed | undefined;
  jobs: Map<string, LiveReport>;
};
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
  /** By the console's clock; unknown if the job started before the console listened. */
  startedMs?: number;
  progress?: LiveProgress;
};
/** `received`: called for every message. `changed`: called when a job starts or ends, or the queue changes. */
export type ReportTarget = FeedTarget & { received(): void; changed(): void };
/** Opens a socket to the service; its messages arrive with secrets already removed. */
type Listen = (target: ReportTarget) => Promise<Feed | undefined>;
/** `jobId`: the job that has a new report; undefined if any job may have changed. */
export type Watcher = (jobId: string | undefined) => void;

/** `version`: a newer preview has a higher one, also after a restart. */
export type Preview = { bytes: Uint8Array<ArrayBuffer>; type: string; version: number };
/** Limit across all jobs. Only the newest preview of each job is cached. */
const MAX_PREVIEWS_BYTES = 32 * 1024 ** 2;
export const MAX_PREVIEW_BYTES = 1024 ** 2;

export type LiveOutputs = ReturnType<typeof createLiveOutputs>;

export function createLiveOutputs(now: () => number) {
  const places = new Map<string, Place>();
  const watchers = new Map<string, Set<Watcher>>();
  const previews = createLru<string, Preview>({ max: MAX_PREVIEWS_BYTES, sizeOf: ({ bytes }) => bytes.byteLength });
  let version = 0;
  const looking = setInterval(() => void checkSockets(), LOOK_MS).unref();

  function notePreview(name: string, jobId: string | undefined, message: Uint8Array): string | undefined {
    const picture = readPreview(message);
    if (!picture || jobId === undefined) return undefined;
    version = Math.max(version + 1, now());
    previews.set(`${name}\n${jobId}`, { ...picture, version });
    return jobId;
  }

  function close(name: string, subscription: Place): void {
    places.delete(name);
    subscription.feed?.stop();
  }

  async function checkSockets(): Promise<void> {
    for (const [name, place] of [...places]) {
      if (now() - place.askedAt > UNASKED_MS) close(name, place);
      // An outage does not mean that the key is invalid: it is checked again next time.
      else if ((await ask(place).catch(() => undefined)) !== undefined) close(name, place);
    }
  }

  const ask = async ({ feed }: Place) => feed?.objection();

  async function open(name: string, subscription: Place, listen: Listen): Promise<void> {
    subscription.isListening = true;
    const notifyWatchers = (jobId?: string) => watchers.get(name)?.forEach((watcher) => watcher(jobId));
    const end = (feedEnd?: FeedEnd) => {
      subscription.isListening = false;
      subscription.isConnected = false;
      subscription.feed = undefined;
      subscription.restsUntil = now() + (feedEnd?.code === feedEnds.notFound ? WITHOUT_MS : AGAIN_MS);
      notifyWatchers();
    };
    const send = (message: string | Uint8Array) => {
      const jobId =
        typeof message === "string" ? note(subscription.jobs, message, now()) : notePreview(name, subscription.lastJob, message);
      if (typeof message === "string") subscription.lastJob = jobId ?? subscription.lastJob;
      if (jobId !== undefined) notifyWatchers(jobId);
    };
    const feed = await listen({ send, end, received: () => (subscription.isConnected = true), changed: () => notifyWatchers() }).catch(
      () => undefined,
    );
    if (!feed) end();
    else if (places.get(name) === subscription && subscription.isListening) subscription.feed = feed;
    else feed.stop();
  }

  return {
    /** What is known by job; listening starts now. `name` identifies the service and the key. */
    at(name: string, listen: Listen): ReadonlyMap<string, LiveReport> {
      const subscription = places.get(name) ?? {
        askedAt: 0,
        isListening: false,
        isConnected: false,
        lastJob: undefined,
        restsUntil: 0,
        feed: undefined,
        jobs: new Map<string, LiveReport>(),
      };
      // Moves the most recently used entry to the end.
      places.delete(name);
      places.set(name, subscription);
      subscription.askedAt = now();
      if (!subscription.isListening && now() >= subscription.restsUntil) void open(name, subscription, listen);
      for (const [oldest, other] of [...places].slice(0, -limits.sockets)) close(oldest, other);
      return subscription.jobs;
    },

    previewOf: (name: string, jobId: string) => previews.get(`${name}\n${jobId}`),

    reportOf: (name: string, jobId: string) => places.get(name)?.jobs.get(jobId),

    watch(name: string, watcher: Watcher): { stop(): void; isConnected(): boolean } {
      const all = watchers.get(name) ?? new Set();
      watchers.set(name, all.add(watcher));
      return {
        stop() {
          all.delete(watcher);
          if (all.size === 0 && watchers.get(name) === all) watchers.delete(name);
        },
        isConnected: () => places.get(name)?.isConnected === true,
      };
    },

    setTotal(name: string, jobId: string, nodesTotal: number): void {
      const jobs = places.get(name)?.jobs;
      if (jobs) storeReport(jobs, jobId, { ...(jobs.get(jobId) ?? unknownJob), nodesTotal });
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

const liveTypes = /"(?:executed|execution_cached|execution_start|executing|progress|progress_state)"/;
const stateChange = /"type"\s*:\s*"(?:status|execution_(?:start|success|error|interrupted))"/;
const unknownJob: LiveReport = { outputs: {}, cached: [], ended: new Set(), bytes: 0 };

export function isNeeded(message: string | Uint8Array): message is string {
  return typeof message === "string" && message.length <= limits.messageBytes && liveTypes.test(message);
}

const PREVIEW_EVENT = 1;
const HEADER_BYTES = 8;

/** Undefined for anything but a JPEG, PNG or WebP: the first bytes decide, not the declared type. */
function readPreview(message: Uint8Array): Omit<Preview, "version"> | undefined {
  if (message.byteLength <= HEADER_BYTES || message.byteLength > MAX_PREVIEW_BYTES) return undefined;
  if (new DataView(message.buffer, message.byteOffset).getUint32(0) !== PREVIEW_EVENT) return undefined;
  const bytes = new Uint8Array(message.subarray(HEADER_BYTES));
  const head = Buffer.from(bytes.subarray(0, 12)).toString("latin1");
  const type = head.startsWith("\xff\xd8\xff")
    ? "image/jpeg"
    : head.startsWith("\x89PNG\r\n\x1a\n")
      ? "image/png"
      : head.startsWith("RIFF") && head.startsWith("WEBP", 8)
        ? "image/webp"
        : undefined;
  return type && { bytes, type };
}

/** The type is at the beginning. */
export function isStateChange(message: string): boolean {
  return stateChange.test(message.slice(0, 200));
}

/** The id of the job that has a new report. */
function note(jobs: Place["jobs"], text: string | Uint8Array, atMs: number): string | undefined {
  const message = isNeeded(text) ? readMessage(parseJson(text)) : undefined;
  if (message?.jobId === undefined) return undefined;
  const report = jobs.get(message.jobId) ?? unknownJob;
  const next =
    message.type === "execution_start"
      ? { ...report, startedMs: atMs, progress: { done: 0, within: 0 } }
      : applyMessage(report, message, text.length);
  if (!next || next.bytes > limits.bytes) return undefined;
  storeReport(jobs, message.jobId, next);
  return message.jobId;
}

function storeReport(jobs: Place["jobs"], jobId: string, next: LiveReport): void {
  jobs.delete(jobId);
  jobs.set(jobId, next);
  let bytes = [...jobs.values()].reduce((sum, job) => sum + job.bytes, 0);
  for (const [oldest, one] of jobs) {
    if (jobs.size <= limits.jobs && bytes <= limits.bytes) return;
    jobs.delete(oldest);
    bytes -= one.bytes;
  }
}

function applyMessage(report: LiveReport, { type, node, ...message }: ComfyMessage, length: number): LiveReport | undefined {
  const bytes = report.bytes + length;
  if (type === "executed" && node !== undefined) {
    const output = outputsSchema.safeParse({ [node]: message.output });
    return output.success ? { ...report, bytes, outputs: { ...report.outputs, ...output.data } } : undefined;
  }
  if (type === "execution_cached") return { ...report, bytes, cached: message.nodes };
  if (type === "executing") return afterNode(report, node);
  const isOfNode = node === undefined || node === report.progress?.node;
  if (type === "progress" && isOfNode && report.progress)
    return { ...report, progress: { ...report.progress, ...progressForNode(message) } };
  const states = type === "progress_state" ? message.states : undefined;
  return states && { ...report, progress: progressIn(states, report.cached) };
}

/** A node begins, so the one before it has ended. */
function afterNode(report: LiveReport, node: string | undefined): LiveReport {
  const before = report.progress?.node;
  if (before === node && before !== undefined) return report;
  const isOver = before === undefined || report.ended.has(before) || report.ended.size >= MAX_ENDED;
  const ended = isOver ? report.ended : new Set([...report.ended, before]);
  const done = Math.max(report.progress?.done ?? 0, new Set([...report.cached, ...ended]).size);
  return {
    ...report,
    ended,
    bytes: report.bytes + (ended === report.ended ? 0 : (before?.length ?? 0)),
    progress: { done, within: 0, node },
  };
}

function progressForNode({
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
      const { within: part, ...step } = progressForNode({ step: numberOf(value), steps: numberOf(max) });
      within += part;
      running = { node: id, ...step };
    }
  }
  return { done: done.size, within, ...running };
}

function share(value = 0, max = 0): number {
  return max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
}
