import { type Tone } from "@/components/ui/tone";

export const nodeStates = ["done", "cached", "running", "waiting", "failed", "refused", "unreached"] as const;
export type NodeState = (typeof nodeStates)[number];

/** What became of a node. Nodes without a mark are drawn plain: nobody said anything of them. */
export type NodeMark = { state: NodeState; fromMs?: number; toMs?: number; problems?: readonly string[] };
export type NodeMarks = ReadonlyMap<string, NodeMark>;

export const toneOfState: Readonly<Record<NodeState, Tone>> = {
  done: "ok",
  cached: "ok",
  running: "run",
  waiting: "wait",
  failed: "bad",
  refused: "bad",
  unreached: "off",
};
