// Writes the values of a graph into the editor's file that it was made from: only changed values, each in its own place.
// Guarantees: pure; the given file is never changed; parts that are not written are the same objects in the new file. Checked by reading it
// back: an input that the file then gives differently is reported.

import { withSpellingsOf } from "../json/exact-json";
import { isObject, type JsonObject, objectOf } from "../json/json";
import { own } from "../json/own";
import { inputsOf, isDynamicCombo, orderedInputs } from "../nodes/dynamic-inputs";
import { type WidgetOf } from "../nodes/fill-texts";
import { typeOf } from "../nodes/input-spec";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { isLink } from "../workflow/graph";
import { isEditorFile, listOf, readEditorFile, readNode } from "./file";
import { convert } from "./index";
import { isSameJson } from "./kept-inputs";
import { type EditorReport } from "./problems";
import { defaultOf, widgetFinder } from "./sent-values";
import { entriesOf } from "./value-of-use";
import { type Home, listed, listedAtEnd, listedBefore, namedWidgets, type Widget, widgetsOf } from "./values";

/** `input`: absent if only one side has the node, or if its class differs. */
type Unplaced = { nodeId: string; input?: string };
/** `unplaced`: where the new file differs from the graph; computed when called. `widgetOf`: values of its nodes, by the editor's names. */
export type WrittenFile = { file: JsonObject; unplaced: () => Unplaced[]; widgetOf: WidgetOf };
export type Writable = { report: () => EditorReport; withValues: (graph: Graph) => WrittenFile };
type Values = readonly unknown[] | JsonObject;
/** `staleNames`: names whose stored values must be removed from the node, because they would take precedence. */
type Change = { values: Values; staleNames: readonly string[] };
type EditorJson = JsonObject & { nodes: unknown[] };

/** Reads the file once, however many graphs are written into it. */
export function writable(file: JsonObject, info: ObjectInfo): Writable {
  if (!isEditorFile(file))
    return { report: () => ({ problems: [], notices: [] }), withValues: () => ({ file, unplaced: () => [], widgetOf: () => undefined }) };
  let read: ReturnType<typeof convert> | undefined;
  const before = () => (read ??= convert(readEditorFile(file, info), info, false));
  return {
    report: before,
    withValues(graph) {
      const { graph: was, homes } = before();
      const changes = new Map<JsonObject, Change>();
      for (const [nodeId, node] of Object.entries(graph)) {
        for (const { name, value, other } of differing(node, own(was, nodeId), info)) {
          const home = homes.get(`${nodeId} ${name}`);
          if (!home || value === undefined || isLink(value) || isLink(other)) continue;
          const { values, staleNames } = changes.get(home.node) ?? { values: valuesOf(home), staleNames: [] };
          changes.set(home.node, {
            values: withValue(values, home, { name, value: bare(value) }, node, own(info, node.class_type)),
            staleNames: home.storedName === undefined ? staleNames : [...staleNames, home.storedName],
          });
        }
      }
      const written = changes.size === 0 ? file : withNodes(file, changes);
      let found: WidgetOf | undefined;
      return {
        file: written,
        unplaced: () => unplaced(graph, written === file ? was : convert(readEditorFile(written, info), info, false).graph),
        widgetOf: (name, widget) => (found ??= widgetFinder(readEditorFile(written, info), info))(name, widget),
      };
    },
  };

  function unplaced(graph: Graph, now: Graph): Unplaced[] {
    return [...new Set([...Object.keys(graph), ...Object.keys(now)])].flatMap((nodeId): Unplaced[] => {
      const [node, placed] = [own(graph, nodeId), own(now, nodeId)];
      if (node?.class_type !== placed?.class_type) return [{ nodeId }];
      return node ? differing(node, placed, info).map(({ name }) => ({ nodeId, input: name })) : [];
    });
  }
}

/** Inputs that differ. An input that the graph leaves out counts as the class's default. */
function differing({ class_type: type, inputs }: GraphNode, was: GraphNode | undefined, info: ObjectInfo) {
  if (was?.class_type !== type) return [];
  const raws = new Map(inputsOf(own(info, type), inputs).map(({ name, raw }) => [name, raw]));
  return [...new Set([...Object.keys(inputs), ...Object.keys(was.inputs)])].flatMap((name) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : defaultOf(raws.get(name));
    const other = own(was.inputs, name);
    return isLink(value) === isLink(other) && isSameJson(bare(value), bare(other)) ? [] : [{ name, value, other }];
  });
}

