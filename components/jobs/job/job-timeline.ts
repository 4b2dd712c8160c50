import { textOf } from "@/lib/contract/json/json";
import { own } from "@/lib/contract/json/own";
import { anyText, list, or } from "@/lib/contract/json/readers";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";
import { type JobView } from "@/lib/contract/views/job-view";
import { looseGraph, nodeName } from "@/lib/contract/workflow/graph";

export type TimelineNode = {
  nodeId: string;
  name: string;
  startMs?: number;
  endMs?: number;
  state: "done" | "cached" | "running" | "stopped" | "failed" | "unreached";
};

/** The names of the submitted graph's nodes, where the service sends the graph. */
export function nodeNames({ workflow, class_names: names = {} }: Pick<JobDetail, "workflow" | "class_names">): ReadonlyMap<string, string> {
  const nodes = Object.entries(looseGraph(workflow) ?? {});
  return new Map(
    nodes.flatMap(([id, node]) =>
      node.class_type === undefined ? [] : [[id, nodeName(node, nameOfClass(names, node.class_type))] as const],
    ),
  );
}

export function nameOfClass(names: Readonly<Record<string, string>>, className: string): string | undefined {
  return own(names, className);
}

type Course = Pick<JobView, "state" | "terminal" | "startedAtMs" | "endedAtMs">;

/**
 * In the order in which the nodes began. A node without times keeps its place: where a service sends no times, only the order is known.
 * The node that failed, was stopped or is running follows them even without times; nodes that such a job never reached come
 * last. In a job that did not complete, a node is done only where the service says so or no other reading is possible.
 */
export function timelineOf(detail: JobDetail, names: ReadonlyMap<string, string>, job: Course): TimelineNode[] {
  // A late refusal names no node here, or an empty one.
  const failedId = textOf(detail.execution_error?.node_id);
  const currentId = job.terminal ? undefined : detail.progress?.current_node;
  const isBroken = job.terminal && job.state !== "completed";
  const stoppedId = isBroken ? (failedId ?? stoppedNodeOf(detail)) : undefined;
  const metas = Object.entries(detail.execution_meta ?? {});
  const known = metas.map(([nodeId, meta]): TimelineNode => {
    const endMs = toMilliseconds(meta.end_time);
    return {
      nodeId,
      name: names.get(meta.real_node_id ?? nodeId) ?? names.get(nodeId) ?? nodeId,
      startMs: toMilliseconds(meta.start_time),
      endMs,
      state: nodeId === failedId ? "failed" : meta.cached ? "cached" : nodeId === currentId && endMs === undefined ? "running" : "done",
    };
  });
  known.sort((one, other) => (one.startMs ?? Number.MAX_SAFE_INTEGER) - (other.startMs ?? Number.MAX_SAFE_INTEGER));
  const last = failedId ?? stoppedId ?? currentId;
  const isListed = last === undefined || known.some(({ nodeId }) => nodeId === last);
  const reported = reportedStates(detail);
  const executed = new Set(reported.flatMap(([nodeId, was]) => (was === "done" ? [nodeId] : [])));
  if (isBroken) for (const node of known) if (node.state === "done" && !hasEnded(node, known, stoppedId, executed)) node.state = "stopped";
  const untimed = reported.filter(([nodeId]) => own(detail.execution_meta, nodeId) === undefined && nodeId !== last);
  const unlisted = (state: "cached" | "done") =>
    untimed.flatMap(([nodeId, was]) => (was === state ? [{ nodeId, name: names.get(nodeId) ?? nodeId, state }] : []));
  const listed: TimelineNode[] = [...unlisted("cached"), ...known, ...unlisted("done")];
  const begun: TimelineNode[] = isListed
    ? listed
    : [
        ...listed,
        { nodeId: last, name: names.get(last) ?? last, state: last === failedId ? "failed" : last === stoppedId ? "stopped" : "running" },
      ];
  const isTimed = known.length === 0 ? detail.execution_meta !== undefined : known.some(({ startMs }) => startMs !== undefined);
  const drawn = isTimed
    ? begun.map((node) => (node.state === "failed" || node.state === "stopped" ? withSpan(node, known, job) : node))
    : begun;
  const reached = new Set([...begun.map(({ nodeId }) => nodeId), ...metas.flatMap(([, meta]) => meta.real_node_id ?? [])]);
  return isBroken && begun.length > 0 ? [...drawn, ...unreachedOf(names, reached)] : drawn;
}

