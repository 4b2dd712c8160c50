import { withSpellingsOf } from "../json/exact-json";
import { isObject, type JsonObject, objectOf } from "../json/json";
import { own } from "../json/own";
import { inputsOf, isDynamicCombo, orderedInputs } from "../nodes/dynamic-inputs";
import { type WidgetOf } from "../nodes/fill-texts";
import { settingsOf, typeOf } from "../nodes/input-spec";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { isLink } from "../workflow/graph";
import { isSameJson, type SavedInput, toSavedProperties } from "./drawing";
import { parseEntries, isEditorFile, listOf, readEditorFile, readNode } from "./file";
import { convert } from "./index";
import { defaultOf, type EditorReport, widgetFinder } from "./sent-values";
import { listed, listedAtEnd, listedBefore, namedWidgets, type ValueLocation, type Widget, widgetsOf } from "./values";

type UnplacedValue = { nodeId: string; input?: string };
/** `unplaced`: where the new file differs from the graph; computed when called. `widgetOf`: values of its nodes, by the editor's names. */
export type WrittenFile = { file: JsonObject; unplaced: () => UnplacedValue[]; widgetOf: WidgetOf };
export type EditableFile = { report: () => EditorReport; withValues: (graph: Graph) => WrittenFile };
type Values = readonly unknown[] | JsonObject;
/** `staleNames`: names whose stored values must be removed from the node, because they would take precedence. */
type Change = { values: Values; staleNames: readonly string[] };
type EditorJson = JsonObject & { nodes: unknown[] };

export function writable(file: JsonObject, info: ObjectInfo): EditableFile {
  if (!isEditorFile(file))
    return { report: () => ({ problems: [], notices: [] }), withValues: () => ({ file, unplaced: () => [], widgetOf: () => undefined }) };
  let convertedFile: ReturnType<typeof convert> | undefined;
  const before = () => (convertedFile ??= convert(readEditorFile(file, info), info, false));
  return {
    report: before,
    withValues(graph) {
      const { graph: was, homes } = before();
      const changes = new Map<JsonObject, Change>();
      for (const [nodeId, node] of Object.entries(graph)) {
        for (const { name, value, other } of differing(node, own(was, nodeId), info)) {
          const valueLocation = homes.get(`${nodeId} ${name}`);
          if (!valueLocation || value === undefined || isLink(value) || isLink(other)) continue;
          const { values, staleNames } = changes.get(valueLocation.node) ?? { values: valuesOf(valueLocation), staleNames: [] };
          changes.set(valueLocation.node, {
            values: withValue(values, valueLocation, { name, value: bare(value) }, node, own(info, node.class_type)),
            staleNames: valueLocation.storedName === undefined ? staleNames : [...staleNames, valueLocation.storedName],
          });
        }
      }
      const newFile = changes.size === 0 ? file : withNodes(file, changes);
      let cachedFinder: WidgetOf | undefined;
      return {
        file: newFile,
        unplaced: () => unplaced(graph, newFile === file ? was : convert(readEditorFile(newFile, info), info, false).graph),
        widgetOf: (name, widget) => (cachedFinder ??= widgetFinder(readEditorFile(newFile, info), info))(name, widget),
      };
    },
  };

  function unplaced(graph: Graph, now: Graph): UnplacedValue[] {
    return [...new Set([...Object.keys(graph), ...Object.keys(now)])].flatMap((nodeId): UnplacedValue[] => {
      const [node, placed] = [own(graph, nodeId), own(now, nodeId)];
      if (node?.class_type !== placed?.class_type) return [{ nodeId }];
      return node ? differing(node, placed, info).map(({ name }) => ({ nodeId, input: name })) : [];
    });
  }
}

function differing({ class_type: type, inputs }: GraphNode, was: GraphNode | undefined, info: ObjectInfo) {
  if (was?.class_type !== type) return [];
  const raws = new Map(inputsOf(own(info, type), inputs).map(({ name, raw }) => [name, raw]));
  return [...new Set([...Object.keys(inputs), ...Object.keys(was.inputs)])].flatMap((name) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : defaultOf(raws.get(name));
    const other = own(was.inputs, name);
    return isLink(value) === isLink(other) && isSameJson(bare(value), bare(other)) ? [] : [{ name, value, other }];
  });
}

