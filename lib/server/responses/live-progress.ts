// Live outputs and progress of jobs, from the service's WebSocket.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asNumber, asObject, asText, isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseServiceJson } from "@/lib/contract/json/parse-json";
import { type LiveProgress } from "@/lib/contract/live";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type Outputs } from "@/lib/contract/schemas/execution";
import { feedCloseCodes, type FeedTarget } from "@/lib/shared/http-types";
import { findExceededBound } from "@/lib/shared/json-depth";
import { type Dependencies, type Target } from "../composition-type";
import { type Connection } from "../store/connections";
import { createKeyRedactor } from "../upstream/key-redactor";
import { isEmbedded } from "../upstream/send";
import { type Upstream } from "../upstream/upstream";
import { isLiveMessage, isStateChange, type LiveReport, MAX_PREVIEW_BYTES, type Preview, type Watcher } from "./live-outputs";
import { redactForBrowser, type Source } from "./redact";

const MAX_PENDING_BYTES = 16 * 1024 * 1024;
/** Messages are parsed on the main thread, so larger ones are dropped. */
const messageBounds = { values: 50_000, names: 50_000 } as const;

export function createMessageRedactor(source: Source, target: FeedTarget): FeedTarget {
  const keyRedactor = createKeyRedactor(source.apiKey);
  let pendingBytes = 0;
  let lastTask = Promise.resolve();

  async function redactMessage(message: string | Uint8Array): Promise<string | Uint8Array | undefined> {
    if (typeof message !== "string") return keyRedactor.containsKey(Buffer.from(message).toString("latin1")) ? undefined : message;
    if (findExceededBound(message, messageBounds) !== undefined) return undefined;
    const value = parseObject(await keyRedactor.redact(message));
    return value && writeExactJson(redactForBrowser(value, source));
  }

  return {
    send(message) {
      const size = message.length;
      pendingBytes += size;
      if (pendingBytes > MAX_PENDING_BYTES)
        return target.end({ code: feedCloseCodes.tryLater, reason: "The service sends messages faster than the client reads them." });
      lastTask = lastTask.then(async () => {
        const redactedMessage = await redactMessage(message).catch(() => undefined);
        pendingBytes -= size;
        if (redactedMessage !== undefined) target.send(redactedMessage);
      });
    },
    end(feedEnd) {
      lastTask = lastTask.then(() => target.end(feedEnd));
    },
  };
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = parseServiceJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Messages beyond this are dropped for the rest of the second. */
const MAX_COST_PER_SECOND = 1024 ** 2;
const MIN_PREVIEW_INTERVAL_MS = 250;
/** Each message also has a fixed cost. */
const MESSAGE_COST = 2048;

type LiveSource = Source & {
  composition: Dependencies<"liveOutputs" | "openFeed" | "clientId" | "jobResponses" | "runKeys">;
  fingerprint: string | undefined;
  target: Target;
};

type ProgressSource = LiveSource & { connection: Pick<Connection, "lacks" | "seenOf">; upstream: Pick<Upstream, "call"> };

export function getLiveOutputs(source: LiveSource, jobId: string): { outputs: Outputs; progress?: LiveReport["progress"] } {
  return subscribeToLiveOutputs(source).get(jobId) ?? { outputs: {} };
}

export function addLiveProgress<T>(operation: Operation, source: ProgressSource, value: T): T;
export function addLiveProgress({ subject }: Operation, source: ProgressSource, value: unknown): unknown {
  if ((subject !== "jobs" && subject !== "job") || isEmbedded(source.connection.baseUrl) || !isObject(value)) return value;
  const rows: unknown[] = subject === "job" ? [value] : Array.isArray(value.jobs) ? value.jobs : [];
  if (!rows.some(isUnfinished)) return value;
  subscribeToLiveOutputs(source);
  if (subject === "job") recordTotal(source, asText(value.id), asObject(asObject(value.workflow)?.prompt));
  else requestTotals(source, rows);
  const rowsWithProgress = rows.map((row) => {
    if (!isUnfinished(row) || row.progress !== undefined) return row;
    const { nodes_total, ...job } = row;
    const progress = getLiveProgress(source, String(row.id), nodes_total);
    return progress ? { ...job, progress } : job;
  });
  return subject === "job" ? rowsWithProgress[0] : { ...value, jobs: rowsWithProgress };
}

/** Reads the queue once for each job that was not submitted through the console. */
function requestTotals(source: ProgressSource, rows: readonly unknown[]): void {
  const { connection, composition, upstream } = source;
  if (!hasFeature(connection, "queueGraphs")) return;
  const claimTotal = (row: unknown) =>
    isUnfinished(row) &&
    row.nodes_total === undefined &&
    composition.liveOutputs.claimTotalRequest(getSubscriptionName(source), String(row.id));
  if (rows.filter(claimTotal).length === 0) return;
  void upstream
    .call(operations.listQueue, { waiter: "poll" })
    .then((queue) => queue.ok && recordQueueTotals(source, queue.value.queue_running));
}

/** Enough for the running jobs and those that start next. */
const MAX_QUEUED_TOTALS = 50;

/** Counts the nodes of queued jobs from their graphs. `items`: running ones first, then by position. */
export function recordQueueTotals(source: LiveSource, items: readonly (readonly unknown[])[]): void {
  if (isEmbedded(source.connection.baseUrl)) return;
  subscribeToLiveOutputs(source);
  for (const [, id, graph] of items.slice(0, MAX_QUEUED_TOTALS)) {
    recordTotal(source, asText(id), asObject(graph));
    source.composition.runKeys.recordGraph(source.connection.id, asText(id), graph);
  }
}

/** A percentage needs the number of nodes in the graph. */
export function recordTotal(source: LiveSource, jobId: string | undefined, graph: object | undefined): void {
  if (jobId !== undefined && graph) source.composition.liveOutputs.setTotal(getSubscriptionName(source), jobId, Object.keys(graph).length);
}

function isUnfinished(row: unknown): row is JsonObject {
  return isObject(row) && ["pending", "in_progress"].includes(toJobState(asText(row.status) ?? ""));
}

function toLiveProgress({ progress, startedMs }: LiveReport, nodesTotal: number | undefined): LiveProgress | undefined {
  if (!progress) return undefined;
  const { done, runningProgress, node, step, steps } = progress;
  const nodes_done = Math.min(done, nodesTotal ?? done);
  const ratioFields = nodesTotal && { value: Math.min(1, (nodes_done + runningProgress) / nodesTotal), nodes_total: nodesTotal };
  return { ...ratioFields, nodes_done, current_node: node, step, steps, start_time: startedMs };
}

/** Returns a running job's progress in the format of a row's `progress`, including its outputs so far. */
export function getLiveProgress(
  source: LiveSource & { connection: Pick<Connection, "seenOf"> },
  jobId: string,
  nodesTotal: unknown,
): LiveProgress | undefined {
  const { liveOutputs } = source.composition;
  const report = liveOutputs.getReport(getSubscriptionName(source), jobId);
  // The embedded service reports when a job started.
  const startedMs = isEmbedded(source.connection.baseUrl) ? undefined : report?.startedMs;
  const progress = report && toLiveProgress({ ...report, startedMs }, asNumber(nodesTotal) ?? report.nodesTotal);
  // Jobs-only members get only the files that job responses list.
  if (!progress || source.connection.seenOf !== undefined) return progress;
  const { version } = liveOutputs.getPreview(getSubscriptionName(source), jobId) ?? {};
  const hasOutputs = Object.keys(report.outputs).length > 0;
  return { ...progress, ...(hasOutputs && { outputs: report.outputs }), ...(version !== undefined && { preview: version }) };
}

export function getPreview(source: LiveSource, jobId: string): Preview | undefined {
  return source.composition.liveOutputs.getPreview(getSubscriptionName(source), jobId);
}

export function watchLiveOutputs(source: LiveSource, watcher: Watcher): { stop(): void; isConnected(): boolean } {
  return source.composition.liveOutputs.watch(getSubscriptionName(source), watcher);
}

/** Starts listening. Call it before submitting a job, so that no messages are missed. */
export function subscribeToLiveOutputs(source: LiveSource): ReadonlyMap<string, LiveReport> {
  const { liveOutputs, openFeed, clientId, jobResponses } = source.composition;
  return liveOutputs.subscribe(getSubscriptionName(source), (target) => {
    const redactor = createMessageRedactor(source, target);
    let currentSecond = 0;
    let cost = 0;
    let lastPreviewMs = -Infinity;
    // Without a client id, the embedded service sends the jobs of all clients.
    return openFeed(source.target, isEmbedded(source.connection.baseUrl) ? undefined : clientId, {
      send(message) {
        target.onMessage();
        if (typeof message === "string" && isStateChange(message)) {
          jobResponses.invalidate(source.connection.baseUrl);
          target.onStateChange(message);
        }
        if (typeof message !== "string") {
          const nowMs = performance.now();
          if (message.byteLength > MAX_PREVIEW_BYTES || nowMs - lastPreviewMs < MIN_PREVIEW_INTERVAL_MS) return;
          lastPreviewMs = nowMs;
          return redactor.send(message);
        }
        if (!isLiveMessage(message)) return;
        const second = Math.floor(performance.now() / 1000);
        cost = second === currentSecond ? cost + message.length + MESSAGE_COST : 0;
        currentSecond = second;
        if (cost <= MAX_COST_PER_SECOND) redactor.send(message);
      },
      end: redactor.end,
    });
  });
}

function getSubscriptionName({ connection, fingerprint = "" }: LiveSource): string {
  return [connection.id, connection.baseUrl, fingerprint].join(" ");
}
