// The editor's own drawing of a workflow: positions, sizes, colours and groups, one subgraph at a time.
// Guarantees: pure; bounded for any file; a node without a readable position is at the origin. Ids are those of the graph.

import { isPlain } from "@/lib/contract/editor-workflow/drawing";
import { type EditorFile, type EditorNode, findNet, listOf, type Net } from "@/lib/contract/editor-workflow/file";
import { BYPASSED, isNote, isReroute, isSwitch, MUTED } from "@/lib/contract/editor-workflow/node-kinds";
import { type JsonObject, numberOf, objectOf, textOf } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type GraphEdge, type GraphLayout, type PlacedGroup, type PlacedNode } from "./graph-layout";

/** In the editor's units; a node's title bar is above its position. */
const HEAD = 30;
const SLOT = 20;
const COLLAPSED = 160;
const smallest = { width: 60, height: 10 };
const largest = { width: 3_000, height: 6_000 };
const FARTHEST = 200_000;
const MAX_GROUPS = 1_000;
/** The depth of nested subgraphs, the same limit as in reading the file. */
const DEEPEST = 50;

/** Ids of the nested subgraph nodes, from the outermost inwards. */
export type Inside = readonly string[];

/** Where a node of the graph is drawn: in which subgraph, and in which of its boxes. */
export function boxOf(file: EditorFile, nodeId: string): { inside: Inside; id: string } | undefined {
  if (file.nodes.some(({ id }) => id === nodeId)) return { inside: [], id: nodeId };
  const parts = nodeId.split(":", DEEPEST);
  for (let at = parts.length - 1; at >= 0; at--) {
    const inside = parts.slice(0, at);
    if (findNet(file, inside)?.nodes.some(({ id }) => id === parts[at])) return { inside, id: parts.slice(0, at + 1).join(":") };
  }
  return undefined;
}

export function namesOf(file: EditorFile, inside: Inside): string[] {
  return inside.map((id, at) => {
    const use = findNet(file, inside.slice(0, at))?.nodes.find((node) => node.id === id);
    return use ? nameOf(file, use) : id;
  });
}

function nameOf(file: EditorFile, { title, type }: EditorNode): string {
  return title ?? file.definitions.get(type)?.name ?? type.replace(/^workflow[>/]/, "");
}

/** `graph`: the part of it that runs; if absent, all of it. */
export function layoutEditorFile(file: EditorFile, inside: Inside, graph?: Graph): GraphLayout {
  const net = findNet(file, inside) ?? file;
  const prefix = inside.map((id) => `${id}:`).join("");
  const isLeftOut = (node: EditorNode) =>
    graph !== undefined && (isPlain(file, node) || isSwitch(node)) && !Object.hasOwn(graph, prefix + node.id);
  const all = net.nodes.map((node) => placeNode(file, node, prefix, isLeftOut(node)));
  const groups = listOf(net.raw.groups).slice(0, MAX_GROUPS).flatMap(groupOf);
  const boxes = [...all, ...groups];
  const [left, top] = boxes.reduce(([x, y], box) => [Math.min(x, box.x), Math.min(y, box.y)], [Infinity, Infinity]);
  const shift = <T extends { x: number; y: number }>(box: T): T => ({ ...box, x: box.x - left, y: box.y - top });
  const nodes = new Map(all.map((node) => [node.id, shift(node)]));
  return {
    nodes,
    groups: groups.map(shift),
    edges: edgesOf(net, prefix, nodes),
    width: boxes.reduce((maxX, { x, width }) => Math.max(maxX, x + width - left), 0),
    height: boxes.reduce((maxY, { y, height }) => Math.max(maxY, y + height - top), 0),
    isUpright: false,
  };
}

function placeNode(file: EditorFile, node: EditorNode, prefix: string, isLeftOut: boolean): PlacedNode {
  const { raw, mode } = node;
  const [x, y] = pair(raw.pos, [0, 0]);
  const [width, height] = pair(raw.size, [200, 60]);
  const isCollapsed = objectOf(raw.flags)?.collapsed === true;
  const definition = file.definitions.get(node.type);
  const kind = definition ? "subgraph" : isNote(node) ? "note" : isReroute(node) ? "reroute" : "node";
  const color = colorOf(raw.bgcolor) ?? colorOf(raw.color);
  const text = kind === "note" ? textOf(listOf(node.values)[0]) : undefined;
  return {
    id: prefix + node.id,
    x: bounded(x, -FARTHEST, FARTHEST),
    y: bounded(y, -FARTHEST, FARTHEST) - HEAD,
    width: isCollapsed ? COLLAPSED : bounded(width, smallest.width, largest.width),
    height: HEAD + (isCollapsed ? 0 : bounded(height, smallest.height, largest.height)),
    look: {
      kind,
      title: kind === "reroute" ? "" : nameOf(file, node),
      ...(mode === MUTED && { mode: "muted" as const }),
      ...(mode === BYPASSED && { mode: "bypassed" as const }),
      ...(isLeftOut && { mode: "leftOut" as const }),
      ...(color !== undefined && { color }),
      ...(definition && { count: definition.nodes.length }),
      ...(text !== undefined && { text: text.slice(0, 2_000) }),
    },
  };
}

function groupOf(value: unknown): PlacedGroup[] {
  const group = objectOf(value);
  const bounding = listOf(group?.bounding).map(numberOf);
  const [x, y, width, height] = bounding;
  if (!group || x === undefined || y === undefined || width === undefined || height === undefined) return [];
  const color = colorOf(group.color);
  return [
    {
      title: textOf(group.title)?.slice(0, 200) ?? "",
      x: bounded(x, -FARTHEST, FARTHEST),
      y: bounded(y, -FARTHEST, FARTHEST),
      width: bounded(width, 1, FARTHEST),
      height: bounded(height, 1, FARTHEST),
      ...(color !== undefined && { color }),
    },
  ];
}

/** The file's links, including those of muted and bypassed nodes and of reroutes. */
function edgesOf(net: Net, prefix: string, nodes: ReadonlyMap<string, PlacedNode>): GraphEdge[] {
  return net.nodes.flatMap((node) =>
    node.inputs.flatMap(({ link, name }, slot): GraphEdge[] => {
      const editorLink = net.links.get(link ?? "");
      const [from, to] = [editorLink && nodes.get(prefix + editorLink.origin), nodes.get(prefix + node.id)];
      if (!editorLink || !from || !to) return [];
      return [
        { source: from.id, target: to.id, input: name, via: [], at: { from: slotAt(from, editorLink.originSlot), to: slotAt(to, slot) } },
      ];
    }),
  );
}

function slotAt({ height, look }: PlacedNode, slot: number): number {
  return look?.kind === "reroute" || height <= HEAD ? height / 2 : Math.min(height - 6, HEAD + (slot + 0.5) * SLOT);
}

function pair(value: unknown, fallback: readonly [number, number]): readonly [number, number] {
  const keyed: JsonObject = objectOf(value) ?? {};
  const [first, second] = Array.isArray(value) ? listOf(value) : [keyed["0"], keyed["1"]];
  return [numberOf(first) ?? fallback[0], numberOf(second) ?? fallback[1]];
}

function bounded(value: number, least: number, max: number): number {
  return Math.min(max, Math.max(least, value));
}

/** A file may contain any text as a colour, so only hexadecimal colours get into the page. */
function colorOf(value: unknown): string | undefined {
  return typeof value === "string" && /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value) ? value : undefined;
}
