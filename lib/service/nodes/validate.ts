import { withSpellingsOf } from "@/lib/contract/json/exact-json";
import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type Graph } from "@/lib/contract/schemas/graph";
import { findCycles, reach } from "@/lib/contract/workflow/graph";
import { type CheckedNode, checkInputs, type Files, parsePrompt, type PromptError } from "./check-inputs";
import { type NodeLibrary, type ParsedGraph } from "./definition";
import { nodeClasses } from "./library";
import { findFileTexts, findNeeds, type Needs } from "./needs";

/** At most this many nodes of a loop are reported: a graph of thousands has thousands of loops of thousands. */
const MAX_NODES = 100;

type GraphCheck = {
  graph: ParsedGraph;
  checked: ReadonlyMap<string, CheckedNode>;
  cycles: readonly (readonly string[])[];
  outputs: readonly string[];
};

/** Steps spent on naming the outputs that depend on each bad node; after these, lists may be short. */
const BUDGET = 500_000;
const MAX_LINES = 50;
/** Nodes whose loop is described in full; beyond these, each loop is reported briefly at one of its nodes. */
const MAX_CYCLE_NODES = 100;

function collectErrors({ graph, checked, cycles, outputs }: GraphCheck): {
  nodeErrors: NodeErrors;
  lines: string[];
  invalidOutputs: Set<string>;
} {
  const errors = new Map<string, NodeError[]>();
  const add = (id: string, nodeErrors: readonly NodeError[]) => errors.set(id, [...(errors.get(id) ?? []), ...nodeErrors]);
  for (const [id, node] of checked) if (node.errors.length > 0) add(id, node.errors);
  const looped = new Set<string>();
  const notify = (cycle: readonly string[], id: string) => {
    if (looped.has(id)) return;
    add(id, [cycleError(graph, cycle, id, looped.size < MAX_CYCLE_NODES ? 20 : 2)]);
    looped.add(id);
  };
  for (const cycle of cycles) for (const id of cycle.slice(0, 1)) notify(cycle, id);
  for (const cycle of cycles) for (const id of cycle) if (looped.size < MAX_CYCLE_NODES) notify(cycle, id);

  const dependentsOf = reverse(checked);
  const invalidNodes = reach([...errors.keys()], dependentsOf);
  const stepsPerError = Math.floor(BUDGET / Math.max(1, errors.size));
  const entries = [...errors].map(([id, found]) => {
    const affected = reach([id], dependentsOf, stepsPerError);
    const dependent_outputs = outputs.filter((output) => affected.has(output));
    return [id, { errors: found, dependent_outputs, class_type: graph.get(id)?.definition.name }] as const;
  });
  const lines = [...errors.values()].flat().map(({ message, details }) => `${message}: ${details}`);
  return {
    nodeErrors: Object.fromEntries(entries),
    lines: lines.slice(0, MAX_LINES),
    invalidOutputs: new Set(outputs.filter((id) => invalidNodes.has(id))),
  };
}

function cycleError(graph: ParsedGraph, cycle: readonly string[], id: string, maxNodes: number): NodeError {
  const named = (id: string) => `${id} (${graph.get(id)?.definition.name ?? "?"})`;
  const cyclePath = cycle.length > maxNodes ? [...cycle.slice(0, maxNodes).map(named), "…"] : cycle.map(named);
  const details = [...cyclePath, named(cycle[0] ?? id)].join(" -> ");
  const cycle_nodes = cycle.slice(0, 5 * maxNodes);
  return { type: "dependency_cycle", message: "Dependency cycle detected", details, extra_info: { node_id: id, cycle_nodes } };
}

function reverse(checked: ReadonlyMap<string, CheckedNode>): (id: string) => readonly string[] {
  const dependents = new Map<string, string[]>();
  for (const [id, { sources }] of checked) {
    for (const source of sources) {
      const list = dependents.get(source);
      if (list) list.push(id);
      else dependents.set(source, [id]);
    }
  }
  return (id) => dependents.get(id) ?? [];
}

export type Validation =
  | { ok: true; graph: Graph; outputs: string[]; nodeErrors: NodeErrors; images: string[]; needs: Needs }
  | { ok: false; error: PromptError; nodeErrors: NodeErrors };

/** `images`: the names that the nodes behind the good outputs load. `graph`: with literals in the form that nodes want. */
export function validatePrompt(
  prompt: Record<string, unknown>,
  { targets, files, library = nodeClasses }: { targets?: readonly string[]; files: Files; library?: NodeLibrary },
): Validation {
  const parsed = parsePrompt(prompt, library);
  if (!parsed.ok) return { ok: false, error: parsed.failure, nodeErrors: {} };
  const graph = parsed.value;
  const targetIds = targets && new Set(targets);
  const outputs = [...graph.values()]
    .filter(({ id, definition }) => definition.isOutput && (targetIds?.has(id) ?? true))
    .map(({ id }) => id);
  if (outputs.length === 0) return { ok: false, error: noOutputs(), nodeErrors: {} };

  const checked = checkReached(graph, outputs, files);
  const sourcesOf = (id: string) => checked.get(id)?.sources ?? [];
  const cycles = [...findCycles([...checked.keys()], sourcesOf, MAX_NODES)];
  const { nodeErrors, lines, invalidOutputs: badOutputs } = collectErrors({ graph, checked, cycles, outputs });
  const validOutputs = outputs.filter((id) => !badOutputs.has(id));
  if (validOutputs.length === 0) return { ok: false, error: allFailed(lines), nodeErrors };

  const reached = reach(validOutputs, sourcesOf);
  const images = [...reached].flatMap((id) => checked.get(id)?.fileNames ?? []);
  const needs = findNeeds(graph, reached, new Set(images));
  return { ok: true, graph: toGraph(graph, checked), outputs: validOutputs, nodeErrors, images: [...new Set(images)], needs };
}

/** Every file name in the inputs, also of nodes that are not checked: all names are looked up together, before anything is checked. */
export function fileNamesIn(prompt: Record<string, unknown>, library: NodeLibrary): string[] {
  const parsed = parsePrompt(prompt, library);
  if (!parsed.ok) return [];
  return [...new Set([...parsed.value.values()].flatMap(({ node, definition }) => findFileTexts(node, definition)))];
}

function checkReached(graph: ParsedGraph, outputs: readonly string[], files: Files): Map<string, CheckedNode> {
  const checkedNodes = new Map<string, CheckedNode>();
  reach(outputs, (id) => {
    const node = graph.get(id);
    if (!node) return [];
    const checked = checkInputs(node, graph, files);
    checkedNodes.set(id, checked);
    return checked.sources;
  });
  return new Map(
    [...graph.keys()].flatMap((id) => {
      const checked = checkedNodes.get(id);
      return checked ? [[id, checked] as const] : [];
    }),
  );
}

function toGraph(graph: ParsedGraph, checked: ReadonlyMap<string, CheckedNode>): Graph {
  return Object.fromEntries(
    [...graph].map(([id, { node }]) => {
      const literals = checked.get(id)?.literals ?? new Map<string, unknown>();
      return [id, { ...node, inputs: withSpellingsOf(node.inputs, { ...node.inputs, ...Object.fromEntries(literals) }) }];
    }),
  );
}

function noOutputs(): PromptError {
  return { type: "prompt_no_outputs", message: "Prompt has no outputs", details: "", extra_info: {} };
}

function allFailed(lines: readonly string[]): PromptError {
  const message = "Prompt outputs failed validation";
  return { type: "prompt_outputs_failed_validation", message, details: lines.join("\n"), extra_info: {} };
}