function valuesOf({ node }: Home): Values {
  return objectOf(node.widgets_values) ?? listOf(node.widgets_values);
}

type Given = { name: string; value: unknown };

function withValue(values: Values, { node, key }: Home, given: Given, { class_type: type, inputs }: GraphNode, info?: NodeInfo): Values {
  if (isObject(values)) return withSpellingsOf(values, { ...values, [key]: given.value });
  const at = Number(key);
  // A use of a subgraph has no class.
  const [known, all] = node.type === type ? [info, orderedInputs(info)] : [undefined, []];
  // The entries after a choice are of another number now, and a list that is too short does not give the values before it.
  if (known && (at > values.length || all.some(({ raw }) => isDynamicCombo(raw)))) return listOfValues(known, inputs, { node, values });
  const before = Array.from({ length: at }, (_, place) => (place < values.length ? values[place] : null));
  const raw = all.find(({ name }) => name === given.name)?.raw;
  const written = isBox(raw) ? listed({ ...given, raw }) : [given.value];
  return withSpellingsOf(values, [...before, ...written, ...values.slice(at + written.length)]);
}

/** The edges of a box are listed once more after it. */
function isBox(raw: unknown): boolean {
  return typeOf(raw) === "BOUNDING_BOX";
}

/** All of a node's values in the editor's order. A linked input keeps the file's value; without a value it gets the class's default. */
export function listOfValues(
  info: NodeInfo,
  inputs: Readonly<JsonObject>,
  inFile?: { node: JsonObject; values: readonly unknown[] },
): unknown[] {
  const [node] = inFile ? readNode({ id: 0, ...inFile.node, widgets_values: inFile.values }, {}) : [];
  const read = node ? widgetsOf(node, info) : [];
  const before = new Map(read.map((widget) => [widget.name, widget]));
  const listedBehind = (widget: Widget) => {
    const next = read[read.indexOf(widget) + 1];
    return listOf(inFile?.values).slice(Number(widget.key) + 1, next && Number(next.key));
  };
  const given = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, isLink(value) ? before.get(name)?.value : bare(value)]),
  );
  const widgets = namedWidgets(info, given).map((widget) => {
    const value = widget.value ?? defaultOf(widget.raw) ?? null;
    const [, ...behind] = listed({ ...widget, value });
    const was = before.get(widget.name);
    const kept = was && !isBox(widget.raw) ? listedBehind(was) : [];
    return [...listedBefore(widget.raw), value, ...behind.map((usual, place) => kept[place] ?? usual)];
  });
  const last = read.at(-1);
  const end = last ? listedBehind(last).slice(listed(last).length - 1) : [];
  return [...widgets.flat(), ...(end.length > 0 ? end : listedAtEnd(info))];
}

/** A list is wrapped when it is sent, but not in a file. */
export function bare(value: unknown): unknown {
  return isObject(value) && Array.isArray(value.__value__) ? value.__value__ : value;
}

function withoutKept({ proxyWidgetErrorQuarantine: kept, ...properties }: JsonObject, names: readonly string[]): JsonObject {
  const left = entriesOf(kept).filter((entry) => {
    const [id, name] = listOf(objectOf(entry)?.originalEntry);
    return id !== "-1" || !names.some((one) => one === name);
  });
  return { ...properties, ...(left.length > 0 && { proxyWidgetErrorQuarantine: left }) };
}

function withNodes(file: EditorJson, changes: ReadonlyMap<JsonObject, Change>): EditorJson {
  const nodes = file.nodes.map((node) => {
    const change = isObject(node) ? changes.get(node) : undefined;
    if (!change || !isObject(node)) return node;
    const { values, staleNames } = change;
    // Newer editors also keep values by name, and those might count instead.
    const { widgets_values_named: _before, ...rest } = node;
    const properties = staleNames.length === 0 ? {} : { properties: withoutKept(objectOf(node.properties) ?? {}, staleNames) };
    return { ...rest, ...properties, widgets_values: values };
  });
  const definitions = objectOf(file.definitions);
  if (!definitions) return { ...file, nodes };
  const subgraphs = listOf(definitions.subgraphs).map((one) => (isEditorFile(one) ? withNodes(one, changes) : one));
  return { ...file, nodes, definitions: { ...definitions, subgraphs } };
}
