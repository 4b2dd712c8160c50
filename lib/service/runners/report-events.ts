// Turns what a runner reports of one job while it runs into the events of a run.
// Best effort on purpose: how a job ended is read from its history; without this, only progress is missing.
// Guarantees: repeated messages are reported once; a message about another job is never taken for one about this job.

import { type ComfyMessage, followMessages, type Traffic } from "@/lib/comfyui/socket";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type RunEvent } from "../nodes/run";

type Handlers = {
  /** Any message about the job came. */
  reported: () => void;
  /** A node has put something out that can be fetched from the runner. */
  executed: (nodeId: string, output: unknown) => void;
  /** The job has ended at the runner, in whatever way. */
  ended: () => void;
  /** The runner exceeds its limits; nothing more from it is read. `message`: the reason, as a sentence. */
  exceeded: (message: string) => void;
  on: (event: RunEvent) => void;
};

export type Listening = ReturnType<typeof listenTo>;

export function listenTo(
  runner: { address: string; clientId: string; traffic: Traffic },
  job: { promptId: string; graph: Graph; nodesTotal: number },
  { reported, executed, ended, exceeded, on }: Handlers,
) {
  let promptId = job.promptId;
  let working: { nodeId: string; startMs: number } | undefined;
  const times = new Map<string, { startMs: number; endMs: number; cached: boolean }>();
  let hasCached = false;
  let hasBegun = false;
  let queueChanges = 0;
  const isOwn = (id: string | undefined): id is string => id !== undefined && Object.hasOwn(job.graph, id);

  function endNode(nodeId: string, time: { startMs: number; endMs: number; cached: boolean }): void {
    times.set(nodeId, time);
    on({ kind: "node", nodeId, ...time, files: [] });
  }

  function endWorking(): void {
    if (working) endNode(working.nodeId, { startMs: working.startMs, endMs: Date.now(), cached: false });
    working = undefined;
  }

  function noteCached(names: readonly string[]): void {
    const named = new Set(names);
    const nodeIds = Object.keys(job.graph).filter((id) => named.has(id) && !times.has(id));
    if (nodeIds.length === 0 && hasCached) return;
    hasCached = true;
    const at = Date.now();
    on({ kind: "cached", nodeIds, at });
    for (const nodeId of nodeIds) endNode(nodeId, { startMs: at, endMs: at, cached: true });
  }

  function handle({ type, jobId, node, shownNode, nodes, step, steps, output, isLast, isEnd }: ComfyMessage): void {
    if (type === "status") queueChanges += 1;
    if (jobId !== promptId) return;
    reported();
    if (!hasBegun) on({ kind: "begun" });
    hasBegun = true;
    // If the screen shows another node in place of this one, that node is reported.
    const nodeId = [shownNode, node].find(isOwn);
    if (type === "execution_cached") noteCached(nodes);
    else if (type === "executing" && nodeId === undefined) endWorking();
    else if (type === "executing" && nodeId !== undefined && working?.nodeId !== nodeId) {
      endWorking();
      working = { nodeId, startMs: Date.now() };
      on({ kind: "start", nodeId, startMs: working.startMs });
    } else if (type === "progress") {
      const currentNode = nodeId ?? working?.nodeId;
      if (currentNode === undefined || step === undefined || !steps) return;
      on({ kind: "progress", nodesDone: times.size, nodesTotal: job.nodesTotal, currentNode, step, steps });
    } else if (type === "executed" && isOwn(node)) {
      // By the node itself, as in the history; the outputs of one that is not in the graph are fetched at the end.
      executed(node, output);
    } else if (type === "execution_success") endWorking();
    if (isLast || isEnd) ended();
  }

  const { ready, connection, stop } = followMessages(runner, {
    message: handle,
    preview: (bytes) => working && on({ kind: "preview", bytes }),
    exceeded,
  });
  return {
    /** Resolves once the connection is open, or cannot be opened. */
    ready,
    connection,
    stop,
    /** Sets the job's id at the runner, if the runner chose its own. */
    isCalled: (id: string) => void (promptId = id),
    /** The times of the nodes that have ended; the running one ends with the run. */
    timesOf: (nodeId: string) => times.get(nodeId),
    /** Changes with the runner's queue, and when the job starts. */
    queueVersion: () => (hasBegun ? "begun" : String(queueChanges)),
  };
}
