// Records the messages, node details, files, texts and progress of a running job. Kept in memory only.

import { getOwn } from "@/lib/contract/json/json";
import { type ExecutionError } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { createSourceLookup, findReachable } from "@/lib/contract/workflow/graph";
import { type OtherOutputs, type ProducedFile, type RunEvent } from "@/lib/service/nodes/run";

export type Message = [string, Record<string, unknown>];
/** `current_node` is absent until the first node starts. A node that reports no steps is at step 0 of `DEFAULT_STEPS`. */
export type Progress = {
  value: number;
  nodes_done: number;
  nodes_total: number;
  current_node?: string;
  step: number;
  steps: number;
  queued?: RunnerQueuePosition;
};
export type NodeMeta = {
  node_id: string;
  display_node: string;
  parent_node: null;
  real_node_id: string;
  start_time: number;
  end_time: number;
  cached: boolean;
};

export type RunnerQueuePosition = { runner: string; ahead: number };

const DEFAULT_STEPS = 100;

export type Ending = { kind: "success" } | { kind: "error"; error: ExecutionError } | { kind: "interrupted" };
export type RunRecord = ReturnType<typeof createRunRecord>;

export function createRunRecord(jobId: string, graph: Graph, outputs: readonly string[], startMs: number) {
  const meta = new Map<string, NodeMeta>();
  const files: ProducedFile[] = [];
  const texts = new Map<string, string[]>();
  const others = new Map<string, OtherOutputs>();
  const notes: Message[] = [];
  let queuePosition: RunnerQueuePosition | undefined;
  let currentNode: { nodeId: string; startMs: number } | undefined;
  const reachableNodes = [...findReachable(outputs, createSourceLookup(graph))].filter((nodeId) => Object.hasOwn(graph, nodeId));
  let progress: Progress = { value: 0, nodes_done: 0, nodes_total: reachableNodes.length, step: 0, steps: DEFAULT_STEPS };

  const getNodeProgress = () => {
    const { nodes_total } = progress;
    return { value: Math.min(1, meta.size / Math.max(1, nodes_total)), nodes_done: meta.size, nodes_total };
  };

  return {
    get startMs() {
      return startMs;
    },
    markStarted(timeMs: number): void {
      startMs = timeMs;
      queuePosition = undefined;
    },
    files,
    texts,
    others,
    getProgress: (): Progress => (queuePosition ? { ...progress, queued: queuePosition } : progress),

    /** Covers all nodes that ran. A failed or interrupted node ends with the job. */
    getMeta(ending: Ending, endMs: number): Record<string, NodeMeta> {
      const completedNodes = Object.fromEntries(meta);
      const nodeId = ending.kind === "error" ? ending.error.node_id : ending.kind === "interrupted" ? currentNode?.nodeId : undefined;
      if (nodeId === undefined || !Object.hasOwn(graph, nodeId) || meta.has(nodeId)) return completedNodes;
      const nodeStartMs = currentNode?.nodeId === nodeId ? currentNode.startMs : endMs;
      return { ...completedNodes, [nodeId]: toNodeMeta(nodeId, Math.min(nodeStartMs, endMs), endMs, false) };
    },

    recordEvent(event: RunEvent): void {
      if (event.kind === "preview" || event.kind === "begun") return;
      if (event.kind === "queued") {
        queuePosition = { runner: event.runner, ahead: event.ahead };
        return;
      }
      if (event.kind === "note") {
        notes.push(["note", { prompt_id: jobId, timestamp: event.at, ...event.note }]);
        return;
      }
      if (event.kind === "cached") return; // reported again for each node later
      if (event.kind === "start") {
        currentNode = { nodeId: event.nodeId, startMs: event.startMs };
        // Update at once, because a node reports nothing until its first rows are done.
        progress = { ...getNodeProgress(), ...createProgress(event.nodeId) };
        return;
      }
      if (event.kind === "progress") {
        const stepRatio = event.steps ? Math.min(1, (event.step ?? 0) / event.steps) : 0;
        progress = {
          value: event.nodesTotal > 0 ? Math.min(1, (event.nodesDone + stepRatio) / event.nodesTotal) : 0,
          nodes_done: event.nodesDone,
          nodes_total: event.nodesTotal,
          ...createProgress(event.currentNode, event.step, event.steps),
        };
        return;
      }
      const { nodeId } = event;
      if (currentNode?.nodeId === nodeId) currentNode = undefined;
      meta.set(nodeId, toNodeMeta(nodeId, event.startMs, event.endMs, event.cached));
      // A runner's node may report its outputs while the next one is already running.
      if (currentNode) progress = { ...progress, ...getNodeProgress(), value: Math.max(progress.value, getNodeProgress().value) };
      // After the last node, all nodes are done while the outputs are stored.
      else progress = { ...getNodeProgress(), ...createProgress(nodeId, DEFAULT_STEPS) };
      if (event.files.length === 0 && !event.texts && !event.others) return;
      // The last report wins: a runner's history may differ from what it reported during the run.
      files.splice(0, files.length, ...files.filter((file) => file.nodeId !== nodeId), ...event.files);
      if (event.texts) texts.set(nodeId, event.texts);
      else texts.delete(nodeId);
      if (event.others) others.set(nodeId, event.others);
      else others.delete(nodeId);
    },

    getMessages(ending: Ending, endMs: number): Message[] {
      const executedNodes = [...meta.keys()];
      const cachedNodes = executedNodes.filter((nodeId) => meta.get(nodeId)?.cached);
      const firstMessages: Message[] = [
        ["execution_start", { prompt_id: jobId, timestamp: startMs }],
        ["execution_cached", { nodes: cachedNodes, prompt_id: jobId, timestamp: startMs }],
        ...notes,
      ];
      if (ending.kind === "success") return [...firstMessages, ["execution_success", { prompt_id: jobId, timestamp: endMs }]];
      if (ending.kind === "error")
        return [...firstMessages, ["execution_error", { prompt_id: jobId, ...ending.error, executed: executedNodes, timestamp: endMs }]];
      const node_id = currentNode?.nodeId ?? progress.current_node ?? "";
      return [
        ...firstMessages,
        [
          "execution_interrupted",
          { prompt_id: jobId, node_id, node_type: getOwn(graph, node_id)?.class_type ?? "", executed: executedNodes, timestamp: endMs },
        ],
      ];
    },
  };
}

function createProgress(current_node: string, step = 0, steps = DEFAULT_STEPS): Pick<Progress, "current_node" | "step" | "steps"> {
  return { current_node, step, steps };
}

function toNodeMeta(nodeId: string, start_time: number, end_time: number, cached: boolean): NodeMeta {
  return { node_id: nodeId, display_node: nodeId, parent_node: null, real_node_id: nodeId, start_time, end_time, cached };
}
