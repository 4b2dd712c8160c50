// Reports a run as the family does (GET /ws): execution_start, execution_cached, executing, progress, progress_state, executed at once for
// each node with outputs; once its end is stored, the remaining executed, execution_success, _error or _interrupted, then executing null.
// Guarantees: `executed` names files that can be fetched by then, from the run while it goes on and from the store afterwards; nothing is
// reported about a run after its end.

import { objectOf } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type JobEvents, type JobRecipients } from "@/lib/service/events/elsewhere";
import { type RunEvent } from "@/lib/service/nodes/run";
import { query, type Reader } from "@/lib/service/store/database";
import { resultTexts, whole } from "../stored-texts";
import { isTerminal } from "../transitions";
import { outputOfNode } from "./adopt-outputs";

/** Each progress_state names every node that has begun; for larger graphs it is left out. */
const MOST_NODES_IN_STATE = 500;

export type RunTeller = ReturnType<typeof createRunTeller>;

export function createRunTeller(events: JobEvents, job: { id: string; seq: number; nodes: number } & JobRecipients) {
  const prompt_id = job.id;
  const finished = new Set<string>();
  const reportedNodes = new Set<string>();
  let isOver = false;

  const tell = (type: string, data: object) => events.tell(job, type, data);

  function tellExecuted(node: string, output: unknown): void {
    reportedNodes.add(node);
    tell("executed", { node, display_node: node, output, prompt_id });
  }

  function tellState(running: { nodeId: string; value: number; max: number }): void {
    if (job.nodes > MOST_NODES_IN_STATE) return;
    const nodes = [...finished].map((nodeId) => [nodeId, stateOf(nodeId, "finished", 1, 1)] as const);
    tell("progress_state", {
      prompt_id,
      nodes: Object.fromEntries([...nodes, [running.nodeId, stateOf(running.nodeId, "running", running.value, running.max)]]),
    });
  }
  const stateOf = (node_id: string, state: string, value: number, max: number) => ({
    value,
    max,
    state,
    node_id,
    display_node_id: node_id,
    real_node_id: node_id,
    parent_node_id: null,
    prompt_id,
  });

  return {
    begun(startMs: number): void {
      tell("execution_start", { prompt_id, timestamp: startMs });
    },

    note(event: Exclude<RunEvent, { kind: "begun" | "queued" | "note" }>): void {
      if (isOver || !events.hasListeners(job)) return;
      if (event.kind === "preview") events.show(job, event.bytes);
      else if (event.kind === "cached") {
        for (const nodeId of event.nodeIds) finished.add(nodeId);
        tell("execution_cached", { nodes: event.nodeIds, prompt_id, timestamp: event.at });
      } else if (event.kind === "start") {
        tell("executing", { node: event.nodeId, display_node: event.nodeId, prompt_id });
        tellState({ nodeId: event.nodeId, value: 0, max: 1 });
      } else if (event.kind === "progress") {
        const { currentNode: node, step = 0, steps } = event;
        if (steps === undefined) return;
        tell("progress", { value: step, max: steps, prompt_id, node });
        tellState({ nodeId: node, value: step, max: steps });
      } else {
        finished.add(event.nodeId);
        const output = outputOfNode(event);
        if (output) tellExecuted(event.nodeId, output);
      }
    },

    /** Reports how the job ended, by what is stored; nothing if it waits again. */
    async ended(reader: Reader): Promise<void> {
      if (isOver) return;
      isOver = true;
      if (!events.hasListeners(job)) return;
      const row = await reader.row(query.selectFrom("jobs").select("state").where("seq", "=", job.seq));
      const stored = row && isTerminal(row.state) ? (await resultTexts(reader, [job.seq])).get(job.seq) : undefined;
      if (!stored) return;
      const result = whole(stored);
      for (const [node, output] of Object.entries(objectOf(parseExactJson(result.outputs)) ?? {}))
        if (!reportedNodes.has(node)) tellExecuted(node, output);
      const messages = parseExactJson(result.messages);
      const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
      if (Array.isArray(last) && typeof last[0] === "string") tell(last[0], objectOf(last[1]) ?? {});
      events.queueChanged(job.userId);
      tell("executing", { node: null, prompt_id });
    },
  };
}
