import { copySpellings } from "../json/exact-json";
import { asObject, getOwn, isObject, type JsonObject } from "../json/json";
import { isDynamicCombo, listDeclaredInputs, listInputs } from "../nodes/dynamic-inputs";
import { type WidgetFinder } from "../nodes/fill-texts";
import { getInputType, getSettings } from "../nodes/input-spec";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { isLink } from "../workflow/graph";
import { isSameJson, type SavedInput, toSavedProperties } from "./drawing";
import { asArray, isEditorFile, parseEntries, readEditorFile, readNode } from "./file";
import { convertFile } from "./index";
import { createWidgetFinder, type EditorReport, getDefault } from "./sent-values";
import {
  getPrecedingValues,
  getTrailingValues,
  readNamedWidgets,
  readWidgets,
  toListedValues,
  type ValueLocation,
  type Widget,
} from "./values";

type UnplacedValue = { nodeId: string; input?: string };
/** `findUnplacedValues`: where the new file differs from the graph. `findWidgetValue`: values of its nodes, by the editor's names. */
export type WrittenFile = { file: JsonObject; findUnplacedValues: () => UnplacedValue[]; findWidgetValue: WidgetFinder };
export type EditableFile = { getReport: () => EditorReport; applyValues: (graph: Graph) => WrittenFile };
type Values = readonly unknown[] | JsonObject;
/** `staleNames`: names whose stored values must be removed from the node, because they would have precedence. */
type Change = { values: Values; staleNames: readonly string[] };
type EditorJson = JsonObject & { nodes: unknown[] };

export function createEditableFile(file: JsonObject, info: ObjectInfo): EditableFile {
  if (!isEditorFile(file))
    return {
      getReport: () => ({ problems: [], notices: [] }),
      applyValues: () => ({ file, findUnplacedValues: () => [], findWidgetValue: () => undefined }),
    };
  let convertedFile: ReturnType<typeof convertFile> | undefined;
  const getConvertedFile = () => (convertedFile ??= convertFile(readEditorFile(file, info), info, false));
  return {
    getReport: getConvertedFile,
    applyValues(graph) {
      const { graph: originalGraph, valueLocations } = getConvertedFile();
      const changes = new Map<JsonObject, Change>();
      for (const [nodeId, node] of Object.entries(graph)) {
        for (const { name, value, originalValue } of findDifferences(node, getOwn(originalGraph, nodeId), info)) {
          const valueLocation = valueLocations.get(`${nodeId} ${name}`);
          if (!valueLocation || value === undefined || isLink(value) || isLink(originalValue)) continue;
          const { values, staleNames } = changes.get(valueLocation.node) ?? { values: getValues(valueLocation), staleNames: [] };
          changes.set(valueLocation.node, {
            values: replaceValue(values, valueLocation, { name, value: unwrapList(value) }, node, getOwn(info, node.class_type)),
            staleNames: valueLocation.storedName === undefined ? staleNames : [...staleNames, valueLocation.storedName],
          });
        }
      }
      const newFile = changes.size === 0 ? file : replaceNodes(file, changes);
      let cachedFinder: WidgetFinder | undefined;
      return {
        file: newFile,
        findUnplacedValues: () =>
          findUnplaced(graph, newFile === file ? originalGraph : convertFile(readEditorFile(newFile, info), info, false).graph),
        findWidgetValue: (name, widget) => (cachedFinder ??= createWidgetFinder(readEditorFile(newFile, info), info))(name, widget),
      };
    },
  };

  function findUnplaced(graph: Graph, newGraph: Graph): UnplacedValue[] {
    return [...new Set([...Object.keys(graph), ...Object.keys(newGraph)])].flatMap((nodeId): UnplacedValue[] => {
      const [node, newNode] = [getOwn(graph, nodeId), getOwn(newGraph, nodeId)];
      if (node?.class_type !== newNode?.class_type) return [{ nodeId }];
      return node ? findDifferences(node, newNode, info).map(({ name }) => ({ nodeId, input: name })) : [];
    });
  }
}

