import { copySpellings } from "@/lib/contract/json/exact-json";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { findCycles, findReachable } from "@/lib/contract/workflow/graph";
import { type CheckedNode, checkInputs, type Files, parsePrompt, type PromptError } from "./check-inputs";
import { type NodeLibrary, type ParsedGraph } from "./definition";
import { nodeClasses } from "./library";
import { findFileTexts, findNeeds, type Needs } from "./needs";

/** The maximum number of reported nodes per cycle, because a large graph may have thousands of long cycles. */
const MAX_NODES_PER_CYCLE = 100;

type GraphCheck = {
  graph: ParsedGraph;
  checkedNodes: ReadonlyMap<string, CheckedNode>;
  cycles: readonly (readonly string[])[];
  outputs: readonly string[];
};

/** Limits the search for outputs that depend on invalid nodes. Beyond it, the lists may be incomplete. */
const MAX_SEARCH_STEPS = 500_000;
const MAX_ERROR_LINES = 50;
/** The maximum number of nodes whose cycle is described in full. Further cycles are described briefly, at one of their nodes. */
const MAX_CYCLE_NODES = 100;

function collectErrors({ graph, checkedNodes, cycles, outputs }: GraphCheck): {
  nodeErrors: NodeErrors;
  lines: string[];
  invalidOutputs: Set<string>;
} {
  const errors = new Map<string, NodeError[]>();
  const addErrors = (id: string, nodeErrors: readonly NodeError[]) => errors.set(id, [...(errors.get(id) ?? []), ...nodeErrors]);
  for (const [id, node] of checkedNodes) if (node.errors.length > 0) addErrors(id, node.errors);
  const reportedIds = new Set<string>();
  const reportCycle = (cycle: readonly string[], id: string) => {
    if (reportedIds.has(id)) return;
    addErrors(id, [createCycleError(graph, cycle, id, reportedIds.size < MAX_CYCLE_NODES ? 20 : 2)]);
    reportedIds.add(id);
  };
  for (const cycle of cycles) for (const id of cycle.slice(0, 1)) reportCycle(cycle, id);
  for (const cycle of cycles) for (const id of cycle) if (reportedIds.size < MAX_CYCLE_NODES) reportCycle(cycle, id);

  const getDependents = createDependentLookup(checkedNodes);
  const invalidNodes = findReachable([...errors.keys()], getDependents);
  const stepsPerError = Math.floor(MAX_SEARCH_STEPS / Math.max(1, errors.size));
  const entries = [...errors].map(([id, errorsOfNode]) => {
    const affectedNodes = findReachable([id], getDependents, stepsPerError);
    const dependent_outputs = outputs.filter((output) => affectedNodes.has(output));
    return [id, { errors: errorsOfNode, dependent_outputs, class_type: graph.get(id)?.definition.name }] as const;
  });
  const lines = [...errors.values()].flat().map(({ message, details }) => `${message}: ${details}`);
  return {
    nodeErrors: Object.fromEntries(entries),
    lines: lines.slice(0, MAX_ERROR_LINES),
    invalidOutputs: new Set(outputs.filter((id) => invalidNodes.has(id))),
  };
}

function createCycleError(graph: ParsedGraph, cycle: readonly string[], id: string, maxNodes: number): NodeError {
  const formatNode = (id: string) => `${id} (${graph.get(id)?.definition.name ?? "?"})`;
  const cyclePath = cycle.length > maxNodes ? [...cycle.slice(0, maxNodes).map(formatNode), "…"] : cycle.map(formatNode);
  const details = [...cyclePath, formatNode(cycle[0] ?? id)].join(" -> ");
  const cycle_nodes = cycle.slice(0, 5 * maxNodes);
  return { type: "dependency_cycle", message: "Dependency cycle detected", details, extra_info: { node_id: id, cycle_nodes } };
}