/** The node at which the run was interrupted, where the service names it. */
function stoppedNodeOf({ execution_status: status }: JobDetail): string | undefined {
  for (const [event, facts] of status?.messages ?? [])
    if (event === "execution_interrupted" && textOf(facts.node_id)) return textOf(facts.node_id);
  return undefined;
}

/** Whether a node of an incomplete job had ended. Without any word from the service, only the last node that began counts as not ended. */
function hasEnded(
  node: TimelineNode,
  known: readonly TimelineNode[],
  stoppedId: string | undefined,
  executed: ReadonlySet<string>,
): boolean {
  if (node.nodeId === stoppedId) return false;
  if (node.endMs !== undefined || executed.has(node.nodeId)) return true;
  const isReported = stoppedId !== undefined || executed.size > 0 || known.some(({ endMs }) => endMs !== undefined);
  return isReported ? node.startMs === undefined && stoppedId !== undefined : node !== known.at(-1);
}

const idsIn = or(list(anyText), []);

/** Nodes that only the run's messages name: cached ones, and those that were done when the run failed or was stopped. */
function reportedStates(detail: JobDetail): [nodeId: string, state: "cached" | "done"][] {
  const messages = detail.execution_status?.messages ?? [];
  const states = new Map<string, "cached" | "done">();
  for (const id of idsIn(detail.execution_error?.executed)) states.set(id, "done");
  for (const [, facts] of messages) for (const id of idsIn(facts.executed)) states.set(id, "done");
  for (const [event, facts] of messages) if (event === "execution_cached") for (const id of idsIn(facts.nodes)) states.set(id, "cached");
  return [...states];
}

/** A service has times only for finished nodes; the node that failed or was stopped took the rest, from the last end to the job's own. */
function withSpan(node: TimelineNode, known: readonly TimelineNode[], { startedAtMs, endedAtMs }: Course): TimelineNode {
  const ends = known.flatMap(({ nodeId, endMs }) => (nodeId === node.nodeId || endMs === undefined ? [] : [endMs]));
  const startMs = node.startMs ?? (ends.length > 0 ? Math.max(...ends) : startedAtMs);
  const endMs = node.endMs ?? endedAtMs;
  if (startMs === undefined || endMs === undefined) return node;
  return { ...node, startMs, endMs: Math.max(startMs, endMs) };
}

function unreachedOf(names: ReadonlyMap<string, string>, reached: ReadonlySet<string>): TimelineNode[] {
  return [...names].flatMap(([nodeId, name]) => (reached.has(nodeId) ? [] : [{ nodeId, name, state: "unreached" as const }]));
}

export type Bar = { from: number; to: number };

/** Each bar's place between the submission and the end of the last node, in percent. */
export function barsOf(spans: readonly { startMs?: number; endMs?: number }[], nowMs: number): (Bar | undefined)[] {
  const starts = spans.flatMap(({ startMs }) => (startMs === undefined ? [] : [startMs]));
  const ends = spans.flatMap(({ startMs, endMs }) => (startMs === undefined ? [] : [endMs ?? nowMs]));
  if (starts.length === 0) return spans.map(() => undefined);
  const first = Math.min(...starts);
  const whole = Math.max(1, Math.max(...ends) - first);
  const at = (ms: number) => Math.min(100, Math.max(0, ((ms - first) / whole) * 100));
  return spans.map(({ startMs, endMs }) => (startMs === undefined ? undefined : { from: at(startMs), to: at(endMs ?? nowMs) }));
}
