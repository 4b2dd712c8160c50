import { asObject, asText, getOwn, isObject, type JsonObject } from "../json/json";
import { type ClassInput, getChoiceInputs, isDynamicCombo, isGrowing, listDeclaredInputs } from "../nodes/dynamic-inputs";
import { boxEdges, getInputType, getSettings } from "../nodes/input-spec";
import { type NodeInfo } from "../schemas/object-info";
import { asArray, type EditorFile, type EditorNode, getNodesById, INSIDE_START, type Net, parseEntries } from "./file";
import { isPrimitive } from "./node-kinds";

/** The index in widgets_values, and the node in the file. A value that the node also stores by `storedName` has precedence. */
type ValueKey = string | number;
export type ValueLocation = { node: JsonObject; key: ValueKey; storedName?: string };
export type Widget = { name: string; raw: unknown; value: unknown; key: ValueKey };

const widgetTypes = new Set([
  ...["INT", "FLOAT", "BOOLEAN", "STRING", "COMBO", "COLOR", "BOUNDING_BOX", "CURVE", "RANGE", "MARKDOWN", "TEXTAREA", "CHART"],
  ...["GALLERIA", "PAINTER", "IMAGECOMPARE", "COMFY_DYNAMICCOMBO_V3", "WEBCAM", "LOAD_3D", "AUDIO_UI", "AUDIO_RECORD"],
]);
/** Saved in place of a list that the server had not sent yet. */
const loadingTexts: readonly unknown[] = ["Loading...", "Loading…"];
const REFRESH = "refresh";
const viewButtons = ["upload3dmodel", "uploadExtraResources", "clear"];
const MAX_DEPTH = 4;

/** Checks only the type, so it is also true for inputs that forceInput turns into sockets. */
function isWidgetType(raw: unknown): boolean {
  return widgetTypes.has(getWidgetType(raw));
}

function getWidgetType(raw: unknown): string {
  return getSettings(raw).widgetType ?? getInputType(raw);
}

function hasWidget(raw: unknown): boolean {
  return isWidgetType(raw) && getSettings(raw).forceInput === undefined;
}

export function readWidgets(node: EditorNode, info: NodeInfo): Widget[] {
  const inputs = listDeclaredInputs(info);
  const { values } = node;
  if (isObject(values)) return readByName(inputs, values, 0).map((widget) => correctWidget(node, widget));
  const indexes = findValueIndexes(inputs, values);
  const [resultWithFilters, resultWithoutFilters] = [true, false].map((hasFilters) => {
    let position = 0;
    const reader = {
      isNext: (value: unknown) => values[indexes[position] ?? -1] === value,
      readNext: () => ({ key: indexes[position] ?? values.length + position - indexes.length, value: values[indexes[position++] ?? -1] }),
    };
    const widgets = readByPosition(inputs, reader, 0, hasFilters);
    return { widgets, isComplete: position <= indexes.length };
  });
  const result = resultWithFilters?.isComplete ? resultWithFilters : resultWithoutFilters;
  return (result?.widgets ?? []).map((widget) => correctWidget(node, widget));
}

export function readNamedWidgets(info: NodeInfo, values: JsonObject): Widget[] {
  return readByName(listDeclaredInputs(info), values, 0);
}

export function getPrecedingValues(raw: unknown): readonly string[] {
  return getWidgetType(raw) === "LOAD_3D" ? viewButtons : [];
}

export function toListedValues({ name, raw, value }: Omit<Widget, "key">): unknown[] {
  const extraValues = getExtraValues(name, raw, true);
  if (getWidgetType(raw) !== "BOUNDING_BOX") return [value, ...extraValues];
  return [value, ...boxEdges.map((edge) => asObject(value)?.[edge] ?? 0)];
}

export function getTrailingValues(info: NodeInfo): unknown[] {
  const settings = listDeclaredInputs(info).map(({ raw }) => getSettings(raw));
  const hasPictureUpload = settings.some(({ image_upload, video_upload }) => image_upload || video_upload);
  return [...(hasPictureUpload ? ["image"] : []), ...(settings.some(({ audio_upload }) => audio_upload) ? [null, null] : [])];
}

