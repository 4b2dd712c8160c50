import { isObject } from "@/lib/contract/json";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { toMilliseconds } from "@/lib/contract/times";

export type TimelineNode = { nodeId: string; name: string; startMs?: number; endMs?: number; isCached: boolean; hasFailed: boolean };

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

/** In the order in which the nodes began. A node without times still stands in its place: where a service sends none, the order is all there is. */
export function timelineOf(detail: JobDetail, names: ReadonlyMap<string, string>): TimelineNode[] {
  const failedId = detail.execution_error?.node_id;
  const nodes = Object.entries(detail.execution_meta ?? {}).map(([id, meta]) => ({
    nodeId: id,
    name: names.get(meta.real_node_id ?? id) ?? names.get(id) ?? id,
    startMs: toMilliseconds(meta.start_time),
    endMs: toMilliseconds(meta.end_time),
    isCached: meta.cached === true,
    hasFailed: id === failedId,
  }));
  return nodes.sort((one, other) => (one.startMs ?? Number.POSITIVE_INFINITY) - (other.startMs ?? Number.POSITIVE_INFINITY) || 0);
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
