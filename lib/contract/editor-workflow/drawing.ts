import { writeExactJson } from "../json/exact-json";
import { getOwn, type JsonObject } from "../json/json";
import { anything, map, object } from "../json/readers";
import { type Graph } from "../schemas/graph";
import { isLink } from "../workflow/graph";
import { createSlotFinder, type EditorFile, type EditorNode, getNodesById, isEditorFile, memoize, type Net, readEditorFile } from "./file";
import { isGroupNode } from "./group-nodes";
import { isNeverSent, isRunning } from "./node-kinds";

const PROPERTY = "lightdesk";
const readProperty = object({}, { inputs: map(object({ is: anything }, { reads: anything })) });

export type SavedInput = { is?: unknown; reads?: unknown };

export function readSavedInputs({ properties }: Pick<EditorNode, "properties">): Readonly<Record<string, SavedInput>> {
  return readProperty(properties[PROPERTY])?.inputs ?? {};
}

/** A node with saved inputs was created from a graph, so it is sent even if its class is unknown. */
export function hasSavedInputs({ properties }: Pick<EditorNode, "properties">): boolean {
  return Object.hasOwn(properties, PROPERTY);
}

export function toSavedProperties(inputs: Readonly<Record<string, SavedInput>>): JsonObject {
  return { [PROPERTY]: { inputs } };
}

export function isSameJson(item: unknown, other: unknown): boolean {
  if (item === undefined || other === undefined) return item === other;
  return item === other || writeExactJson(item) === writeExactJson(other);
}

const MAX_COMPARED_NODES = 50;
/** Limits the work, because many nodes may use one definition, and each is compared with all its inputs. */
const MAX_COMPARED_INPUTS = 200_000;

/** The drawing may have more nodes than the graph, because a run may be partial and some packs have nodes that only describe links. */
export function readMatchingDrawing(drawing: unknown, graph: Graph): EditorFile | undefined {
  if (!isEditorFile(drawing)) return undefined;
  const file = readEditorFile(drawing);
  const hasMore = file.linksByRule || file.nodes.some((node) => isPlainNode(file, node) && !getOwn(graph, node.id));
  let comparedInputs = 0;
  for (const id of Object.keys(graph)) {
    const drawnNode = findDrawnNode(file, id);
    if (drawnNode === INSIDE_GROUP_NODE) continue;
    comparedInputs += drawnNode?.node.inputs.length ?? 0;
    if (!drawnNode || comparedInputs > MAX_COMPARED_INPUTS || !matchesDrawnNode({ file, graph, hasMore }, drawnNode, getOwn(graph, id)))
      return undefined;
  }
  return file;
}

export function isPlainNode(file: EditorFile, node: EditorNode): boolean {
  return isRunning(node) && !isNeverSent(node) && !file.definitions.has(node.type) && !isGroupNode(node);
}

type DrawnNode = { net: Net; node: EditorNode; prefix: string };
/** Nodes inside a group node are not drawn separately. */
const INSIDE_GROUP_NODE = "in a group node";

function findDrawnNode(file: EditorFile, id: string): DrawnNode | typeof INSIDE_GROUP_NODE | undefined {
  const path = getNodesById(file).has(id) ? [id] : id.split(":", MAX_COMPARED_NODES + 1);
  if (path.length > MAX_COMPARED_NODES) return undefined;
  let net: Net = file;
  for (const [index, part] of path.entries()) {
    const node = getNodesById(net).get(part);
    if (!node) return undefined;
    if (index === path.length - 1) return { net, node, prefix: id.slice(0, id.length - part.length) };
    if (isGroupNode(node)) return INSIDE_GROUP_NODE;
    const definition = file.definitions.get(node.type);
    if (!definition) return undefined;
    net = definition;
  }
  return undefined;
}

const getSlotFinder = memoize(({ inputs }: EditorNode) => createSlotFinder(inputs));
const getSavedInputs = memoize(readSavedInputs);

function matchesDrawnNode(
  { file, graph, hasMore }: { file: EditorFile; graph: Graph; hasMore: boolean },
  { net, node: editorNode, prefix }: DrawnNode,
  node: Graph[string] | undefined,
): boolean {
  if (!node || (node.class_type !== editorNode.type && node.class_type !== editorNode.raw.type)) return false;
  const linkNames = Object.keys(node.inputs).filter((name) => isLink(node.inputs[name]));
  return [...new Set([...linkNames, ...editorNode.inputs.map(({ name }) => name)])].every((name) => {
    const slot = getSlotFinder(editorNode)(name);
    const link = net.links.get(slot?.link ?? "");
    const input = getOwn(node.inputs, name) ?? getOwn(node.inputs, slot?.widget ?? name);
    if (!link) return hasMore || !isLink(input) || getOwn(getSavedInputs(editorNode), name) !== undefined;
    const origin = getNodesById(net).get(link.origin);
    if (!origin || !isPlainNode(file, origin) || !getOwn(graph, prefix + origin.id)) return true;
    return isLink(input) && input[0] === prefix + origin.id && input[1] === link.originSlot;
  });
}
