// Gathers the errors that were found into node_errors, and says which outputs are bad: those that reach a node with an error.

import { type NodeError, type NodeErrors } from "@/lib/contract/schemas/execution";
import { type CheckedNode } from "./check-inputs";
import { type ParsedGraph } from "./parse-prompt";
import { reach } from "./reach";

type Found = {
  graph: ParsedGraph;
  checked: ReadonlyMap<string, CheckedNode>;
  cycles: readonly (readonly string[])[];
  outputs: readonly string[];
};

/** Steps spent on naming the outputs that depend on each bad node; after these, lists may be short. */
const BUDGET = 500_000;
const MOST_LINES = 50;
/** Nodes whose loop is described in full; beyond these, each loop is reported briefly at one of its nodes. */
const MOST_CYCLE_NODES = 100;

export function collectErrors({ graph, checked, cycles, outputs }: Found): {
  nodeErrors: NodeErrors;
  lines: string[];
  badOutputs: Set<string>;
} {
  const errors = new Map<string, NodeError[]>();
  const add = (id: string, found: readonly NodeError[]) => errors.set(id, [...(errors.get(id) ?? []), ...found]);
  for (const [id, node] of checked) if (node.errors.length > 0) add(id, node.errors);
  const looped = new Set<string>();
  const tell = (cycle: readonly string[], id: string) => {
    if (looped.has(id)) return;
    add(id, [cycleError(graph, cycle, id, looped.size < MOST_CYCLE_NODES ? 20 : 2)]);
    looped.add(id);
  };
  for (const cycle of cycles) for (const id of cycle.slice(0, 1)) tell(cycle, id);
  for (const cycle of cycles) for (const id of cycle) if (looped.size < MOST_CYCLE_NODES) tell(cycle, id);

  const dependentsOf = reverse(checked);
  const bad = reach([...errors.keys()], dependentsOf);
  const each = Math.floor(BUDGET / Math.max(1, errors.size));
  const entries = [...errors].map(([id, found]) => {
    const affected = reach([id], dependentsOf, each);
    const dependent_outputs = outputs.filter((output) => affected.has(output));
    return [id, { errors: found, dependent_outputs, class_type: graph.get(id)?.definition.name }] as const;
  });
  const lines = [...errors.values()].flat().map(({ message, details }) => `${message}: ${details}`);
  return {
    nodeErrors: Object.fromEntries(entries),
    lines: lines.slice(0, MOST_LINES),
    badOutputs: new Set(outputs.filter((id) => bad.has(id))),
  };
}

function cycleError(graph: ParsedGraph, cycle: readonly string[], id: string, most: number): NodeError {
  const named = (each: string) => `${each} (${graph.get(each)?.definition.name ?? "?"})`;
  const shown = cycle.length > most ? [...cycle.slice(0, most).map(named), "…"] : cycle.map(named);
  const details = [...shown, named(cycle[0] ?? id)].join(" -> ");
  const cycle_nodes = cycle.slice(0, 5 * most);
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
