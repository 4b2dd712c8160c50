// Live outputs and progress of jobs, from the service's WebSocket.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { parseServiceJson } from "@/lib/contract/json/parse-json";
import { type LiveProgress } from "@/lib/contract/live";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type Outputs } from "@/lib/contract/schemas/execution";
import { feedEnds, type FeedTarget } from "@/lib/shared/http-types";
import { type Parts, type Target } from "../composition-type";
import { type Connection } from "../store/connections";
import { keyGate } from "../upstream/key-gate";
import { isEmbedded } from "../upstream/send";
import { type Upstream } from "../upstream/upstream";
import { isNeeded, isStateChange, type LiveReport, MAX_PREVIEW_BYTES, type Preview, type Watcher } from "./live-outputs";
import { redactForBrowser, type Source } from "./redact";

const MAX_WAITING_BYTES = 16 * 1024 * 1024;

export function passMessages(from: Source, target: FeedTarget): FeedTarget {
  const gate = keyGate(from.apiKey);
  let waiting = 0;
  let last = Promise.resolve();

  async function cleaned(message: string | Uint8Array): Promise<string | Uint8Array | undefined> {
    if (typeof message !== "string") return gate.has(Buffer.from(message).toString("latin1")) ? undefined : message;
    const value = readObject(await gate.text(message));
    return value && writeExactJson(redactForBrowser(value, from));
  }

  return {
    send(message) {
      const size = message.length;
      waiting += size;
      if (waiting > MAX_WAITING_BYTES)
        return target.end({ code: feedEnds.tryLater, reason: "The service sends more messages than the client reads." });
      last = last.then(async () => {
        const clean = await cleaned(message).catch(() => undefined);
        waiting -= size;
        if (clean !== undefined) target.send(clean);
      });
    },
    end(feedEnd) {
      last = last.then(() => target.end(feedEnd));
    },
  };
}

