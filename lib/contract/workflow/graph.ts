// The prompt graph: links, order and loops. No recursion: chains may have 5,000 nodes. Free of zod: browsers load it with the first page.

import { own } from "../json/own";
import { anything, map, object, type ReadBy, text } from "../json/readers";
import { type Graph, type GraphNode, type Link } from "../schemas/graph";

export { readWorkflow, type WorkflowProblem } from "./read-workflow";

type GraphLink = { nodeId: string; input: string; source: string; output: number };

/** Any list of [text, whole number]; `{ __value__: [...] }` wraps a literal list so that it is not a link. */
export function isLink(value: unknown): value is Link {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && Number.isInteger(value[1]) && Number(value[1]) >= 0;
}

export function isSeedName(name: string): boolean {
  return /(^|_)seed$/i.test(name);
}

export function linksOf(node: GraphNode): Omit<GraphLink, "nodeId">[] {
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
  const place = new Map(ids.map((id, index) => [id, index]));
  const waitsFor = ids.map(() => 0);
  const followers: number[][] = ids.map(() => []);
  for (const { nodeId, source } of allLinks(graph)) {
    const [from, to] = [place.get(source), place.get(nodeId)];
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

/** All nodes that a node takes from, directly or indirectly, including ids not in the graph. In a loop a node is its own source. */
export function sourcesOf(graph: Graph, nodeId: string): Set<string> {
  const found = new Set<string>();
  for (const open = [nodeId]; open.length > 0;) {
    const node = own(graph, open.pop() ?? "");
    for (const { source } of node ? linksOf(node) : []) {
      if (found.has(source)) continue;
      found.add(source);
      open.push(source);
    }
  }
  return found;
}

/** One loop, as node ids from a node over its sources back to itself (the first id is not repeated); undefined if there is none. */
export function findCycle(graph: Graph): string[] | undefined {
  const finished = new Set<string>();
  for (const start of Object.keys(graph)) {
    const path: { id: string; sources: string[] }[] = [];
    const onPath = new Set<string>();
    const enter = (id: string) => {
      onPath.add(id);
      path.push({ id, sources: linksOf(own(graph, id) ?? { class_type: "", inputs: {} }).map((link) => link.source) });
    };
    if (!finished.has(start)) enter(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const source = top.sources.shift();
      if (source === undefined) {
        finished.add(top.id);
        onPath.delete(top.id);
        path.pop();
      } else if (onPath.has(source)) {
        return path.slice(path.findIndex((step) => step.id === source)).map((step) => step.id);
      } else if (Object.hasOwn(graph, source) && !finished.has(source)) {
        enter(source);
      }
    }
  }
  return undefined;
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

type Named = { class_type?: string; _meta?: { title?: string | null } | null };

/** Its title, else the catalogue's name for its class if known, else the class; empty if it has neither. */
export function nodeName(node: Named | undefined, catalogueName?: string | null): string {
  return node?._meta?.title?.trim() || catalogueName?.trim() || node?.class_type || "";
}
