import { type Tone } from "@/components/ui/tone";

export type NodeState = "done" | "cached" | "running" | "waiting" | "stopped" | "failed" | "refused" | "faulty" | "unreached";

/** The state of a node. Nodes of unknown state have no mark and are drawn plain. */
export type NodeMark = { state: NodeState; fromMs?: number; toMs?: number; problems?: readonly string[] };
export type NodeMarks = ReadonlyMap<string, NodeMark>;

/** The states to look at first: failed or stopped nodes, otherwise running ones. */
const calling: readonly NodeState[] = ["failed", "refused", "faulty", "stopped", "running"];

export function callingNode(marks: NodeMarks): string | undefined {
  for (const state of calling) for (const [id, mark] of marks) if (mark.state === state) return id;
  return undefined;
}

/** For several nodes in one box: a state to look at first, otherwise that more is to come, otherwise that something is done. */
const telling: readonly NodeState[] = [...calling, "waiting", "unreached", "done", "cached"];

export function tellingMost(one: NodeMark | undefined, { state, problems }: NodeMark): NodeMark {
  return one && telling.indexOf(one.state) <= telling.indexOf(state) ? one : { state, ...(problems && { problems }) };
}

export const toneOfState: Readonly<Record<NodeState, Tone>> = {
  done: "ok",
  cached: "ok",
  running: "run",
  waiting: "wait",
  stopped: "off",
  failed: "bad",
  refused: "bad",
  faulty: "bad",
  unreached: "off",
};