function readObject(text: string): object | undefined {
  try {
    const value: unknown = parseServiceJson(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** If a service sends more, the rest of the second is dropped. */
const MAX_COST_PER_SECOND = 1024 ** 2;
const PREVIEW_MS = 250;
/** Each message also has a fixed cost. */
const MESSAGE_COST = 2048;

type From = Source & {
  composition: Parts<"liveOutputs" | "listenTo" | "clientId" | "jobAnswers" | "runKeys">;
  fingerprint: string | undefined;
  target: Target;
};

type ProgressSource = From & { connection: Pick<Connection, "lacks" | "seenOf">; upstream: Pick<Upstream, "call"> };

export function getLiveOutputs(from: From, jobId: string): { outputs: Outputs; progress?: LiveReport["progress"] } {
  return subscribeToLiveOutputs(from).get(jobId) ?? { outputs: {} };
}

export function withLiveProgress<T>(operation: Operation, from: ProgressSource, value: T): T;
export function withLiveProgress({ subject }: Operation, from: ProgressSource, value: unknown): unknown {
  if ((subject !== "jobs" && subject !== "job") || isEmbedded(from.connection.baseUrl) || !isObject(value)) return value;
  const rows: unknown[] = subject === "job" ? [value] : Array.isArray(value.jobs) ? value.jobs : [];
  if (!rows.some(isMoving)) return value;
  subscribeToLiveOutputs(from);
  if (subject === "job") noteTotal(from, textOf(value.id), objectOf(objectOf(value.workflow)?.prompt));
  else requestTotals(from, rows);
  const added = rows.map((row) => {
    if (!isMoving(row) || row.progress !== undefined) return row;
    const { nodes_total, ...job } = row;
    const progress = liveProgressOf(from, String(row.id), nodes_total);
    return progress ? { ...job, progress } : job;
  });
  return subject === "job" ? added[0] : { ...value, jobs: added };
}

/** Reads the queue once per job that was not submitted through the console. */
function requestTotals(from: ProgressSource, rows: readonly unknown[]): void {
  const { connection, composition, upstream } = from;
  if (!hasFeature(connection, "queueGraphs")) return;
  const isUnknown = (row: unknown) =>
    isMoving(row) && row.nodes_total === undefined && composition.liveOutputs.requestTotal(nameOf(from), String(row.id));
  if (rows.filter(isUnknown).length === 0) return;
  void upstream
    .call(operations.listQueue, { waits: "poll" })
    .then((queue) => queue.ok && noteTotalsInQueue(from, queue.value.queue_running));
}

/** Enough for the running jobs and those that start next. */
const MAX_QUEUED_TOTALS = 50;

/** Counts the nodes of queued jobs from their graphs. `items`: running ones first, then by position. */
export function noteTotalsInQueue(from: From, items: readonly (readonly unknown[])[]): void {
  if (isEmbedded(from.connection.baseUrl)) return;
  subscribeToLiveOutputs(from);
  for (const [, id, graph] of items.slice(0, MAX_QUEUED_TOTALS)) {
    noteTotal(from, textOf(id), objectOf(graph));
    from.composition.runKeys.learnGraph(from.connection.id, textOf(id), graph);
  }
}

/** A percentage requires the graph's number of nodes. */
export function noteTotal(from: From, jobId: string | undefined, graph: object | undefined): void {
  if (jobId !== undefined && graph) from.composition.liveOutputs.setTotal(nameOf(from), jobId, Object.keys(graph).length);
}

function isMoving(row: unknown): row is JsonObject {
  return isObject(row) && ["pending", "in_progress"].includes(toJobState(textOf(row.status) ?? ""));
}

function progressOf({ progress, startedMs }: LiveReport, nodesTotal: number | undefined): LiveProgress | undefined {
  if (!progress) return undefined;
  const { done, within, node, step, steps } = progress;
  const nodes_done = Math.min(done, nodesTotal ?? done);
  const share = nodesTotal && { value: Math.min(1, (nodes_done + within) / nodesTotal), nodes_total: nodesTotal };
  return { ...share, nodes_done, current_node: node, step, steps, start_time: startedMs };
}

/** What a running job reports, in the shape of a row's progress, with its outputs so far. */
export function liveProgressOf(
  from: From & { connection: Pick<Connection, "seenOf"> },
  jobId: string,
  nodesTotal: unknown,
): LiveProgress | undefined {
  const { liveOutputs } = from.composition;
  const report = liveOutputs.reportOf(nameOf(from), jobId);
  // The embedded service reports when a job started.
  const startedMs = isEmbedded(from.connection.baseUrl) ? undefined : report?.startedMs;
  const progress = report && progressOf({ ...report, startedMs }, numberOf(nodesTotal) ?? report.nodesTotal);
  // Members who only see the jobs get the files that the job's own answers name.
  if (!progress || from.connection.seenOf !== undefined) return progress;
  const { version } = liveOutputs.previewOf(nameOf(from), jobId) ?? {};
  const hasOutputs = Object.keys(report.outputs).length > 0;
  return { ...progress, ...(hasOutputs && { outputs: report.outputs }), ...(version !== undefined && { preview: version }) };
}

export function previewOf(from: From, jobId: string): Preview | undefined {
  return from.composition.liveOutputs.previewOf(nameOf(from), jobId);
}

export function watchLiveOutputs(from: From, watcher: Watcher): { stop(): void; isConnected(): boolean } {
  return from.composition.liveOutputs.watch(nameOf(from), watcher);
}

/** Starts listening. Call it before a job is submitted, so that nothing of the job is missed. */
export function subscribeToLiveOutputs(from: From): ReadonlyMap<string, LiveReport> {
  const { liveOutputs, listenTo, clientId, jobAnswers } = from.composition;
  return liveOutputs.at(nameOf(from), (target) => {
    const clean = passMessages(from, target);
    let second = 0;
    let bytes = 0;
    let previewMs = -Infinity;
    // The embedded service sends a listener without a client id the jobs of all clients.
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
          return clean.send(message);
        }
        if (!isNeeded(message)) return;
        const now = Math.floor(performance.now() / 1000);
        bytes = now === second ? bytes + message.length + MESSAGE_COST : 0;
        second = now;
        if (bytes <= MAX_COST_PER_SECOND) clean.send(message);
      },
      end: clean.end,
    });
  });
}

function nameOf({ connection, fingerprint = "" }: From): string {
  return [connection.id, connection.baseUrl, fingerprint].join(" ");
}
