// Converts a runner's messages to run events. They only report progress. The history contains the outcome.

import { type ComfyMessage, subscribeToMessages, type Traffic } from "@/lib/comfyui/socket";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type RunEvent } from "../nodes/run";

type Handlers = {
  onReport: () => void;
  onExecuted: (nodeId: string, output: unknown) => void;
  onEnd: () => void;
  onLimitExceeded: (message: string) => void;
  onEvent: (event: RunEvent) => void;
};

export type JobListener = ReturnType<typeof listenToRunner>;

export function listenToRunner(
  runner: { address: string; clientId: string; traffic: Traffic },
  job: { promptId: string; graph: Graph; nodesTotal: number },
  { onReport, onExecuted, onEnd, onLimitExceeded, onEvent }: Handlers,
) {
  let promptId = job.promptId;
  let runningNode: { nodeId: string; startMs: number } | undefined;
  const timesById = new Map<string, { startMs: number; endMs: number; cached: boolean }>();
  let hasReportedCached = false;
  let hasStarted = false;
  let queueChangeCount = 0;
  const isGraphNode = (id: string | undefined): id is string => id !== undefined && Object.hasOwn(job.graph, id);

  function endNode(nodeId: string, time: { startMs: number; endMs: number; cached: boolean }): void {
    timesById.set(nodeId, time);
    onEvent({ kind: "node", nodeId, ...time, files: [] });
  }

  function endRunningNode(): void {
    if (runningNode) endNode(runningNode.nodeId, { startMs: runningNode.startMs, endMs: Date.now(), cached: false });
    runningNode = undefined;
  }

  function reportCachedNodes(names: readonly string[]): void {
    const cachedIds = new Set(names);
    const nodeIds = Object.keys(job.graph).filter((id) => cachedIds.has(id) && !timesById.has(id));
    if (nodeIds.length === 0 && hasReportedCached) return;
    hasReportedCached = true;
    const nowMs = Date.now();
    onEvent({ kind: "cached", nodeIds, at: nowMs });
    for (const nodeId of nodeIds) endNode(nodeId, { startMs: nowMs, endMs: nowMs, cached: true });
  }

  function handleMessage({ type, jobId, node, displayNode, nodes, step, steps, output, isLast, isEnd }: ComfyMessage): void {
    if (type === "status") queueChangeCount += 1;
    if (jobId !== promptId) return;
    onReport();
    if (!hasStarted) onEvent({ kind: "begun" });
    hasStarted = true;
    // Prefers the display node, if it is in the graph.
    const nodeId = [displayNode, node].find(isGraphNode);
    if (type === "execution_cached") reportCachedNodes(nodes);
    else if (type === "executing" && nodeId === undefined) endRunningNode();
    else if (type === "executing" && nodeId !== undefined && runningNode?.nodeId !== nodeId) {
      endRunningNode();
      runningNode = { nodeId, startMs: Date.now() };
      onEvent({ kind: "start", nodeId, startMs: runningNode.startMs });
    } else if (type === "progress") {
      const currentNode = nodeId ?? runningNode?.nodeId;
      if (currentNode === undefined || step === undefined || !steps) return;
      onEvent({ kind: "progress", nodesDone: timesById.size, nodesTotal: job.nodesTotal, currentNode, step, steps });
    } else if (type === "executed" && isGraphNode(node)) {
      // Uses the node's own id, as the history does. Outputs of other nodes are fetched at the end.
      onExecuted(node, output);
    } else if (type === "execution_success") endRunningNode();
    if (isLast || isEnd) onEnd();
  }

  const { ready, getConnection, stop } = subscribeToMessages(runner, {
    onMessage: handleMessage,
    onPreview: (bytes) => runningNode && onEvent({ kind: "preview", bytes }),
    onLimitExceeded,
  });
  return {
    ready,
    connection: getConnection,
    stop,
    setPromptId: (id: string) => void (promptId = id),
    findTimes: (nodeId: string) => timesById.get(nodeId),
    getQueueVersion: () => (hasStarted ? "begun" : String(queueChangeCount)),
  };
}