function valuesOf({ node }: ValueLocation): Values {
  return objectOf(node.widgets_values) ?? listOf(node.widgets_values);
}

type InputValue = { name: string; value: unknown };

function withValue(
  values: Values,
  { node, key }: ValueLocation,
  value: InputValue,
  { class_type: type, inputs }: GraphNode,
  info?: NodeInfo,
): Values {
  if (isObject(values)) return withSpellingsOf(values, { ...values, [key]: value.value });
  const at = Number(key);
  const [nodeInfo, all] = node.type === type ? [info, orderedInputs(info)] : [undefined, []];
  // The entries after a choice are of another number now, and a list that is too short does not give the values before it.
  if (nodeInfo && (at > values.length || all.some(({ raw }) => isDynamicCombo(raw))))
    return listOfValues(nodeInfo, inputs, { node, values });
  const before = Array.from({ length: at }, (_, index) => (index < values.length ? values[index] : null));
  const raw = all.find(({ name }) => name === value.name)?.raw;
  const newValues = isBox(raw) ? listed({ ...value, raw }) : [value.value];
  return withSpellingsOf(values, [...before, ...newValues, ...values.slice(at + newValues.length)]);
}

function isBox(raw: unknown): boolean {
  return typeOf(raw) === "BOUNDING_BOX";
}

function listOfValues(info: NodeInfo, inputs: Readonly<JsonObject>, inFile?: { node: JsonObject; values: readonly unknown[] }): unknown[] {
  const [node] = inFile ? readNode({ id: 0, ...inFile.node, widgets_values: inFile.values }, {}) : [];
  const nodeWidgets = node ? widgetsOf(node, info) : [];
  const before = new Map(nodeWidgets.map((widget) => [widget.name, widget]));
  const listedBehind = (widget: Widget) => {
    const next = nodeWidgets[nodeWidgets.indexOf(widget) + 1];
    return listOf(inFile?.values).slice(Number(widget.key) + 1, next && Number(next.key));
  };
  const inputValues = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, isLink(value) ? before.get(name)?.value : bare(value)]),
  );
  const widgets = namedWidgets(info, inputValues).map((widget) => {
    const value = widget.value ?? defaultOf(widget.raw) ?? null;
    const [, ...behind] = listed({ ...widget, value });
    const was = before.get(widget.name);
    const storedValues = was && !isBox(widget.raw) ? listedBehind(was) : [];
    return [...listedBefore(widget.raw), value, ...behind.map((defaultValue, index) => storedValues[index] ?? defaultValue)];
  });
  const last = nodeWidgets.at(-1);
  const end = last ? listedBehind(last).slice(listed(last).length - 1) : [];
  return [...widgets.flat(), ...(end.length > 0 ? end : listedAtEnd(info))];
}

function bare(value: unknown): unknown {
  return isObject(value) && Array.isArray(value.__value__) ? value.__value__ : value;
}

function withoutQuarantined({ proxyWidgetErrorQuarantine: quarantined, ...properties }: JsonObject, names: readonly string[]): JsonObject {
  const remainingEntries = parseEntries(quarantined).filter((entry) => {
    const [id, name] = listOf(objectOf(entry)?.originalEntry);
    return id !== "-1" || !names.some((value) => value === name);
  });
  return { ...properties, ...(remainingEntries.length > 0 && { proxyWidgetErrorQuarantine: remainingEntries }) };
}

