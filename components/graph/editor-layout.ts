// Lays out a workflow as drawn in the editor: positions, sizes, colours and groups, one subgraph at a time. Ids match the graph. A node without
// a readable position is placed at the origin.

import { isPlainNode } from "@/lib/contract/editor-workflow/drawing";
import { asArray, type EditorFile, type EditorNode, findNet, type Net } from "@/lib/contract/editor-workflow/file";
import { BYPASSED, isNote, isReroute, isSwitch, MUTED } from "@/lib/contract/editor-workflow/node-kinds";
import { asNumber, asObject, asText, type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type GraphEdge, type GraphLayout, type PlacedGroup, type PlacedNode } from "./graph-layout";

/** In the editor's units. A node's title bar is above its position. */
const TITLE_HEIGHT = 30;
const SLOT_HEIGHT = 20;
const COLLAPSED_WIDTH = 160;
const minSize = { width: 60, height: 10 };
const maxSize = { width: 3_000, height: 6_000 };
const MAX_COORDINATE = 200_000;
const MAX_GROUPS = 1_000;
/** Maximum depth of nested subgraphs, the same as when reading the file. */
const MAX_DEPTH = 50;

/** Ids of the nested subgraph nodes, outermost first. */
export type SubgraphPath = readonly string[];

/** Returns the visible node that is or contains `nodeId`, and the subgraph in which it is drawn. */
export function findBox(file: EditorFile, nodeId: string): { subgraphPath: SubgraphPath; id: string } | undefined {
  if (file.nodes.some(({ id }) => id === nodeId)) return { subgraphPath: [], id: nodeId };
  const idParts = nodeId.split(":", MAX_DEPTH);
  for (let index = idParts.length - 1; index >= 0; index--) {
    const subgraphPath = idParts.slice(0, index);
    if (findNet(file, subgraphPath)?.nodes.some(({ id }) => id === idParts[index]))
      return { subgraphPath, id: idParts.slice(0, index + 1).join(":") };
  }
  return undefined;
}

export function getSubgraphNames(file: EditorFile, subgraphPath: SubgraphPath): string[] {
  return subgraphPath.map((id, index) => {
    const subgraphNode = findNet(file, subgraphPath.slice(0, index))?.nodes.find((node) => node.id === id);
    return subgraphNode ? getNodeTitle(file, subgraphNode) : id;
  });
}

function getNodeTitle(file: EditorFile, { title, type }: EditorNode): string {
  return title ?? file.definitions.get(type)?.name ?? type.replace(/^workflow[>/]/, "");
}

/** `graph` contains the nodes that run. Without it, no node is marked as left out. */
export function layoutEditorFile(file: EditorFile, subgraphPath: SubgraphPath, graph?: Graph): GraphLayout {
  const net = findNet(file, subgraphPath) ?? file;
  const prefix = subgraphPath.map((id) => `${id}:`).join("");
  const isLeftOut = (node: EditorNode) =>
    graph !== undefined && (isPlainNode(file, node) || isSwitch(node)) && !Object.hasOwn(graph, prefix + node.id);
  const placedNodes = net.nodes.map((node) => placeNode(file, node, prefix, isLeftOut(node)));
  const groups = asArray(net.raw.groups).slice(0, MAX_GROUPS).flatMap(toGroups);
  const boxes = [...placedNodes, ...groups];
  const [left, top] = boxes.reduce(([x, y], box) => [Math.min(x, box.x), Math.min(y, box.y)], [Infinity, Infinity]);
  const moveToOrigin = <T extends { x: number; y: number }>(box: T): T => ({ ...box, x: box.x - left, y: box.y - top });
  const nodes = new Map(placedNodes.map((node) => [node.id, moveToOrigin(node)]));
  return {
    nodes,
    groups: groups.map(moveToOrigin),
    edges: toEdges(net, prefix, nodes),
    width: boxes.reduce((maxX, { x, width }) => Math.max(maxX, x + width - left), 0),
    height: boxes.reduce((maxY, { y, height }) => Math.max(maxY, y + height - top), 0),
    isVertical: false,
  };
}

