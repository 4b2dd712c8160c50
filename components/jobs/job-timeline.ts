import { isObject } from "@/lib/contract/json";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { isTerminalWord } from "@/lib/contract/states";
import { toMilliseconds } from "@/lib/contract/times";

export type TimelineNode = {
  nodeId: string;
  name: string;
  startMs?: number;
  endMs?: number;
  state: "done" | "cached" | "running" | "failed";
};

/** Titles of the submitted graph's nodes, where the service sends the graph: `{ prompt }` or the bare graph. */
export function nodeNames(workflow: JobDetail["workflow"]): ReadonlyMap<string, string> {
  const graph = isObject(workflow?.prompt) ? workflow.prompt : (workflow ?? {});
  const names = Object.entries(graph).flatMap(([id, node]) => {
    if (!isObject(node) || typeof node.class_type !== "string") return [];
    const title = isObject(node._meta) && typeof node._meta.title === "string" ? node._meta.title.trim() : "";
    return [[id, title || node.class_type] as const];
  });
  return new Map(names);
}

/**
 * In the order in which the nodes began. A node without times still stands in its place: where a service sends none, the order is all there is.
 * The node that failed or is at work closes the list even where the service has no times for it yet.
 */
export function timelineOf(detail: JobDetail, names: ReadonlyMap<string, string>): TimelineNode[] {
  const failedId = detail.execution_error?.node_id;
  const currentId = isTerminalWord(detail.status) ? undefined : detail.progress?.current_node;
  const nodes = Object.entries(detail.execution_meta ?? {}).map(([nodeId, meta]): TimelineNode => {
    const endMs = toMilliseconds(meta.end_time);
    return {
      nodeId,
      name: names.get(meta.real_node_id ?? nodeId) ?? names.get(nodeId) ?? nodeId,
      startMs: toMilliseconds(meta.start_time),
      endMs,
      state: nodeId === failedId ? "failed" : meta.cached ? "cached" : nodeId === currentId && endMs === undefined ? "running" : "done",
    };
  });
  nodes.sort((one, other) => (one.startMs ?? Number.MAX_SAFE_INTEGER) - (other.startMs ?? Number.MAX_SAFE_INTEGER));
  const last = failedId ?? currentId;
  if (last === undefined || nodes.some(({ nodeId }) => nodeId === last)) return nodes;
  return [...nodes, { nodeId: last, name: names.get(last) ?? last, state: failedId === undefined ? "running" : "failed" }];
}

export type Bar = { from: number; to: number };

/** Where each bar stands between the submission and the end of the last node, in hundredths. */
export function barsOf(spans: readonly { startMs?: number; endMs?: number }[], nowMs: number): (Bar | undefined)[] {
  const starts = spans.flatMap(({ startMs }) => (startMs === undefined ? [] : [startMs]));
  const ends = spans.flatMap(({ startMs, endMs }) => (startMs === undefined ? [] : [endMs ?? nowMs]));
  if (starts.length === 0) return spans.map(() => undefined);
  const first = Math.min(...starts);
  const whole = Math.max(1, Math.max(...ends) - first);
  const at = (ms: number) => Math.min(100, Math.max(0, ((ms - first) / whole) * 100));
  return spans.map(({ startMs, endMs }) => (startMs === undefined ? undefined : { from: at(startMs), to: at(endMs ?? nowMs) }));
}
