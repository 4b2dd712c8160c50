// The execution order: each node after its sources, ties in graph order. Not recursive, so that long chains work.

import { own } from "@/lib/contract/json/own";
import { type Graph, type GraphNode } from "@/lib/contract/schemas/graph";
import { type InputField, type NodeDefinition } from "./definition";
import { classes } from "./library";
import { type LinkTo, toLink } from "./literal";

export type PlannedNode = {
  id: string;
  node: GraphNode;
  definition: NodeDefinition;
  /** Declared inputs only; anything else in the graph is ignored. */
  links: ReadonlyMap<string, LinkTo>;
  sourceTypes: ReadonlyMap<string, string>;
  place: number;
};

export type Plan = {
  order: readonly PlannedNode[];
  readers: ReadonlyMap<string, number>;
};

/** `graph` must have been checked: its classes exist, and what the outputs reach has no cycle. */
export function planRun(graph: Graph, outputs: readonly string[]): Plan {
  const nodes = reach(graph, outputs);
  const waiting = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const { id, links } of nodes.values()) {
    const sources = new Set([...links.values()].map((link) => link.source));
    waiting.set(id, sources.size);
    for (const source of sources) dependents.set(source, [...(dependents.get(source) ?? []), id]);
  }
  const before = (a: string, b: string) => (nodes.get(a)?.place ?? 0) - (nodes.get(b)?.place ?? 0);
  const ready = [...nodes.keys()].filter((id) => waiting.get(id) === 0).sort(before);
  const order: PlannedNode[] = [];
  for (let id = ready.shift(); id !== undefined; id = ready.shift()) {
    const node = nodes.get(id);
    if (node) order.push(node);
    for (const dependent of dependents.get(id) ?? []) {
      const left = (waiting.get(dependent) ?? 0) - 1;
      waiting.set(dependent, left);
      if (left === 0) insertSorted(ready, dependent, before);
    }
  }
  if (order.length < nodes.size) throw new Error("The graph has a dependency cycle.");
  return { order, readers: countReaders(order) };
}

function reach(graph: Graph, outputs: readonly string[]): Map<string, PlannedNode> {
  const all = new Map(Object.entries(graph).map(([id, node], place) => [id, { node, place }]));
  const found = new Map<string, PlannedNode>();
  const open = [...outputs];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    const entry = all.get(id);
    if (!entry) throw new Error(`The graph has no node ${id}.`);
    const definition = classOf(entry.node);
    const links = linksOf(entry.node, definition.inputs);
    const sourceTypes = new Map<string, string>();
    for (const [name, { source, index }] of links) {
      const from = all.get(source)?.node;
      sourceTypes.set(name, (from && classOf(from).outputs[index]?.type) ?? "*");
      open.push(source);
    }
    found.set(id, { id, ...entry, definition, links, sourceTypes });
  }
  return found;
}

function classOf(node: GraphNode): NodeDefinition {
  const definition = classes.get(node.class_type);
  if (!definition) throw new Error(`There is no node class ${node.class_type}.`);
  return definition;
}

function linksOf(node: GraphNode, fields: readonly InputField[]): Map<string, LinkTo> {
  const links = new Map<string, LinkTo>();
  for (const { name } of fields) {
    const link = toLink(own(node.inputs, name));
    if (link) links.set(name, link);
  }
  return links;
}

function countReaders(order: readonly PlannedNode[]): Map<string, number> {
  const readers = new Map<string, number>();
  for (const { links } of order) {
    for (const { source } of links.values()) readers.set(source, (readers.get(source) ?? 0) + 1);
  }
  return readers;
}

function insertSorted(list: string[], id: string, before: (a: string, b: string) => number): void {
  let low = 0;
  for (let high = list.length; low < high;) {
    const middle = (low + high) >> 1;
    if (before(list[middle] ?? "", id) < 0) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, id);
}