function findDifferences({ class_type: type, inputs }: GraphNode, original: GraphNode | undefined, info: ObjectInfo) {
  if (original?.class_type !== type) return [];
  const specs = new Map(listInputs(getOwn(info, type), inputs).map(({ name, raw }) => [name, raw]));
  return [...new Set([...Object.keys(inputs), ...Object.keys(original.inputs)])].flatMap((name) => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : getDefault(specs.get(name));
    const originalValue = getOwn(original.inputs, name);
    const isSame = isLink(value) === isLink(originalValue) && isSameJson(unwrapList(value), unwrapList(originalValue));
    return isSame ? [] : [{ name, value, originalValue }];
  });
}

function getValues({ node }: ValueLocation): Values {
  return asObject(node.widgets_values) ?? asArray(node.widgets_values);
}

type InputValue = { name: string; value: unknown };

function replaceValue(
  values: Values,
  { node, key }: ValueLocation,
  value: InputValue,
  { class_type: type, inputs }: GraphNode,
  info?: NodeInfo,
): Values {
  if (isObject(values)) return copySpellings(values, { ...values, [key]: value.value });
  const index = Number(key);
  const [nodeInfo, classInputs] = node.type === type ? [info, listDeclaredInputs(info)] : [undefined, []];
  // A new choice changes the number of entries after it, and a short list lacks the values before this one.
  if (nodeInfo && (index > values.length || classInputs.some(({ raw }) => isDynamicCombo(raw))))
    return createValueList(nodeInfo, inputs, { node, values });
  const precedingValues = Array.from({ length: index }, (_, index) => (index < values.length ? values[index] : null));
  const raw = classInputs.find(({ name }) => name === value.name)?.raw;
  const newValues = isBoundingBox(raw) ? toListedValues({ ...value, raw }) : [value.value];
  return copySpellings(values, [...precedingValues, ...newValues, ...values.slice(index + newValues.length)]);
}

function isBoundingBox(raw: unknown): boolean {
  return getInputType(raw) === "BOUNDING_BOX";
}

function createValueList(
  info: NodeInfo,
  inputs: Readonly<JsonObject>,
  storedNode?: { node: JsonObject; values: readonly unknown[] },
): unknown[] {
  const [node] = storedNode ? readNode({ id: 0, ...storedNode.node, widgets_values: storedNode.values }, {}) : [];
  const nodeWidgets = node ? readWidgets(node, info) : [];
  const widgetsByName = new Map(nodeWidgets.map((widget) => [widget.name, widget]));
  const getFollowingValues = (widget: Widget) => {
    const nextWidget = nodeWidgets[nodeWidgets.indexOf(widget) + 1];
    return asArray(storedNode?.values).slice(Number(widget.key) + 1, nextWidget && Number(nextWidget.key));
  };
  const inputValues = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, isLink(value) ? widgetsByName.get(name)?.value : unwrapList(value)]),
  );
  const widgets = readNamedWidgets(info, inputValues).map((widget) => {
    const value = widget.value ?? getDefault(widget.raw) ?? null;
    const [, ...extraValues] = toListedValues({ ...widget, value });
    const storedWidget = widgetsByName.get(widget.name);
    const storedValues = storedWidget && !isBoundingBox(widget.raw) ? getFollowingValues(storedWidget) : [];
    return [...getPrecedingValues(widget.raw), value, ...extraValues.map((defaultValue, index) => storedValues[index] ?? defaultValue)];
  });
  const lastWidget = nodeWidgets.at(-1);
  const endValues = lastWidget ? getFollowingValues(lastWidget).slice(toListedValues(lastWidget).length - 1) : [];
  return [...widgets.flat(), ...(endValues.length > 0 ? endValues : getTrailingValues(info))];
}

function unwrapList(value: unknown): unknown {
  return isObject(value) && Array.isArray(value.__value__) ? value.__value__ : value;
}

function removeQuarantined({ proxyWidgetErrorQuarantine: quarantine, ...properties }: JsonObject, names: readonly string[]): JsonObject {
  const remainingEntries = parseEntries(quarantine).filter((entry) => {
    const [id, name] = asArray(asObject(entry)?.originalEntry);
    return id !== "-1" || !names.some((value) => value === name);
  });
  return { ...properties, ...(remainingEntries.length > 0 && { proxyWidgetErrorQuarantine: remainingEntries }) };
}

