// Bounded in-memory cache of the outputs and progress that services report on their WebSocket.

import "server-only";
import { type ComfyMessage, parseMessage } from "@/lib/comfyui/socket";
import { asNumber, asObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { type Outputs, outputsSchema } from "@/lib/contract/schemas/execution";
import { type Feed, feedCloseCodes, type FeedEnd, type FeedTarget } from "@/lib/shared/http-types";
import { createLru } from "@/lib/shared/lru";

/** `jobs` and `bytes` apply to each socket. */
const limits = { sockets: 50, jobs: 200, bytes: 4 * 1024 ** 2, messageBytes: 256 * 1024 };
/** Limits the finished and cached nodes per job, because processing a message iterates over all of them. */
const MAX_ENDED_NODES = 2000;
const CHECK_INTERVAL_MS = 30_000;
/** Sockets that are idle for longer close when their last watcher stops. */
const MIN_IDLE_MS = 10_000;
/** Applies to sockets without watchers. */
const MAX_IDLE_MS = 60_000;
/** Jobs may run for hours without a viewer, and a plain server reports their progress only once. */
const MAX_IDLE_WITH_JOBS_MS = 30 * 60_000;
const RETRY_MS = 10_000;
const UNSUPPORTED_RETRY_MS = 10 * 60_000;

/** `isListening` is true from opening the socket until it closes. The socket is not reopened before `retryAtMs`. */
type Subscription = {
  lastUsedMs: number;
  isListening: boolean;
  /** True after the first message on the open socket. */
  isConnected: boolean;
  /** The service's count of pending and running jobs. Undefined if it has sent none. */
  openJobCount: number | undefined;
  /** The job of the last message. Previews have no job id. */
  lastJobId: string | undefined;
  retryAtMs: number;
  feed: Feed | undefined;
  jobs: Map<string, LiveReport>;
};
/**
 * `done` counts finished nodes, including cached ones. `runningProgress` is the sum of the running nodes' progress, each from 0 to 1.
 * `node` is the running node, with its current step.
 */
type LiveProgress = { done: number; runningProgress: number; node?: string; step?: number; steps?: number };
/** `endedNodes`: finished nodes, from the messages of older servers. `nodesTotal` is set once the job's graph is available. */
export type LiveReport = {
  outputs: Outputs;
  cachedNodes: readonly string[];
  endedNodes: ReadonlySet<string>;
  bytes: number;
  nodesTotal?: number;
  isTotalRequested?: true;
  /** Measured by the console's clock. Missing if the job started before the console subscribed. */
  startedMs?: number;
  progress?: LiveProgress;
};
/** `onMessage`: called for every message. `onStateChange`: called with the message when a job starts or ends, or the queue changes. */
export type ReportTarget = FeedTarget & { onMessage(): void; onStateChange(message: string): void };
/** Opens a socket to the service. Secrets are removed from its messages before they arrive here. */
type OpenSocket = (target: ReportTarget) => Promise<Feed | undefined>;
/** `jobId` is the job with a new report, or undefined if any job may have changed. */
export type Watcher = (jobId: string | undefined) => void;

/** A newer preview has a higher `version`, even after a restart. */
export type Preview = { bytes: Uint8Array<ArrayBuffer>; type: string; version: number };
/** Limit across all jobs. Only the newest preview of each job is cached. */
const MAX_PREVIEWS_BYTES = 32 * 1024 ** 2;
export const MAX_PREVIEW_BYTES = 1024 ** 2;

export type LiveOutputs = ReturnType<typeof createLiveOutputs>;

export function createLiveOutputs(now: () => number) {
  const subscriptions = new Map<string, Subscription>();
  const watchers = new Map<string, Set<Watcher>>();
  const previews = createLru<string, Preview>({ max: MAX_PREVIEWS_BYTES, getSize: ({ bytes }) => bytes.byteLength });
  let version = 0;
  const checkTimer = setInterval(() => void checkSockets(), CHECK_INTERVAL_MS).unref();

  function storePreview(name: string, jobId: string | undefined, message: Uint8Array): string | undefined {
    const image = readPreview(message);
    if (!image || jobId === undefined) return undefined;
    version = Math.max(version + 1, now());
    previews.set(`${name}\n${jobId}`, { ...image, version });
    return jobId;
  }

  function close(name: string, subscription: Subscription): void {
    subscriptions.delete(name);
    subscription.feed?.stop();
  }

  async function checkSockets(): Promise<void> {
    for (const [name, subscription] of [...subscriptions]) {
      if (isIdle(name, subscription)) close(name, subscription);
      // During an outage the key may still be valid, so it is checked again next time.
      else if ((await checkAccess(subscription).catch(() => undefined)) !== undefined) close(name, subscription);
    }
  }

  function isIdle(name: string, { lastUsedMs, openJobCount }: Subscription): boolean {
    return !watchers.has(name) && now() - lastUsedMs > (openJobCount === 0 ? MAX_IDLE_MS : MAX_IDLE_WITH_JOBS_MS);
  }

  const checkAccess = async ({ feed }: Subscription) => feed?.findDenialReason();

  async function open(name: string, subscription: Subscription, openSocket: OpenSocket): Promise<void> {
    subscription.isListening = true;
    const notifyWatchers = (jobId?: string) => watchers.get(name)?.forEach((watcher) => watcher(jobId));
    const end = (feedEnd?: FeedEnd) => {
      subscription.isListening = false;
      subscription.isConnected = false;
      subscription.feed = undefined;
      subscription.retryAtMs = now() + (feedEnd?.code === feedCloseCodes.notFound ? UNSUPPORTED_RETRY_MS : RETRY_MS);
      notifyWatchers();
    };
    const send = (message: string | Uint8Array) => {
      const jobId =
        typeof message === "string" ? applyText(subscription.jobs, message, now()) : storePreview(name, subscription.lastJobId, message);
      if (typeof message === "string") subscription.lastJobId = jobId ?? subscription.lastJobId;
      if (jobId !== undefined) notifyWatchers(jobId);
    };
    const feed = await openSocket({
      send,
      end,
      onMessage: () => (subscription.isConnected = true),
      onStateChange(message) {
        subscription.openJobCount = readOpenJobCount(message) ?? subscription.openJobCount;
        notifyWatchers();
      },
    }).catch(() => undefined);
    if (!feed) end();
    else if (subscriptions.get(name) === subscription && subscription.isListening) subscription.feed = feed;
    else feed.stop();
  }

  return {
    /** Returns the reports by job and subscribes if needed. `name` identifies the service and the key. */
    subscribe(name: string, openSocket: OpenSocket): ReadonlyMap<string, LiveReport> {
      const subscription = subscriptions.get(name) ?? {
        lastUsedMs: 0,
        isListening: false,
        isConnected: false,
        openJobCount: undefined,
        lastJobId: undefined,
        retryAtMs: 0,
        feed: undefined,
        jobs: new Map<string, LiveReport>(),
      };
      // Moves the most recently used entry to the end.
      subscriptions.delete(name);
      subscriptions.set(name, subscription);
      subscription.lastUsedMs = now();
      if (!subscription.isListening && now() >= subscription.retryAtMs) void open(name, subscription, openSocket);
      for (const [oldestName, oldestSubscription] of [...subscriptions].slice(0, -limits.sockets)) close(oldestName, oldestSubscription);
      return subscription.jobs;
    },

    getPreview: (name: string, jobId: string) => previews.get(`${name}\n${jobId}`),

    getReport: (name: string, jobId: string) => subscriptions.get(name)?.jobs.get(jobId),

    watch(name: string, watcher: Watcher): { stop(): void; isConnected(): boolean } {
      const namedWatchers = watchers.get(name) ?? new Set();
      watchers.set(name, namedWatchers.add(watcher));
      return {
        stop() {
          namedWatchers.delete(watcher);
          if (namedWatchers.size > 0 || watchers.get(name) !== namedWatchers) return;
          watchers.delete(name);
          const subscription = subscriptions.get(name);
          // A request that is about to submit a job may have just used this socket.
          if (subscription?.openJobCount === 0 && now() - subscription.lastUsedMs > MIN_IDLE_MS) close(name, subscription);
        },
        isConnected: () => subscriptions.get(name)?.isConnected === true,
      };
    },

    setTotal(name: string, jobId: string, nodesTotal: number): void {
      const jobs = subscriptions.get(name)?.jobs;
      if (jobs) storeReport(jobs, jobId, { ...(jobs.get(jobId) ?? emptyReport), nodesTotal });
    },

    /** Returns true once for each job that reports progress while its number of nodes is unknown. */
    claimTotalRequest(name: string, jobId: string): boolean {
      const jobs = subscriptions.get(name)?.jobs;
      const report = jobs?.get(jobId);
      if (!jobs || !report?.progress || report.nodesTotal !== undefined || report.isTotalRequested) return false;
      jobs.set(jobId, { ...report, isTotalRequested: true });
      return true;
    },

    stop(): void {
      clearInterval(checkTimer);
      for (const [name, subscription] of subscriptions) close(name, subscription);
    },
  };
}

const liveMessagePattern = /"(?:executed|execution_cached|execution_start|executing|progress|progress_state)"/;
const stateChangePattern = /"type"\s*:\s*"(?:status|execution_(?:start|success|error|interrupted))"/;
const emptyReport: LiveReport = { outputs: {}, cachedNodes: [], endedNodes: new Set(), bytes: 0 };

export function isLiveMessage(message: string | Uint8Array): message is string {
  return typeof message === "string" && message.length <= limits.messageBytes && liveMessagePattern.test(message);
}

const PREVIEW_EVENT = 1;
const HEADER_BYTES = 8;

/** Accepts only JPEG, PNG and WebP. Detects the type from the first bytes, not from the declared type. */
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

export function isStateChange(message: string): boolean {
  return stateChangePattern.test(message.slice(0, 200));
}

/** Returns undefined if the message doesn't contain the number of pending and running jobs. */
function readOpenJobCount(message: string): number | undefined {
  if (message.length > limits.messageBytes || !message.includes('"queue_remaining"')) return undefined;
  const status = asObject(asObject(asObject(parseJson(message))?.data)?.status);
  return asNumber(asObject(status?.exec_info)?.queue_remaining);
}

/** Returns the id of the job with a new report. */
function applyText(jobs: Subscription["jobs"], text: string | Uint8Array, nowMs: number): string | undefined {
  const message = isLiveMessage(text) ? parseMessage(parseJson(text)) : undefined;
  if (message?.jobId === undefined) return undefined;
  const report = jobs.get(message.jobId) ?? emptyReport;
  const updatedReport =
    message.type === "execution_start"
      ? { ...report, startedMs: nowMs, progress: { done: 0, runningProgress: 0 } }
      : applyMessage(report, message, text.length);
  if (!updatedReport || updatedReport.bytes > limits.bytes) return undefined;
  storeReport(jobs, message.jobId, updatedReport);
  return message.jobId;
}

function storeReport(jobs: Subscription["jobs"], jobId: string, report: LiveReport): void {
  jobs.delete(jobId);
  jobs.set(jobId, report);
  let bytes = [...jobs.values()].reduce((sum, job) => sum + job.bytes, 0);
  for (const [oldestJobId, oldestReport] of jobs) {
    if (jobs.size <= limits.jobs && bytes <= limits.bytes) return;
    jobs.delete(oldestJobId);
    bytes -= oldestReport.bytes;
  }
}

function applyMessage(report: LiveReport, { type, node, ...message }: ComfyMessage, length: number): LiveReport | undefined {
  const bytes = report.bytes + length;
  if (type === "executed" && node !== undefined) {
    const output = outputsSchema.safeParse({ [node]: message.output });
    return output.success ? { ...report, bytes, outputs: { ...report.outputs, ...output.data } } : undefined;
  }
  if (type === "execution_cached") return { ...report, bytes, cachedNodes: message.nodes.slice(0, MAX_ENDED_NODES) };
  if (type === "executing") return applyNodeStart(report, node);
  const isForRunningNode = node === undefined || node === report.progress?.node;
  if (type === "progress" && isForRunningNode && report.progress)
    return { ...report, progress: { ...report.progress, ...getNodeProgress(message) } };
  const states = type === "progress_state" ? message.states : undefined;
  return states && { ...report, progress: toProgress(states, report.cachedNodes) };
}

/** A node has started, so the previous one has ended. */
function applyNodeStart(report: LiveReport, node: string | undefined): LiveReport {
  const previousNode = report.progress?.node;
  if (previousNode === node && previousNode !== undefined) return report;
  const isAlreadyCounted = previousNode === undefined || report.endedNodes.has(previousNode) || report.endedNodes.size >= MAX_ENDED_NODES;
  const endedNodes = isAlreadyCounted ? report.endedNodes : new Set([...report.endedNodes, previousNode]);
  const done = Math.max(report.progress?.done ?? 0, new Set([...report.cachedNodes, ...endedNodes]).size);
  return {
    ...report,
    endedNodes,
    bytes: report.bytes + (endedNodes === report.endedNodes ? 0 : (previousNode?.length ?? 0)),
    progress: { done, runningProgress: 0, node },
  };
}

function getNodeProgress({
  step,
  steps,
}: {
  step?: number | undefined;
  steps?: number | undefined;
}): Pick<LiveProgress, "runningProgress" | "step" | "steps"> {
  return { runningProgress: toFraction(step, steps), ...(step !== undefined && steps !== undefined && steps > 1 && { step, steps }) };
}

/** Not all services list cached nodes here. */
function toProgress(nodes: JsonObject, cachedNodes: readonly string[]): LiveProgress {
  const done = new Set(cachedNodes);
  let runningProgress = 0;
  let runningNode: Pick<LiveProgress, "node" | "step" | "steps"> = {};
  for (const [id, nodeState] of Object.entries(nodes)) {
    const { state, value, max } = asObject(nodeState) ?? {};
    if (state === "finished") done.add(id);
    else if (state === "running") {
      const { runningProgress: nodeProgress, ...step } = getNodeProgress({ step: asNumber(value), steps: asNumber(max) });
      runningProgress += nodeProgress;
      runningNode = { node: id, ...step };
    }
  }
  return { done: done.size, runningProgress, ...runningNode };
}

function toFraction(value = 0, max = 0): number {
  return max > 0 ? Math.min(1, Math.max(0, value / max)) : 0;
}
