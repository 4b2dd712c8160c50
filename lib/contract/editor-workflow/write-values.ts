// The values of a graph written into the editor's file that it was made of: what was changed since, in its own place, and nothing else.
// Guarantees: pure; the file given is never changed; what is not written is the very same in the new file. Checked by reading it back: an input
// that the file then says otherwise is told of.

import { isLink } from "../graph";
import { isObject, type JsonObject, objectOf } from "../json/json";
import { own } from "../json/own";
import { isDynamic } from "../nodes/dynamic-inputs";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { isEditorFile, listOf, readEditorFile, readNode } from "./file";
import { convert } from "./index";
import { isSameJson } from "./kept-inputs";
import { defaultOf } from "./sent-values";
import { type Home, listed, listedAtEnd, namedWidgets, widgetsOf } from "./values";

/** `unplaced`: inputs that the new file does not say as the graph does. */
export type WrittenFile = { file: JsonObject; unplaced: { nodeId: string; input: string }[] };
type Values = readonly unknown[] | JsonObject;
type EditorJson = JsonObject & { nodes: unknown[] };

export function withValues(file: JsonObject, graph: Graph, info: ObjectInfo): WrittenFile {
  if (!isEditorFile(file)) return { file, unplaced: [] };
  const before = convert(readEditorFile(file), info, false);
  const changes = new Map<JsonObject, Values>();
  for (const [nodeId, node] of Object.entries(graph)) {
    const was = own(before.graph, nodeId);
    if (was) for (const name of differing(node, was)) write(name, nodeId, node);
  }
  function write(name: string, nodeId: string, node: GraphNode): void {
    const home = before.homes.get(`${nodeId} ${name}`);
    if (home) changes.set(home.node, withValue(changes.get(home.node) ?? valuesOf(home), home, name, node, own(info, node.class_type)));
  }
  const written = changes.size === 0 ? file : withNodes(file, changes);
  const after = changes.size === 0 ? before : convert(readEditorFile(written), info, false);
  const unplaced = Object.entries(graph).flatMap(([nodeId, node]) => {
    const now = own(after.graph, nodeId);
    return now ? differing(node, now).map((input) => ({ nodeId, input })) : [];
  });
  return { file: written, unplaced };
}

/** Names of values, not of links, that are not the same. One that the graph leaves out is the class's own default. */
function differing({ inputs }: GraphNode, was: GraphNode): string[] {
  return Object.entries(inputs).flatMap(([name, value]) => {
    const other = own(was.inputs, name);
    return isLink(value) || isLink(other) || isSameJson(bare(value), bare(other)) ? [] : [name];
  });
}

function valuesOf({ node }: Home): Values {
  return objectOf(node.widgets_values) ?? listOf(node.widgets_values);
}

function withValue(values: Values, { node, key }: Home, name: string, { class_type: type, inputs }: GraphNode, info?: NodeInfo): Values {
  const value = bare(inputs[name]);
  if (isObject(values)) return { ...values, [key]: value };
  const at = Number(key);
  // What comes behind a choice is of another number now, and a list that is too short says nothing of those before.
  const isOwn = node.type === type && info !== undefined;
  if (isOwn && (isDynamic(info) || at > values.length)) return listOfValues(info, inputs, { node, values });
  return at < values.length ? values.with(at, value) : [...values, ...Array.from({ length: at - values.length }, () => null), value];
}

/** All of a node's values in the order of the editor. What is linked or left out has what the file had, else its default. */
export function listOfValues(
  info: NodeInfo,
  inputs: Readonly<JsonObject>,
  held?: { node: JsonObject; values: readonly unknown[] },
): unknown[] {
  const [node] = held ? readNode({ id: 0, ...held.node, widgets_values: held.values }) : [];
  const before = new Map(node ? widgetsOf(node, info).map((widget) => [widget.name, widget]) : []);
  const given = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, isLink(value) ? before.get(name)?.value : bare(value)]),
  );
  const widgets = namedWidgets(info, given).map((widget) => {
    const value = widget.value ?? before.get(widget.name)?.value ?? defaultOf(widget.raw) ?? null;
    const [, ...behind] = listed({ ...widget, value });
    const at = before.get(widget.name)?.key;
    const kept = typeof at === "number" ? listOf(held?.values).slice(at + 1, at + 1 + behind.length) : [];
    return [value, ...behind.map((usual, place) => kept[place] ?? usual)];
  });
  return [...widgets.flat(), ...listedAtEnd(info)];
}

/** A list goes in a wrapper when it is sent, and without it in a file. */
export function bare(value: unknown): unknown {
  return isObject(value) && Array.isArray(value.__value__) ? value.__value__ : value;
}

function withNodes(file: EditorJson, changes: ReadonlyMap<JsonObject, Values>): EditorJson {
  const nodes = file.nodes.map((node) => {
    const values = isObject(node) ? changes.get(node) : undefined;
    return values && isObject(node) ? { ...node, widgets_values: values } : node;
  });
  const definitions = objectOf(file.definitions);
  if (!definitions) return { ...file, nodes };
  const subgraphs = listOf(definitions.subgraphs).map((one) => (isEditorFile(one) ? withNodes(one, changes) : one));
  return { ...file, nodes, definitions: { ...definitions, subgraphs } };
}
