// The prompt graph: links, order and loops. No recursion: chains may have 5,000 nodes. Free of zod: browsers load it with the first page.

import { type JsonObject, objectOf } from "../json/json";
import { own } from "../json/own";
import { anything, map, object, type ReadBy, text } from "../json/readers";
import { type Graph, type GraphNode, type Link } from "../schemas/graph";

export { readWorkflow, type WorkflowProblem } from "./read-workflow";

type GraphLink = { nodeId: string; input: string; source: string; output: number };

/** Any list of [text, whole number]; `{ __value__: [...] }` wraps a literal list so that it is not a link. */
export function isLink(value: unknown): value is Link {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && Number.isInteger(value[1]) && Number(value[1]) >= 0;
}

/** Node ids in order, each with its class and the inputs that `keeps` selects: equal for equal graphs in any order. */
export function shapeOf(graph: JsonObject, keeps: (nodeId: string, name: string, value: unknown) => boolean): unknown[] {
  return Object.keys(graph)
    .sort()
    .map((nodeId) => {
      const node = objectOf(own(graph, nodeId));
      const inputs = Object.entries(objectOf(node && own(node, "inputs")) ?? {})
        .filter(([name, value]) => keeps(nodeId, name, value))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      return [nodeId, node && own(node, "class_type"), inputs];
    });
}

export function isSeedName(name: string): boolean {
  return /(^|_)seed$/i.test(name);
}

export function linksOf(node: Pick<GraphNode, "inputs">): Omit<GraphLink, "nodeId">[] {
  return Object.entries(node.inputs ?? {}).flatMap(([input, value]) =>
    isLink(value) ? [{ input, source: value[0], output: value[1] }] : [],
  );
}

export function allLinks(graph: Graph): GraphLink[] {
  return Object.entries(graph).flatMap(([nodeId, node]) => linksOf(node).map((link) => ({ nodeId, ...link })));
}

export function danglingLinks(graph: Graph): GraphLink[] {
  return allLinks(graph).filter((link) => !Object.hasOwn(graph, link.source));
}

/** Node ids, each after its sources; nodes that are ready at once keep the graph's order. Nodes in or behind a loop are left out. */
export function topologicalOrder(graph: Graph): string[] {
  const ids = Object.keys(graph);
  const indexById = new Map(ids.map((id, index) => [id, index]));
  const waitsFor = ids.map(() => 0);
  const followers: number[][] = ids.map(() => []);
  for (const { nodeId, source } of allLinks(graph)) {
    const [from, to] = [indexById.get(source), indexById.get(nodeId)];
    if (from === undefined || to === undefined) continue;
    followers[from]?.push(to);
    waitsFor[to] = (waitsFor[to] ?? 0) + 1;
  }
  const ready = ids.flatMap((_, index) => (waitsFor[index] === 0 ? [index] : [])).reverse();
  const order: string[] = [];
  for (let index = ready.pop(); index !== undefined; index = ready.pop()) {
    order.push(ids[index] ?? "");
    for (const follower of followers[index] ?? []) {
      waitsFor[follower] = (waitsFor[follower] ?? 0) - 1;
      if (waitsFor[follower] === 0) insertDescending(ready, follower);
    }
  }
  return order;
}

/** Everything that can be reached from `starts`, including these, each once. `budget` bounds the steps. */
export function reach(
  starts: readonly string[],
  nextOf: (id: string) => readonly string[],
  budget = Number.POSITIVE_INFINITY,
): Set<string> {
  const reached = new Set(starts);
  const open = [...reached];
  let steps = 0;
  for (let id = open.pop(); id !== undefined && steps < budget; id = open.pop()) {
    for (const next of nextOf(id)) {
      steps++;
      if (reached.has(next)) continue;
      reached.add(next);
      open.push(next);
    }
  }
  return reached;
}

/** The ids that a node's links name, including ids not in the graph. */
export function directSources(graph: Graph): (nodeId: string) => string[] {
  return (nodeId) => {
    const node = own(graph, nodeId);
    return node ? linksOf(node).map(({ source }) => source) : [];
  };
}

/** All nodes that a node takes from, directly or indirectly, including ids not in the graph. In a loop a node is its own source. */
export function sourcesOf(graph: Graph, nodeId: string): Set<string> {
  const nextOf = directSources(graph);
  return reach(nextOf(nodeId), nextOf);
}

/** One loop, as node ids from a node over its sources back to itself (the first id is not repeated); undefined if there is none. */
export function findCycle(graph: Graph): string[] | undefined {
  return findCycles(Object.keys(graph), directSources(graph)).next().value;
}

/** Each loop as its first `maxNodes` ids in the order of the links, starting at the first id of `order` that is on it. */
export function* findCycles(
  order: readonly string[],
  nextOf: (id: string) => readonly string[],
  maxNodes = Number.POSITIVE_INFINITY,
): Generator<string[], undefined> {
  const finished = new Set<string>();
  for (const start of order) {
    const path: { id: string; sources: readonly string[]; next: number }[] = [];
    const positions = new Map<string, number>();
    const enter = (id: string) => {
      positions.set(id, path.length);
      path.push({ id, sources: nextOf(id), next: 0 });
    };
    if (!finished.has(start)) enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const source = top.sources[top.next++];
      const position = source === undefined ? undefined : positions.get(source);
      if (source === undefined) {
        path.pop();
        positions.delete(top.id);
        finished.add(top.id);
      } else if (position !== undefined) {
        yield path.slice(position, position + maxNodes).map(({ id }) => id);
      } else if (!finished.has(source)) {
        enter(source);
      }
    }
  }
}

function insertDescending(list: number[], value: number): void {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) > value) low = middle + 1;
    else high = middle;
  }
  list.splice(low, 0, value);
}

const node = object({}, { class_type: text, inputs: map(anything), _meta: object({}, { title: text }) });
export type LooseNode = ReadBy<typeof node>;
const nodes = map(node);
const wrapper = object({ prompt: nodes });

/** `workflow`: `{ prompt, extra_data }` or a bare graph. Undefined if it is neither. */
export function looseGraph(workflow: unknown): Readonly<Record<string, LooseNode>> | undefined {
  return wrapper(workflow)?.prompt ?? nodes(workflow);
}

type NamedNode = { class_type?: string; _meta?: { title?: string | null } | null };

/** Its title, else the catalogue's name for its class if known, else the class; empty if it has neither. */
export function nodeName(node: NamedNode | undefined, catalogueName?: string | null): string {
  return node?._meta?.title?.trim() || catalogueName?.trim() || node?.class_type || "";
}
