import { type NodeMark, type NodeMarks } from "@/components/graph/node-marks";
import { sourcesOf } from "@/lib/contract/graph";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type JobFacts } from "./job-facts";

/** What the graph shows of each node. What nobody said anything of stays plain, but while a job runs it waits. */
export function marksOf({ job, timeline, failure }: JobFacts, graph: Graph): NodeMarks {
  const marks = new Map<string, NodeMark>();
  if (job.state === "in_progress") {
    // Services name only the node at work: what it takes from has to be there.
    const before = sourcesOf(graph, job.progress?.currentNode ?? "");
    for (const id of Object.keys(graph)) marks.set(id, { state: before.has(id) ? "done" : "waiting" });
  }
  for (const { nodeId, state, startMs, endMs } of timeline) {
    marks.set(nodeId, {
      state,
      ...(startMs !== undefined && { fromMs: startMs }),
      ...(endMs !== undefined && { toMs: endMs }),
      ...(state === "failed" && failure && { problems: [[failure.type, failure.message].filter(Boolean).join(": ")] }),
    });
  }
  for (const { nodeId, errors } of failure?.refused ?? []) {
    marks.set(nodeId, { state: "refused", problems: errors.map(({ message, details }) => [message, details].filter(Boolean).join(": ")) });
  }
  return marks;
}