export function getValueLocation({ raw, outerNode }: EditorNode, { key }: Pick<Widget, "key">): ValueLocation {
  const outerKey = typeof key === "number" ? outerNode?.outerIndexes.get(key) : undefined;
  return outerNode && outerKey !== undefined ? { node: outerNode.raw, key: outerKey } : { node: raw, key };
}

/** In the editor's order: sockets, then widgets. The inputs of a choice follow it directly. A growing list is one input. */
export function orderClassInputs(info: NodeInfo, widgets: readonly Widget[]): (ClassInput & { hasWidget: boolean })[] {
  const choices = new Map(widgets.map(({ name, value }) => [name, value]));
  const addChoiceInputs = (input: ClassInput, depth: number): ReturnType<typeof orderClassInputs> => {
    const choiceInputs = isDynamicCombo(input.raw) && depth < MAX_DEPTH ? getChoiceInputs(input, choices.get(input.name)) : [];
    const classInput = { ...input, hasWidget: !isGrowing(input.raw) && hasWidget(input.raw) };
    return [classInput, ...choiceInputs.flatMap((classInput) => addChoiceInputs(classInput, depth + 1))];
  };
  const inputGroups = listDeclaredInputs(info).map((input) => addChoiceInputs(input, 0));
  return [false, true].flatMap((isWidget) => inputGroups.filter(([firstInput]) => firstInput?.hasWidget === isWidget)).flat();
}

type ValueReader = { isNext: (value: unknown) => boolean; readNext: () => { key: number; value: unknown } };

function readByPosition(inputs: readonly ClassInput[], reader: ValueReader, depth: number, hasFilters: boolean): Widget[] {
  return inputs.flatMap((input) => {
    const { name, raw } = input;
    if (isGrowing(raw) || !hasWidget(raw)) return [];
    for (const button of getPrecedingValues(raw)) if (reader.isNext(button)) reader.readNext();
    const { key, value } = reader.readNext();
    getExtraValues(name, raw, hasFilters).forEach(reader.readNext);
    if (getSettings(raw).remote !== undefined && reader.isNext(REFRESH)) reader.readNext();
    // Null becomes the first choice only after all values are read, because the inputs of that choice have no values.
    const choiceReader = value === null ? { isNext: () => false, readNext: () => ({ key, value: undefined }) } : reader;
    const choiceWidgets =
      isDynamicCombo(raw) && depth < MAX_DEPTH ? readByPosition(getChoiceInputs(input, value), choiceReader, depth + 1, hasFilters) : [];
    return [{ name, raw, value, key }, ...choiceWidgets];
  });
}

function readByName(inputs: readonly ClassInput[], values: JsonObject, depth: number): Widget[] {
  return inputs.flatMap((input) => {
    const { name, raw } = input;
    if (isGrowing(raw) || !hasWidget(raw)) return [];
    const value = getOwn(values, name);
    const choiceWidgets = isDynamicCombo(raw) && depth < MAX_DEPTH ? readByName(getChoiceInputs(input, value), values, depth + 1) : [];
    return [{ name, raw, value, key: name }, ...choiceWidgets];
  });
}

/** Entries after a value that belong to no input: a seed's control, a list's refresh, and the edges of a box. */
function getExtraValues(name: string, raw: unknown, hasFilters: boolean): unknown[] {
  const type = getWidgetType(raw);
  const control = hasControl(name, raw) ? (type === "COMBO" && hasFilters ? ["fixed", ""] : ["fixed"]) : [];
  const remote = getSettings(raw).remote;
  const refresh = remote === undefined ? [] : [false, ...(asObject(remote)?.refresh_button === true ? [REFRESH] : [])];
  return [...refresh, ...control, ...(type === "BOUNDING_BOX" ? boxEdges.map(() => 0) : [])];
}

/** The editor adds a control to seeds even if the class has none. The control of a list is followed by its filter. */
export function hasControl(name: string, raw: unknown): boolean {
  const type = getWidgetType(raw);
  if (type !== "INT" && type !== "FLOAT" && type !== "COMBO") return false;
  return Boolean(getSettings(raw).control_after_generate ?? (type === "INT" && /^(noise_)?seed$/.test(name)));
}

