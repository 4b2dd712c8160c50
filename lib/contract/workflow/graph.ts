// Links, order and cycles of prompt graphs. Iterative, because chains can have 5,000 nodes. Does not import zod.

import { asObject, getOwn, type JsonObject } from "../json/json";
import { anything, map, object, type ReaderOutput, text } from "../json/readers";
import { type Graph, type GraphNode, type Link } from "../schemas/graph";

export { readWorkflow, type WorkflowProblem } from "./read-workflow";

type GraphLink = { nodeId: string; input: string; source: string; output: number };

/** Returns true for any [string, non-negative integer] pair. `{ __value__: [...] }` wraps a literal list. */
export function isLink(value: unknown): value is Link {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "string" && Number.isInteger(value[1]) && Number(value[1]) >= 0;
}

/** The sorted nodes, each with its class and the included inputs, so that equal graphs have equal shapes. */
export function getShape(graph: JsonObject, isIncluded: (nodeId: string, name: string, value: unknown) => boolean): unknown[] {
  return Object.keys(graph)
    .sort()
    .map((nodeId) => {
      const node = asObject(getOwn(graph, nodeId));
      const inputs = Object.entries(asObject(node && getOwn(node, "inputs")) ?? {})
        .filter(([name, value]) => isIncluded(nodeId, name, value))
        .sort(([a], [b]) => (a < b ? -1 : 1));
      return [nodeId, node && getOwn(node, "class_type"), inputs];
    });
}

export function isSeedName(name: string): boolean {
  return /(^|_)seed$/i.test(name);
}

export function getLinks(node: Pick<GraphNode, "inputs">): Omit<GraphLink, "nodeId">[] {
  return Object.entries(node.inputs ?? {}).flatMap(([input, value]) =>
    isLink(value) ? [{ input, source: value[0], output: value[1] }] : [],
  );
}

export function listLinks(graph: Graph): GraphLink[] {
  return Object.entries(graph).flatMap(([nodeId, node]) => getLinks(node).map((link) => ({ nodeId, ...link })));
}

export function findDanglingLinks(graph: Graph): GraphLink[] {
  return listLinks(graph).filter((link) => !Object.hasOwn(graph, link.source));
}

/** Node ids, each after its sources. Ties keep the graph's order. Nodes in or downstream of a cycle are omitted. */
export function sortTopologically(graph: Graph): string[] {
  const ids = Object.keys(graph);
  const indexById = new Map(ids.map((id, index) => [id, index]));
  const pendingSources = ids.map(() => 0);
  const successors: number[][] = ids.map(() => []);
  for (const { nodeId, source } of listLinks(graph)) {
    const [sourceIndex, targetIndex] = [indexById.get(source), indexById.get(nodeId)];
    if (sourceIndex === undefined || targetIndex === undefined) continue;
    successors[sourceIndex]?.push(targetIndex);
    pendingSources[targetIndex] = (pendingSources[targetIndex] ?? 0) + 1;
  }
  const readyIndexes = ids.flatMap((_, index) => (pendingSources[index] === 0 ? [index] : [])).reverse();
  const order: string[] = [];
  for (let index = readyIndexes.pop(); index !== undefined; index = readyIndexes.pop()) {
    order.push(ids[index] ?? "");
    for (const successor of successors[index] ?? []) {
      pendingSources[successor] = (pendingSources[successor] ?? 0) - 1;
      if (pendingSources[successor] === 0) insertDescending(readyIndexes, successor);
    }
  }
  return order;
}

/** All ids that can be reached from `startIds`, including these. `maxSteps` limits the number of steps. */
export function findReachable(
  startIds: readonly string[],
  getNext: (id: string) => readonly string[],
  maxSteps = Number.POSITIVE_INFINITY,
): Set<string> {
  const reachedIds = new Set(startIds);
  const stack = [...reachedIds];
  let steps = 0;
  for (let id = stack.pop(); id !== undefined && steps < maxSteps; id = stack.pop()) {
    for (const nextId of getNext(id)) {
      steps++;
      if (reachedIds.has(nextId)) continue;
      reachedIds.add(nextId);
      stack.push(nextId);
    }
  }
  return reachedIds;
}

/** The ids in a node's links, including ids that are not in the graph. */
export function createSourceLookup(graph: Graph): (nodeId: string) => string[] {
  return (nodeId) => {
    const node = getOwn(graph, nodeId);
    return node ? getLinks(node).map(({ source }) => source) : [];
  };
}

/** All direct and indirect sources of a node, including ids that are not in the graph. Includes the node itself if it is in a cycle. */
export function findSources(graph: Graph, nodeId: string): Set<string> {
  const getNext = createSourceLookup(graph);
  return findReachable(getNext(nodeId), getNext);
}

/** Returns a cycle as node ids, each followed by its source (the first id is not repeated). Undefined if there is none. */
export function findCycle(graph: Graph): string[] | undefined {
  return findCycles(Object.keys(graph), createSourceLookup(graph)).next().value;
}

/** Yields cycles, each truncated to `maxNodes` ids. A cycle starts at the id that a search from `order` reaches first. */
export function* findCycles(
  order: readonly string[],
  getNext: (id: string) => readonly string[],
  maxNodes = Number.POSITIVE_INFINITY,
): Generator<string[], undefined> {
  const finishedIds = new Set<string>();
  for (const start of order) {
    const path: { id: string; sources: readonly string[]; nextSource: number }[] = [];
    const positions = new Map<string, number>();
    const enterNode = (id: string) => {
      positions.set(id, path.length);
      path.push({ id, sources: getNext(id), nextSource: 0 });
    };
    if (!finishedIds.has(start)) enterNode(start);
    for (let top = path.at(-1); top !== undefined; top = path.at(-1)) {
      const source = top.sources[top.nextSource++];
      const position = source === undefined ? undefined : positions.get(source);
      if (source === undefined) {
        path.pop();
        positions.delete(top.id);
        finishedIds.add(top.id);
      } else if (position !== undefined) {
        yield path.slice(position, position + maxNodes).map(({ id }) => id);
      } else if (!finishedIds.has(source)) {
        enterNode(source);
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

const readNode = object({}, { class_type: text, inputs: map(anything), _meta: object({}, { title: text }) });
export type LooseNode = ReaderOutput<typeof readNode>;
const readNodes = map(readNode);
const readWrapper = object({ prompt: readNodes });

/** `workflow` is `{ prompt, extra_data }` or a graph. Undefined for other values. */
export function readLooseGraph(workflow: unknown): Readonly<Record<string, LooseNode>> | undefined {
  return readWrapper(workflow)?.prompt ?? readNodes(workflow);
}

type NamedNode = { class_type?: string; _meta?: { title?: string | null } | null };

/** Returns the node's title, its class's catalogue name, or its class, in that order. Empty if there is none. */
export function getNodeName(node: NamedNode | undefined, catalogueName?: string | null): string {
  return node?._meta?.title?.trim() || catalogueName?.trim() || node?.class_type || "";
}