function replaceNodes(file: EditorJson, changes: ReadonlyMap<JsonObject, Change>): EditorJson {
  const nodes = file.nodes.map((node) => {
    const change = isObject(node) ? changes.get(node) : undefined;
    if (!change || !isObject(node)) return node;
    const { values, staleNames } = change;
    // Newer editors also store values by name, which could have precedence.
    const { widgets_values_named: _namedValues, ...rest } = node;
    const properties = staleNames.length === 0 ? {} : { properties: removeQuarantined(asObject(node.properties) ?? {}, staleNames) };
    return copySpellings(node, { ...rest, ...properties, widgets_values: values });
  });
  const definitions = asObject(file.definitions);
  if (!definitions) return copySpellings(file, { ...file, nodes });
  const subgraphs = asArray(definitions.subgraphs).map((item) => (isEditorFile(item) ? replaceNodes(item, changes) : item));
  return copySpellings(file, { ...file, nodes, definitions: copySpellings(definitions, { ...definitions, subgraphs }) });
}

/** Only the order of the positions counts, because the editor's nodes are larger. */
type Options = { id: string; drawingPositions: ReadonlyMap<string, { x: number; y: number }> };
type NewFile = { file: JsonObject; lostInputs: string[] };

const NODE_WIDTH = 300;
const NODE_GAP = 80;
const ROW_HEIGHT = 24;
const HEADER_HEIGHT = 60;
const TEXT_ROWS = 5;