function withNodes(file: EditorJson, changes: ReadonlyMap<JsonObject, Change>): EditorJson {
  const nodes = file.nodes.map((node) => {
    const change = isObject(node) ? changes.get(node) : undefined;
    if (!change || !isObject(node)) return node;
    const { values, staleNames } = change;
    // Newer editors also keep values by name, and those might count instead.
    const { widgets_values_named: _before, ...rest } = node;
    const properties = staleNames.length === 0 ? {} : { properties: withoutQuarantined(objectOf(node.properties) ?? {}, staleNames) };
    return withSpellingsOf(node, { ...rest, ...properties, widgets_values: values });
  });
  const definitions = objectOf(file.definitions);
  if (!definitions) return withSpellingsOf(file, { ...file, nodes });
  const subgraphs = listOf(definitions.subgraphs).map((item) => (isEditorFile(item) ? withNodes(item, changes) : item));
  return withSpellingsOf(file, { ...file, nodes, definitions: withSpellingsOf(definitions, { ...definitions, subgraphs }) });
}

/** `places`: where a drawing has the nodes. Only which node is beside and below which counts, since the editor's nodes are larger. */
type Options = { id: string; places: ReadonlyMap<string, { x: number; y: number }> };
type NewFile = { file: JsonObject; lostInputs: string[] };

const WIDTH = 300;
const GAP = 80;
const ROW = 24;
const HEAD = 60;
const TEXT_ROWS = 5;

export function toEditorFile(graph: Graph, info: ObjectInfo, { id, places }: Options): NewFile {
  const links: unknown[][] = [];
  const outputs = new Map<string, Map<number, number[]>>();
  const drawn = Object.entries(graph).map(([nodeId, node], order) => {
    const nodeInfo = own(info, node.class_type);
    const widgets = new Map(namedWidgets(nodeInfo ?? {}, withoutLinks(node)).map((widget) => [widget.name, widget.raw]));
    const specs = new Map(orderedInputs(nodeInfo).map(({ name, raw }) => [name, raw]));
    const inputs = inputNames(node, nodeInfo, widgets).map((name, slot) => {
      const value = node.inputs[name];
      const raw = widgets.get(name) ?? specs.get(name);
      const type = raw === undefined || /^COMFY_(AUTOGROW|MATCHTYPE)_V3$/.test(typeOf(raw)) ? "*" : typeOf(raw);
      const link = isLink(value) && Object.hasOwn(graph, value[0]) ? newLink(value, [nodeId, slot], type) : null;
      return { name, type, ...(widgets.has(name) && { widget: { name } }), link };
    });
    function newLink([origin, slot]: readonly [string, number], [target, targetSlot]: readonly [string, number], type: string): number {
      const linkId = links.length + 1;
      links.push([linkId, idOf(origin), slot, idOf(target), targetSlot, type]);
      const slots = outputs.get(origin) ?? new Map<number, number[]>();
      outputs.set(origin, slots);
      const others = slots.get(slot);
      if (others) others.push(linkId);
      else slots.set(slot, [linkId]);
      return linkId;
    }
    const title = node._meta?.title;
    const values = nodeInfo ? listOfValues(nodeInfo, node.inputs) : withoutLinks(node);
    const texts = [...widgets.values()].filter((raw) => settingsOf(raw).multiline).length;
    const height = HEAD + ROW * (Math.max(inputs.length - widgets.size, nodeInfo?.output?.length ?? 1) + widgets.size + texts * TEXT_ROWS);
    return {
      nodeId,
      height,
      node: {
        id: idOf(nodeId),
        type: node.class_type,
        pos: [0, 0],
        size: [WIDTH, height],
        flags: {},
        order,
        mode: 0,
        inputs,
        outputs: [] as object[],
        properties: nodeInfo ? { "Node name for S&R": node.class_type } : {},
        widgets_values: values,
        ...(title && title !== nodeInfo?.display_name && { title }),
      },
    };
  });
  const positions = spread(drawn, places);
  const nodes = drawn.map(({ nodeId, node }) => ({
    ...node,
    pos: positions.get(nodeId) ?? [0, 0],
    outputs: outputsOf(own(info, node.type), outputs.get(nodeId)),
  }));
  const numbers = nodes.flatMap((node) => (typeof node.id === "number" ? node.id : []));
  const file = {
    id,
    revision: 0,
    last_node_id: numbers.reduce((max, value) => Math.max(max, value), 0),
    last_link_id: links.length,
    nodes,
    links,
    groups: [],
    config: {},
    extra: { ds: { scale: 1, offset: [0, 0] } },
    version: 0.4,
  };
  return withSavedInputs(file, graph, info);
}

