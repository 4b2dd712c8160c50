// Plans the execution order: each node runs after its sources. Ties keep the graph order.

import { getOwn } from "@/lib/contract/json/json";
import { type Graph, type GraphNode } from "@/lib/contract/schemas/graph";
import { createSourceLookup, findReachable, getLinks, sortTopologically } from "@/lib/contract/workflow/graph";
import { type NodeDefinition } from "./definition";
import { nodeClasses } from "./library";

type Source = { source: string; output: number };
export type PlannedNode = {
  id: string;
  node: GraphNode;
  definition: NodeDefinition;
  /** Declared inputs only. Any other inputs in the graph are ignored. */
  links: ReadonlyMap<string, Source>;
  sourceTypes: ReadonlyMap<string, string>;
  position: number;
};

export type Plan = {
  order: readonly PlannedNode[];
  readerCounts: ReadonlyMap<string, number>;
};

/** The graph must have been checked: its classes exist, and the nodes that the outputs depend on have no cycle. */
export function planRun(graph: Graph, outputs: readonly string[]): Plan {
  const nodes = new Map(Object.entries(graph).map(([id, node], position) => [id, { id, node, position, ...selectDeclaredInputs(node) }]));
  const declaredGraph = Object.fromEntries([...nodes].map(([id, { node, inputs }]) => [id, { ...node, inputs }]));
  const reachableIds = findReachable(outputs, createSourceLookup(declaredGraph));
  const order = sortTopologically(declaredGraph).flatMap((id): PlannedNode[] => {
    const plannedNode = reachableIds.has(id) && nodes.get(id);
    if (!plannedNode) return [];
    if (!plannedNode.definition) throw new Error(`There is no node class ${plannedNode.node.class_type}.`);
    const links = new Map(getLinks(plannedNode).map(({ input, ...link }) => [input, link]));
    const getSourceType = ({ source, output }: Source) => nodes.get(source)?.definition?.outputs[output]?.type ?? "*";
    const sourceTypes = new Map([...links].map(([name, link]) => [name, getSourceType(link)]));
    return [{ ...plannedNode, definition: plannedNode.definition, links, sourceTypes }];
  });
  if (order.length < reachableIds.size) throw new Error("The graph has a dependency cycle or lacks a node.");
  return { order, readerCounts: countReaders(order) };
}

function selectDeclaredInputs(node: GraphNode) {
  const definition = nodeClasses.get(node.class_type);
  const inputs = Object.fromEntries((definition?.inputs ?? []).map(({ name }) => [name, getOwn(node.inputs, name)]));
  return { definition, inputs };
}

function countReaders(order: readonly PlannedNode[]): Map<string, number> {
  const readerCounts = new Map<string, number>();
  for (const { links } of order) {
    for (const { source } of links.values()) readerCounts.set(source, (readerCounts.get(source) ?? 0) + 1);
  }
  return readerCounts;
}
