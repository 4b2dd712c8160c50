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
import { feedEnds, type FeedTarget } from "@/lib/shared/http-types";
import { type Dependencies, type Target } from "../composition-type";
import { type Connection } from "../store/connections";
import { createKeyGate } from "../upstream/key-gate";
import { isEmbedded } from "../upstream/send";
import { type Upstream } from "../upstream/upstream";
import { isNeeded, isStateChange, type LiveReport, MAX_PREVIEW_BYTES, type Preview, type Watcher } from "./live-outputs";
import { redactForBrowser, type Source } from "./redact";

const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export function createMessageRedactor(from: Source, target: FeedTarget): FeedTarget {
  const gate = createKeyGate(from.apiKey);
  let pendingBytes = 0;
  let last = Promise.resolve();

  async function redactMessage(message: string | Uint8Array): Promise<string | Uint8Array | undefined> {
    if (typeof message !== "string") return gate.has(Buffer.from(message).toString("latin1")) ? undefined : message;
    const value = parseObject(await gate.text(message));
    return value && writeExactJson(redactForBrowser(value, from));
  }

  return {
    send(message) {
      const size = message.length;
      pendingBytes += size;
      if (pendingBytes > MAX_WAITING_BYTES)
        return target.end({ code: feedEnds.tryLater, reason: "The service sends more messages than the client reads." });
      last = last.then(async () => {
        const redacted = await redactMessage(message).catch(() => undefined);
        pendingBytes -= size;
        if (redacted !== undefined) target.send(redacted);
      });
    },
    end(feedEnd) {
      last = last.then(() => target.end(feedEnd));
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
const PREVIEW_MS = 250;
/** Each message also has a fixed cost. */
const MESSAGE_COST = 2048;

type LiveSource = Source & {
  composition: Dependencies<"liveOutputs" | "listenTo" | "clientId" | "jobAnswers" | "runKeys">;
  fingerprint: string | undefined;
  target: Target;
};

type ProgressSource = LiveSource & { connection: Pick<Connection, "lacks" | "seenOf">; upstream: Pick<Upstream, "call"> };

export function getLiveOutputs(from: LiveSource, jobId: string): { outputs: Outputs; progress?: LiveReport["progress"] } {
  return subscribeToLiveOutputs(from).get(jobId) ?? { outputs: {} };
}

export function addLiveProgress<T>(operation: Operation, from: ProgressSource, value: T): T;
export function addLiveProgress({ subject }: Operation, from: ProgressSource, value: unknown): unknown {
  if ((subject !== "jobs" && subject !== "job") || isEmbedded(from.connection.baseUrl) || !isObject(value)) return value;
  const rows: unknown[] = subject === "job" ? [value] : Array.isArray(value.jobs) ? value.jobs : [];
  if (!rows.some(isUnfinished)) return value;
  subscribeToLiveOutputs(from);
  if (subject === "job") recordTotal(from, asText(value.id), asObject(asObject(value.workflow)?.prompt));
  else requestTotals(from, rows);
  const rowsWithProgress = rows.map((row) => {
    if (!isUnfinished(row) || row.progress !== undefined) return row;
    const { nodes_total, ...job } = row;
    const progress = getLiveProgress(from, String(row.id), nodes_total);
    return progress ? { ...job, progress } : job;
  });
  return subject === "job" ? rowsWithProgress[0] : { ...value, jobs: rowsWithProgress };
}

/** Reads the queue once per job that was not submitted through the console. */
function requestTotals(from: ProgressSource, rows: readonly unknown[]): void {
  const { connection, composition, upstream } = from;
  if (!hasFeature(connection, "queueGraphs")) return;
  const isUnknown = (row: unknown) =>
    isUnfinished(row) && row.nodes_total === undefined && composition.liveOutputs.requestTotal(getSubscriptionName(from), String(row.id));
  if (rows.filter(isUnknown).length === 0) return;
  void upstream
    .call(operations.listQueue, { waits: "poll" })
    .then((queue) => queue.ok && recordQueueTotals(from, queue.value.queue_running));
}

/** Enough for the running jobs and those that start next. */
const MAX_QUEUED_TOTALS = 50;

/** Counts the nodes of queued jobs from their graphs. `items`: running ones first, then by position. */
export function recordQueueTotals(from: LiveSource, items: readonly (readonly unknown[])[]): void {
  if (isEmbedded(from.connection.baseUrl)) return;
  subscribeToLiveOutputs(from);
  for (const [, id, graph] of items.slice(0, MAX_QUEUED_TOTALS)) {
    recordTotal(from, asText(id), asObject(graph));
    from.composition.runKeys.learnGraph(from.connection.id, asText(id), graph);
  }
}

/** A percentage needs the number of nodes in the graph. */
export function recordTotal(from: LiveSource, jobId: string | undefined, graph: object | undefined): void {
  if (jobId !== undefined && graph) from.composition.liveOutputs.setTotal(getSubscriptionName(from), jobId, Object.keys(graph).length);
}

function isUnfinished(row: unknown): row is JsonObject {
  return isObject(row) && ["pending", "in_progress"].includes(toJobState(asText(row.status) ?? ""));
}

function toLiveProgress({ progress, startedMs }: LiveReport, nodesTotal: number | undefined): LiveProgress | undefined {
  if (!progress) return undefined;
  const { done, within, node, step, steps } = progress;
  const nodes_done = Math.min(done, nodesTotal ?? done);
  const fraction = nodesTotal && { value: Math.min(1, (nodes_done + within) / nodesTotal), nodes_total: nodesTotal };
  return { ...fraction, nodes_done, current_node: node, step, steps, start_time: startedMs };
}

/** What a running job reports, in the format of a row's `progress`, including its outputs so far. */
export function getLiveProgress(
  from: LiveSource & { connection: Pick<Connection, "seenOf"> },
  jobId: string,
  nodesTotal: unknown,
): LiveProgress | undefined {
  const { liveOutputs } = from.composition;
  const report = liveOutputs.reportOf(getSubscriptionName(from), jobId);
  // The embedded service reports when a job started.
  const startedMs = isEmbedded(from.connection.baseUrl) ? undefined : report?.startedMs;
  const progress = report && toLiveProgress({ ...report, startedMs }, asNumber(nodesTotal) ?? report.nodesTotal);
  // Members with access to jobs only get the files listed in job responses.
  if (!progress || from.connection.seenOf !== undefined) return progress;
  const { version } = liveOutputs.previewOf(getSubscriptionName(from), jobId) ?? {};
  const hasOutputs = Object.keys(report.outputs).length > 0;
  return { ...progress, ...(hasOutputs && { outputs: report.outputs }), ...(version !== undefined && { preview: version }) };
}

export function getPreview(from: LiveSource, jobId: string): Preview | undefined {
  return from.composition.liveOutputs.previewOf(getSubscriptionName(from), jobId);
}

export function watchLiveOutputs(from: LiveSource, watcher: Watcher): { stop(): void; isConnected(): boolean } {
  return from.composition.liveOutputs.watch(getSubscriptionName(from), watcher);
}

/** Starts listening. Call it before submitting a job, so that no messages are missed. */
export function subscribeToLiveOutputs(from: LiveSource): ReadonlyMap<string, LiveReport> {
  const { liveOutputs, listenTo, clientId, jobAnswers } = from.composition;
  return liveOutputs.at(getSubscriptionName(from), (target) => {
    const redactor = createMessageRedactor(from, target);
    let currentSecond = 0;
    let bytes = 0;
    let previewMs = -Infinity;
    // Without a client id, the embedded service sends the jobs of all clients.
    return listenTo(from.target, isEmbedded(from.connection.baseUrl) ? undefined : clientId, {
      send(message) {
        target.received();
        if (typeof message === "string" && isStateChange(message)) {
          jobAnswers.changed(from.connection.baseUrl);
          target.changed();
        }
        if (typeof message !== "string") {
          const atMs = performance.now();
          if (message.byteLength > MAX_PREVIEW_BYTES || atMs - previewMs < PREVIEW_MS) return;
          previewMs = atMs;
          return redactor.send(message);
        }
        if (!isNeeded(message)) return;
        const now = Math.floor(performance.now() / 1000);
        bytes = now === currentSecond ? bytes + message.length + MESSAGE_COST : 0;
        currentSecond = now;
        if (bytes <= MAX_COST_PER_SECOND) redactor.send(message);
      },
      end: redactor.end,
    });
  });
}

function getSubscriptionName({ connection, fingerprint = "" }: LiveSource): string {
  return [connection.id, connection.baseUrl, fingerprint].join(" ");
}