/** Skips values of inputs that are sockets now, which older files contain. Such files are recognized by their number of values. */
function findValueIndexes(inputs: readonly ClassInput[], values: readonly unknown[]): readonly number[] {
  const forcedInputs = inputs.flatMap(({ raw }) => {
    const { forceInput, control_after_generate: control } = getSettings(raw);
    if (!isWidgetType(raw) && forceInput === undefined) return [];
    const isForced = forceInput === true;
    return control ? [isForced, false] : [isForced];
  });
  const indexes = values.map((_, index) => index);
  return forcedInputs.length === values.length ? indexes.filter((index) => forcedInputs[index] !== true) : indexes;
}

function correctWidget({ type }: EditorNode, widget: Widget): Widget {
  const { name, raw, value } = widget;
  if (loadingTexts.includes(value) && getSettings(raw).remote !== undefined) return { ...widget, value: undefined };
  const isSampler = name === "sampler_name" && (type === "KSampler" || type === "KSamplerAdvanced");
  return isSampler ? { ...widget, value: asText(value)?.replace(/^sample_/, "") ?? value } : widget;
}

type WidgetLocation = { node: string; input: string };

const MAX_NESTING = 50;
const MAX_LOCATIONS = 100;
/** Limits the search, because a subgraph may contain itself twice. */
const MAX_VISITED_NODES = 2_000;

export function findWidgetLocations(file: EditorFile, node: string, widget: string): WidgetLocation[] {
  const locations = new Map<string, WidgetLocation>();
  let visitedCount = 0;

  function findLocations({ net, path, depth }: { net: Net; path: string; depth: number }, id: string, name: string): void {
    if (depth > MAX_NESTING || locations.size >= MAX_LOCATIONS || ++visitedCount > MAX_VISITED_NODES) return;
    const editorNode = getNodesById(net).get(id);
    if (!editorNode) return;
    const definition = file.definitions.get(editorNode.type);
    if (isPrimitive(editorNode)) return findInScope({ net, path, depth }, findLinksFrom(net, id, undefined));
    if (!definition) return void locations.set(`${path}${id}\n${name}`, { node: path + id, input: name });
    const innerScope = { net: definition, path: `${path}${id}:`, depth: depth + 1 };
    const port = definition.inputs.findIndex((input) => input.name === name);
    if (port >= 0) return findInScope(innerScope, findLinksFrom(definition, INSIDE_START, port));
    const innerNodeId = parseEntries(editorNode.properties.proxyWidgets)
      .map(asArray)
      .find(([innerId, innerName]) => innerName === name && innerId !== "-1")?.[0];
    if (typeof innerNodeId === "string") findLocations(innerScope, definition.renumbered?.get(innerNodeId) ?? innerNodeId, name);
  }

  function findInScope(scope: Parameters<typeof findLocations>[0], links: readonly string[]): void {
    const linkIds = new Set(links);
    for (const { id, inputs } of scope.net.nodes)
      for (const { link, name, widget: widgetName = name } of inputs)
        if (link !== undefined && linkIds.has(link)) findLocations({ ...scope, depth: scope.depth + 1 }, id, widgetName);
  }

  for (const { net, path, id } of findNodes(file, node)) findLocations({ net, path, depth: path === "" ? 0 : 1 }, id, widget);
  return [...locations.values()];
}

export function findOuterName(file: EditorFile, node: string, widget: string, innerName: string): string | undefined {
  const definitions = findNodes(file, node).flatMap(({ net, id }) => file.definitions.get(getNodesById(net).get(id)?.type ?? "") ?? []);
  const port = definitions.flatMap(({ inputs }) => inputs).find(({ name }) => name === widget);
  return port?.label ?? (port?.name.replace(/_\d+$/, "") === innerName ? undefined : port?.name);
}

/** Finds the outer node with this id, or one in each instance of its subgraph, because App mode stores only the inner id. */
export function findNodes(file: EditorFile, id: string): { net: Net; path: string; id: string }[] {
  if (getNodesById(file).has(id)) return [{ net: file, path: "", id }];
  return file.nodes.flatMap((node) => {
    const net = file.definitions.get(node.type);
    const innerId = net?.renumbered?.get(id) ?? id;
    return net && getNodesById(net).has(innerId) ? [{ net, path: `${node.id}:`, id: innerId }] : [];
  });
}

function findLinksFrom({ links }: Net, origin: string, slot: number | undefined): string[] {
  return [...links].flatMap(([id, link]) => (link.origin === origin && (slot === undefined || link.originSlot === slot) ? [id] : []));
}
