import { type NodeMark, type NodeMarks } from "@/components/graph/node-marks";
import { type JobFacts } from "./job-facts";

/** What the graph shows of each node. What nobody said anything of stays plain, but while a job runs it waits. */
export function marksOf({ job, timeline, failure }: JobFacts, nodeIds: readonly string[]): NodeMarks {
  const marks = new Map<string, NodeMark>();
  if (job.state === "in_progress") for (const id of nodeIds) marks.set(id, { state: "waiting" });
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
