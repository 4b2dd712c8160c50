// Live outputs and progress of jobs, from the service's WebSocket.

import "server-only";
import { hasFeature } from "@/lib/contract/connections";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { parseServiceJson } from "@/lib/contract/json/parse-json";
import { type Operation } from "@/lib/contract/operation";
import { operations } from "@/lib/contract/operations";
import { type Outputs } from "@/lib/contract/schemas/execution";
import { feedEnds, type FeedTarget } from "@/lib/shared/http-types";
import { type Parts, type Target } from "../composition-type";
import { type Connection } from "../store/connections";
import { keyGate } from "../upstream/key-gate";
import { isEmbedded } from "../upstream/send";
import { type Upstream } from "../upstream/upstream";
import { isWanted, type LiveReport } from "./live-outputs";
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
      if (waiting > MAX_WAITING_BYTES) return target.end({ code: feedEnds.tryLater, reason: "The service sends more than can be read." });
      last = last.then(async () => {
        const clean = await cleaned(message).catch(() => undefined);
        waiting -= size;
        if (clean !== undefined) target.send(clean);
      });
    },
    end(why) {
      last = last.then(() => target.end(why));
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
/** Small messages have a cost too. */
const MESSAGE_COST = 2048;

type From = Source & {
  composition: Parts<"liveOutputs" | "listenTo" | "clientId">;
  fingerprint: string | undefined;
  target: Target;
};

type Readable = From & { connection: Pick<Connection, "lacks">; upstream: Pick<Upstream, "call"> };

export function getLiveOutputs(from: From, jobId: string): { outputs: Outputs; progress?: LiveReport["progress"] } {
  return subscribeToLiveOutputs(from).get(jobId) ?? { outputs: {} };
}

export function withLiveProgress<T>(operation: Operation, from: Readable, value: T): T;
export function withLiveProgress({ tells }: Operation, from: Readable, value: unknown): unknown {
  if ((tells !== "jobs" && tells !== "job") || isEmbedded(from.connection.baseUrl) || !isObject(value)) return value;
  const rows: unknown[] = tells === "job" ? [value] : Array.isArray(value.jobs) ? value.jobs : [];
  if (!rows.some(isMoving)) return value;
  const live = subscribeToLiveOutputs(from);
  if (tells === "job") noteTotal(from, textOf(value.id), objectOf(objectOf(value.workflow)?.prompt));
  else requestTotals(from, rows);
  const added = rows.map((row) => {
    if (!isMoving(row) || row.progress !== undefined) return row;
    const { nodes_total, ...job } = row;
    return { ...job, ...progressOf(live.get(String(row.id)), numberOf(nodes_total)) };
  });
  return tells === "job" ? added[0] : { ...value, jobs: added };
}

/** Reads the queue once for each job that the console did not submit. */
function requestTotals(from: Readable, rows: readonly unknown[]): void {
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
  for (const [, id, graph] of items.slice(0, MAX_QUEUED_TOTALS)) noteTotal(from, textOf(id), objectOf(graph));
}

/** A percentage requires the graph's number of nodes. */
export function noteTotal(from: From, jobId: string | undefined, graph: object | undefined): void {
  if (jobId !== undefined && graph) from.composition.liveOutputs.setTotal(nameOf(from), jobId, Object.keys(graph).length);
}

function isMoving(row: unknown): row is JsonObject {
  return isObject(row) && ["pending", "in_progress"].includes(toJobState(textOf(row.status) ?? ""));
}

function progressOf(report: LiveReport | undefined, nodesTotal = report?.nodesTotal) {
  if (!report?.progress) return {};
  const { progress } = report;
  const { done, within, node, step, steps } = progress;
  const nodes_done = Math.min(done, nodesTotal ?? done);
  const share = nodesTotal && { value: Math.min(1, (nodes_done + within) / nodesTotal), nodes_total: nodesTotal };
  return { progress: { ...share, nodes_done, current_node: node, step, steps } };
}

/** Starts listening. Call it before a job is submitted, so that nothing of the job is missed. */
export function subscribeToLiveOutputs(from: From): ReadonlyMap<string, LiveReport> {
  const { liveOutputs, listenTo, clientId } = from.composition;
  return liveOutputs.at(nameOf(from), (target) => {
    const clean = passMessages(from, target);
    let second = 0;
    let bytes = 0;
    return listenTo(from.target, clientId, {
      send(message) {
        if (!isWanted(message)) return;
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