function createDependentLookup(checkedNodes: ReadonlyMap<string, CheckedNode>): (id: string) => readonly string[] {
  const dependents = new Map<string, string[]>();
  for (const [id, { sources }] of checkedNodes) {
    for (const source of sources) {
      const nodeDependents = dependents.get(source);
      if (nodeDependents) nodeDependents.push(id);
      else dependents.set(source, [id]);
    }
  }
  return (id) => dependents.get(id) ?? [];
}

export type Validation =
  | { ok: true; graph: Graph; outputs: string[]; nodeErrors: NodeErrors; images: string[]; needs: Needs }
  | { ok: false; error: PromptError; nodeErrors: NodeErrors };

/** Returns the file names that the valid outputs depend on (`images`), and the graph with literals in the form that nodes expect. */
export function validatePrompt(
  prompt: Record<string, unknown>,
  { targets, files, library = nodeClasses }: { targets?: readonly string[]; files: Files; library?: NodeLibrary },
): Validation {
  const result = parsePrompt(prompt, library);
  if (!result.ok) return { ok: false, error: result.failure, nodeErrors: {} };
  const graph = result.value;
  const targetIds = targets && new Set(targets);
  const outputs = [...graph.values()]
    .filter(({ id, definition }) => definition.isOutput && (targetIds?.has(id) ?? true))
    .map(({ id }) => id);
  if (outputs.length === 0) return { ok: false, error: createNoOutputsError(), nodeErrors: {} };

  const checkedNodes = checkReachableNodes(graph, outputs, files);
  const getSources = (id: string) => checkedNodes.get(id)?.sources ?? [];
  const cycles = [...findCycles([...checkedNodes.keys()], getSources, MAX_NODES_PER_CYCLE)];
  const { nodeErrors, lines, invalidOutputs } = collectErrors({ graph, checkedNodes, cycles, outputs });
  const validOutputs = outputs.filter((id) => !invalidOutputs.has(id));
  if (validOutputs.length === 0) return { ok: false, error: createAllFailedError(lines), nodeErrors };

  const reachableIds = findReachable(validOutputs, getSources);
  const images = [...reachableIds].flatMap((id) => checkedNodes.get(id)?.fileNames ?? []);
  const needs = findNeeds(graph, reachableIds, new Set(images));
  return { ok: true, graph: toGraph(graph, checkedNodes), outputs: validOutputs, nodeErrors, images: [...new Set(images)], needs };
}

/** Returns all file names in the inputs, including those of unchecked nodes, so that one query can look up all of them. */
export function findFileNames(prompt: Record<string, unknown>, library: NodeLibrary): string[] {
  const result = parsePrompt(prompt, library);
  if (!result.ok) return [];
  return [...new Set([...result.value.values()].flatMap(({ node, definition }) => findFileTexts(node, definition)))];
}

function checkReachableNodes(graph: ParsedGraph, outputs: readonly string[], files: Files): Map<string, CheckedNode> {
  const checkedNodes = new Map<string, CheckedNode>();
  findReachable(outputs, (id) => {
    const node = graph.get(id);
    if (!node) return [];
    const checkedNode = checkInputs(node, graph, files);
    checkedNodes.set(id, checkedNode);
    return checkedNode.sources;
  });
  return new Map(
    [...graph.keys()].flatMap((id) => {
      const checkedNode = checkedNodes.get(id);
      return checkedNode ? [[id, checkedNode] as const] : [];
    }),
  );
}

function toGraph(graph: ParsedGraph, checkedNodes: ReadonlyMap<string, CheckedNode>): Graph {
  return Object.fromEntries(
    [...graph].map(([id, { node }]) => {
      const literals = checkedNodes.get(id)?.literals ?? new Map<string, unknown>();
      return [id, { ...node, inputs: copySpellings(node.inputs, { ...node.inputs, ...Object.fromEntries(literals) }) }];
    }),
  );
}

function createNoOutputsError(): PromptError {
  return { type: "prompt_no_outputs", message: "Prompt has no outputs", details: "", extra_info: {} };
}

function createAllFailedError(lines: readonly string[]): PromptError {
  const message = "Prompt outputs failed validation";
  return { type: "prompt_outputs_failed_validation", message, details: lines.join("\n"), extra_info: {} };
}