export function toEditorFile(graph: Graph, info: ObjectInfo, { id, drawingPositions }: Options): NewFile {
  const links: unknown[][] = [];
  const outputs = new Map<string, Map<number, number[]>>();
  const newNodes = Object.entries(graph).map(([nodeId, node], order) => {
    const nodeInfo = getOwn(info, node.class_type);
    const widgets = new Map(readNamedWidgets(nodeInfo ?? {}, selectLiterals(node)).map((widget) => [widget.name, widget.raw]));
    const specs = new Map(listDeclaredInputs(nodeInfo).map(({ name, raw }) => [name, raw]));
    const inputs = getInputNames(node, nodeInfo, widgets).map((name, slot) => {
      const value = node.inputs[name];
      const raw = widgets.get(name) ?? specs.get(name);
      const type = raw === undefined || /^COMFY_(AUTOGROW|MATCHTYPE)_V3$/.test(getInputType(raw)) ? "*" : getInputType(raw);
      const link = isLink(value) && Object.hasOwn(graph, value[0]) ? addLink(value, [nodeId, slot], type) : null;
      return { name, type, ...(widgets.has(name) && { widget: { name } }), link };
    });
    function addLink([origin, slot]: readonly [string, number], [target, targetSlot]: readonly [string, number], type: string): number {
      const linkId = links.length + 1;
      links.push([linkId, toEditorId(origin), slot, toEditorId(target), targetSlot, type]);
      const slots = outputs.get(origin) ?? new Map<number, number[]>();
      outputs.set(origin, slots);
      const slotLinks = slots.get(slot);
      if (slotLinks) slotLinks.push(linkId);
      else slots.set(slot, [linkId]);
      return linkId;
    }
    const title = node._meta?.title;
    const values = nodeInfo ? createValueList(nodeInfo, node.inputs) : selectLiterals(node);
    const textCount = [...widgets.values()].filter((raw) => getSettings(raw).multiline).length;
    const height =
      HEADER_HEIGHT +
      ROW_HEIGHT * (Math.max(inputs.length - widgets.size, nodeInfo?.output?.length ?? 1) + widgets.size + textCount * TEXT_ROWS);
    return {
      nodeId,
      height,
      node: {
        id: toEditorId(nodeId),
        type: node.class_type,
        pos: [0, 0],
        size: [NODE_WIDTH, height],
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
  const positions = arrangeNodes(newNodes, drawingPositions);
  const nodes = newNodes.map(({ nodeId, node }) => ({
    ...node,
    pos: positions.get(nodeId) ?? [0, 0],
    outputs: createOutputs(getOwn(info, node.type), outputs.get(nodeId)),
  }));
  const numericIds = nodes.flatMap((node) => (typeof node.id === "number" ? node.id : []));
  const file = {
    id,
    revision: 0,
    last_node_id: numericIds.reduce((max, value) => Math.max(max, value), 0),
    last_link_id: links.length,
    nodes,
    links,
    groups: [],
    config: {},
    extra: { ds: { scale: 1, offset: [0, 0] } },
    version: 0.4,
  };
  return addSavedInputs(file, graph, info);
}

function addSavedInputs(
  file: JsonObject & { nodes: (JsonObject & { type: string; properties: JsonObject })[] },
  graph: Graph,
  info: ObjectInfo,
): NewFile {
  const { graph: convertedGraph } = convertFile(readEditorFile(file, info), info, false);
  const ids = Object.keys(graph);
  const nodes = file.nodes.map((node, index) => {
    const nodeId = ids[index] ?? "";
    const [inputs, convertedInputs] = [getOwn(graph, nodeId)?.inputs ?? {}, getOwn(convertedGraph, nodeId)?.inputs ?? {}];
    const savedInputs = Object.entries(inputs).flatMap(([name, value]): [string, SavedInput][] =>
      isSameJson(unwrapUnlessLink(value), unwrapUnlessLink(getOwn(convertedInputs, name)))
        ? []
        : [[name, { is: value, reads: getOwn(convertedInputs, name) }]],
    );
    const isComplete = savedInputs.length === 0 && getOwn(info, node.type) !== undefined;
    return isComplete ? node : { ...node, properties: { ...node.properties, ...toSavedProperties(Object.fromEntries(savedInputs)) } };
  });
  const newFile = { ...file, nodes };
  const { graph: newGraph } = convertFile(readEditorFile(newFile, info), info, false);
  return { file: newFile, lostInputs: ids.filter((id) => getOwn(newGraph, id)?.class_type !== getOwn(graph, id)?.class_type) };
}

function unwrapUnlessLink(value: unknown): unknown {
  const list = unwrapList(value);
  return isLink(list) ? value : list;
}

function selectLiterals({ inputs }: GraphNode): JsonObject {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => !isLink(value)));
}

/** As in the editor's files: sockets in the order of the class, then other linked inputs. Only linked widgets have a slot. */
function getInputNames({ inputs }: GraphNode, nodeInfo: NodeInfo | undefined, widgets: ReadonlyMap<string, unknown>): string[] {
  const linkNames = Object.keys(inputs).filter((name) => isLink(inputs[name]));
  const sockets = listDeclaredInputs(nodeInfo).flatMap(({ name, raw }) =>
    widgets.has(name) || /^COMFY_(AUTOGROW|DYNAMICCOMBO)_V3$/.test(getInputType(raw)) ? [] : [name],
  );
  return [...new Set([...sockets, ...linkNames])];
}

function createOutputs(nodeInfo: NodeInfo | undefined, links: ReadonlyMap<number, number[]> | undefined): object[] {
  const outputTypes = nodeInfo?.output ?? [];
  const outputCount = Math.min(MAX_OUTPUTS, Math.max(outputTypes.length, ...[...(links?.keys() ?? [])].map((slot) => slot + 1)));
  return Array.from({ length: outputCount }, (_, slot) => {
    const type = Array.isArray(outputTypes[slot]) ? "COMBO" : String(outputTypes[slot] ?? "*");
    const name = Array.isArray(nodeInfo?.output_name) ? nodeInfo.output_name[slot] : undefined;
    return { name: name ?? type, type, links: links?.get(slot) ?? null };
  });
}

const MAX_OUTPUTS = 1000;

function toEditorId(id: string): string | number {
  const number = Number(id);
  return Number.isSafeInteger(number) && String(number) === id && number >= 0 ? number : id;
}

function arrangeNodes(
  nodes: readonly { nodeId: string; height: number }[],
  drawingPositions: Options["drawingPositions"],
): Map<string, readonly [number, number]> {
  const positionedNodes = nodes.map((node) => ({ ...node, ...(drawingPositions.get(node.nodeId) ?? { x: 0, y: 0 }) }));
  const columns = [...new Set(positionedNodes.map(({ x }) => x))].sort((a, b) => a - b);
  const columnsByX = new Map(columns.map((x, index) => [x, { left: index * (NODE_WIDTH + NODE_GAP), nextTop: 0 }]));
  const positions = new Map<string, readonly [number, number]>();
  for (const { nodeId, height, x } of positionedNodes.sort((a, b) => a.y - b.y)) {
    const column = columnsByX.get(x);
    if (!column) continue;
    positions.set(nodeId, [column.left, column.nextTop]);
    column.nextTop += height + NODE_GAP;
  }
  return positions;
}
