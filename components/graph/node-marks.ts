import { type Tone } from "@/components/ui/tone";

export const nodeStates = ["done", "cached", "running", "waiting", "stopped", "failed", "refused", "faulty", "unreached"] as const;
export type NodeState = (typeof nodeStates)[number];

/** What became of a node. Nodes without a mark are drawn plain: nothing was said of them. */
export type NodeMark = { state: NodeState; fromMs?: number; toMs?: number; problems?: readonly string[] };
export type NodeMarks = ReadonlyMap<string, NodeMark>;

/** Where the eye should go first: to what failed or was stopped, else to what runs. */
const calling: readonly NodeState[] = ["failed", "refused", "faulty", "stopped", "running"];

export function callingNode(marks: NodeMarks): string | undefined {
  for (const state of calling) for (const [id, mark] of marks) if (mark.state === state) return id;
  return undefined;
}

/** Of several nodes in one box: what calls, else that there is more to come, else that something was done. */
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