function withSavedInputs(
  file: JsonObject & { nodes: (JsonObject & { type: string; properties: JsonObject })[] },
  graph: Graph,
  info: ObjectInfo,
): NewFile {
  const { graph: convertedGraph } = convert(readEditorFile(file, info), info, false);
  const ids = Object.keys(graph);
  const nodes = file.nodes.map((node, at) => {
    const [inputs, readBack] = [own(graph, ids[at] ?? "")?.inputs ?? {}, own(convertedGraph, ids[at] ?? "")?.inputs ?? {}];
    const savedInputs = Object.entries(inputs).flatMap(([name, is]): [string, SavedInput][] =>
      isSameJson(bareOfFile(is), bareOfFile(own(readBack, name))) ? [] : [[name, { is, reads: own(readBack, name) }]],
    );
    const isWhole = savedInputs.length === 0 && own(info, node.type) !== undefined;
    return isWhole ? node : { ...node, properties: { ...node.properties, ...toSavedProperties(Object.fromEntries(savedInputs)) } };
  });
  const newFile = { ...file, nodes };
  const { graph: now } = convert(readEditorFile(newFile, info), info, false);
  return { file: newFile, lostInputs: ids.filter((id) => own(now, id)?.class_type !== own(graph, id)?.class_type) };
}

function bareOfFile(value: unknown): unknown {
  const list = bare(value);
  return isLink(list) ? value : list;
}

function withoutLinks({ inputs }: GraphNode): JsonObject {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => !isLink(value)));
}

/** As in the editor's files: sockets in the order of the class, then other linked inputs; a widget has a slot only while it is linked. */
function inputNames({ inputs }: GraphNode, nodeInfo: NodeInfo | undefined, widgets: ReadonlyMap<string, unknown>): string[] {
  const linkNames = Object.keys(inputs).filter((name) => isLink(inputs[name]));
  const sockets = orderedInputs(nodeInfo).flatMap(({ name, raw }) =>
    widgets.has(name) || /^COMFY_(AUTOGROW|DYNAMICCOMBO)_V3$/.test(typeOf(raw)) ? [] : [name],
  );
  return [...new Set([...sockets, ...linkNames])];
}

function outputsOf(nodeInfo: NodeInfo | undefined, links: ReadonlyMap<number, number[]> | undefined): object[] {
  const listed = nodeInfo?.output ?? [];
  const outputCount = Math.min(MAX_OUTPUTS, Math.max(listed.length, ...[...(links?.keys() ?? [])].map((slot) => slot + 1)));
  return Array.from({ length: outputCount }, (_, slot) => {
    const type = Array.isArray(listed[slot]) ? "COMBO" : String(listed[slot] ?? "*");
    const name = Array.isArray(nodeInfo?.output_name) ? nodeInfo.output_name[slot] : undefined;
    return { name: name ?? type, type, links: links?.get(slot) ?? null };
  });
}

const MAX_OUTPUTS = 1000;

function idOf(id: string): string | number {
  const number = Number(id);
  return Number.isSafeInteger(number) && String(number) === id && number >= 0 ? number : id;
}

function spread(nodes: readonly { nodeId: string; height: number }[], places: Options["places"]): Map<string, readonly [number, number]> {
  const placed = nodes.map((node) => ({ ...node, ...(places.get(node.nodeId) ?? { x: 0, y: 0 }) }));
  const columns = [...new Set(placed.map(({ x }) => x))].sort((value, other) => value - other);
  const columnOf = new Map(columns.map((x, index) => [x, { left: index * (WIDTH + GAP), nextTop: 0 }]));
  const positions = new Map<string, readonly [number, number]>();
  for (const { nodeId, height, x } of placed.sort((item, other) => item.y - other.y)) {
    const column = columnOf.get(x);
    if (!column) continue;
    positions.set(nodeId, [column.left, column.nextTop]);
    column.nextTop += height + GAP;
  }
  return positions;
}