function placeNode(file: EditorFile, node: EditorNode, prefix: string, isLeftOut: boolean): PlacedNode {
  const { raw, mode } = node;
  const [x, y] = readPair(raw.pos, [0, 0]);
  const [width, height] = readPair(raw.size, [200, 60]);
  const isCollapsed = asObject(raw.flags)?.collapsed === true;
  const definition = file.definitions.get(node.type);
  const kind = definition ? "subgraph" : isNote(node) ? "note" : isReroute(node) ? "reroute" : "node";
  const color = parseColor(raw.bgcolor) ?? parseColor(raw.color);
  const text = kind === "note" ? asText(asArray(node.values)[0]) : undefined;
  return {
    id: prefix + node.id,
    x: clamp(x, -MAX_COORDINATE, MAX_COORDINATE),
    y: clamp(y, -MAX_COORDINATE, MAX_COORDINATE) - TITLE_HEIGHT,
    width: isCollapsed ? COLLAPSED_WIDTH : clamp(width, minSize.width, maxSize.width),
    height: TITLE_HEIGHT + (isCollapsed ? 0 : clamp(height, minSize.height, maxSize.height)),
    look: {
      kind,
      title: kind === "reroute" ? "" : getNodeTitle(file, node),
      ...(mode === MUTED && { mode: "muted" as const }),
      ...(mode === BYPASSED && { mode: "bypassed" as const }),
      ...(isLeftOut && { mode: "leftOut" as const }),
      ...(color !== undefined && { color }),
      ...(definition && { count: definition.nodes.length }),
      ...(text !== undefined && { text: text.slice(0, 2_000) }),
    },
  };
}

function toGroups(value: unknown): PlacedGroup[] {
  const group = asObject(value);
  const bounding = asArray(group?.bounding).map(asNumber);
  const [x, y, width, height] = bounding;
  if (!group || x === undefined || y === undefined || width === undefined || height === undefined) return [];
  const color = parseColor(group.color);
  return [
    {
      title: asText(group.title)?.slice(0, 200) ?? "",
      x: clamp(x, -MAX_COORDINATE, MAX_COORDINATE),
      y: clamp(y, -MAX_COORDINATE, MAX_COORDINATE),
      width: clamp(width, 1, MAX_COORDINATE),
      height: clamp(height, 1, MAX_COORDINATE),
      ...(color !== undefined && { color }),
    },
  ];
}

/** The file's links, including those of muted and bypassed nodes and of reroutes. */
function toEdges(net: Net, prefix: string, nodes: ReadonlyMap<string, PlacedNode>): GraphEdge[] {
  return net.nodes.flatMap((node) =>
    node.inputs.flatMap(({ link, name }, slot): GraphEdge[] => {
      const editorLink = net.links.get(link ?? "");
      const [sourceNode, targetNode] = [editorLink && nodes.get(prefix + editorLink.origin), nodes.get(prefix + node.id)];
      if (!editorLink || !sourceNode || !targetNode) return [];
      return [
        {
          source: sourceNode.id,
          target: targetNode.id,
          input: name,
          via: [],
          slotOffsets: { from: getSlotY(sourceNode, editorLink.originSlot), to: getSlotY(targetNode, slot) },
        },
      ];
    }),
  );
}

function getSlotY({ height, look }: PlacedNode, slot: number): number {
  return look?.kind === "reroute" || height <= TITLE_HEIGHT ? height / 2 : Math.min(height - 6, TITLE_HEIGHT + (slot + 0.5) * SLOT_HEIGHT);
}

function readPair(value: unknown, fallback: readonly [number, number]): readonly [number, number] {
  const pairObject: JsonObject = asObject(value) ?? {};
  const [x, y] = Array.isArray(value) ? asArray(value) : [pairObject["0"], pairObject["1"]];
  return [asNumber(x) ?? fallback[0], asNumber(y) ?? fallback[1]];
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}

/** Files may contain any text as a colour, so only hexadecimal colours are accepted. */
function parseColor(value: unknown): string | undefined {
  return typeof value === "string" && /^#([0-9a-f]{3}|[0-9a-f]{6})$/i.test(value) ? value : undefined;
}
