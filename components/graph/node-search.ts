import { type Tone } from "@/components/ui/status-badge";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph, type GraphNode } from "@/lib/contract/schemas/graph";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type OutputView } from "@/lib/contract/views/outputs-view";
import { findSources, getLinks, getNodeName, isLink } from "@/lib/contract/workflow/graph";

/** Sets each node's displayed name as its title, so that the drawing and the form use the same names. */
export function withTitles(graph: Graph, getDisplayName: (className: string) => string | null | undefined): Graph {
  return Object.fromEntries(
    Object.entries(graph).map(([id, node]) => [id, { ...node, _meta: { title: getNodeName(node, getDisplayName(node.class_type)) } }]),
  );
}

export function withCatalogueTitles(graph: Graph, catalogue: ObjectInfo | undefined): Graph {
  return catalogue ? withTitles(graph, (className) => getOwn(catalogue, className)?.display_name) : graph;
}

/** The most informative literal: the first text, otherwise the first number with its name. Skips masked values. */
export function getPreviewText(node: GraphNode): string | undefined {
  const literals = Object.entries(node.inputs).filter(
    ([, value]) => !isLink(value) && !(typeof value === "string" && value.includes(MASK)),
  );
  const textEntry = literals.find(([, value]) => typeof value === "string" && /\S/.test(value));
  if (typeof textEntry?.[1] === "string") return textEntry[1].slice(0, 200).trim().slice(0, 80);
  const numberEntry = literals.find(([, value]) => typeof value === "number" || typeof value === "bigint");
  return numberEntry && `${numberEntry[0]} ${String(numberEntry[1])}`;
}

export function getLiterals({ inputs }: GraphNode): [name: string, text: string][] {
  return Object.entries(inputs).flatMap(([name, value]): [string, string][] => {
    const text = typeof value === "string" ? value.slice(0, 80) : writeExactJson(value).slice(0, 80);
    return isLink(value) || text.includes(MASK) ? [] : [[name, text]];
  });
}

/** Searches by id, class or title, ignoring case. Keeps the graph's order, but lists an exact id first. */
export function searchNodes(graph: Graph, query: string): string[] {
  const search = query.trim().toLowerCase().replace(/^#/, "");
  if (search === "") return [];
  const matchingIds = Object.entries(graph).flatMap(([id, node]) =>
    [id, node.class_type, getNodeName(node)].some((text) => text.toLowerCase().includes(search)) ? [id] : [],
  );
  return Object.hasOwn(graph, search) ? [search, ...matchingIds.filter((id) => id !== search)] : matchingIds;
}

export type NodeInput = { name: string } & (
  { kind: "link"; source: string; output: number; isDangling: boolean } | { kind: "literal"; text: string; isMasked: boolean }
);

export function getNodeInputs(graph: Graph, node: GraphNode): NodeInput[] {
  return Object.entries(node.inputs).map(([name, value]) => {
    if (isLink(value)) return { name, kind: "link", source: value[0], output: value[1], isDangling: !Object.hasOwn(graph, value[0]) };
    const text = typeof value === "string" ? value : writeExactJson(value, 2);
    return { name, kind: "literal", text, isMasked: text.includes(MASK) };
  });
}

/** The ids of the nodes that use an output of this one. */
export function findConsumers(graph: Graph, id: string): string[] {
  return Object.entries(graph).flatMap(([consumerId, node]) => (getLinks(node).some(({ source }) => source === id) ? [consumerId] : []));
}

export type NodeState = "done" | "cached" | "running" | "waiting" | "stopped" | "failed" | "refused" | "faulty" | "unreached";

/** The state of a node. Nodes of unknown state have no mark and are drawn plain. */
export type NodeMark = { state: NodeState; fromMs?: number; toMs?: number; problems?: readonly string[] };
export type NodeMarks = ReadonlyMap<string, NodeMark>;

/** Services report only the running node. Its sources and nodes with outputs must be done. */
export function getRunningMarks(graph: Graph, currentNode: string, outputs: readonly OutputView[] = []): Map<string, NodeMark> {
  const doneIds = findSources(graph, currentNode);
  for (const { nodeId } of outputs) doneIds.add(nodeId);
  const getState = (id: string): NodeState => (id === currentNode ? "running" : doneIds.has(id) ? "done" : "waiting");
  return new Map(Object.keys(graph).map((id) => [id, { state: getState(id) }]));
}

/** The most important states: failed or stopped nodes, otherwise running ones. */
const importantStates: readonly NodeState[] = ["failed", "refused", "faulty", "stopped", "running"];

export function findImportantNode(marks: NodeMarks): string | undefined {
  for (const state of importantStates) for (const [id, mark] of marks) if (mark.state === state) return id;
  return undefined;
}

/** The priority of states if a box has several nodes. */
const statePriority: readonly NodeState[] = [...importantStates, "waiting", "unreached", "done", "cached"];

export function mergeMarks(nodeMark: NodeMark | undefined, { state, problems }: NodeMark): NodeMark {
  return nodeMark && statePriority.indexOf(nodeMark.state) <= statePriority.indexOf(state)
    ? nodeMark
    : { state, ...(problems && { problems }) };
}

export const toneByState: Readonly<Record<NodeState, Tone>> = {
  done: "ok",
  cached: "ok",
  running: "run",
  waiting: "wait",
  stopped: "off",
  failed: "bad",
  refused: "bad",
  faulty: "bad",
  unreached: "off",
};
