// Reads an editor file (schema 0.4 and 1) as the editor does (docs/decisions/0045-convert-editor-files.md).

import { asNumber, asObject, getOwn, isObject, type JsonObject } from "../json/json";
import { parseJson } from "../json/parse-json";
import { type ObjectInfo } from "../schemas/object-info";

export type Slot = { name: string; widget?: string; type: string; link?: string; hasWidget: boolean };
export type EditorNode = {
  id: string;
  type: string;
  mode: number;
  title?: string;
  inputs: readonly Slot[];
  outputs: readonly { name: string; type: string }[];
  values: readonly unknown[] | JsonObject;
  properties: JsonObject;
  raw: JsonObject;
  /** For a node inside a group node: the outer node, and its value index for each index of this node. */
  outerNode?: { raw: JsonObject; outerIndexes: ReadonlyMap<number, number> };
};
export type EditorLink = { origin: string; originSlot: number; target: string; targetSlot: number };
export type Net = { nodes: readonly EditorNode[]; links: ReadonlyMap<string, EditorLink>; raw: JsonObject };
export type Port = { name: string; label?: string; type: string; links: readonly string[] };
export type Definition = Net & {
  name: string;
  inputs: readonly Port[];
  outputs: readonly Port[];
  renumbered?: ReadonlyMap<string, string>;
};
export type EditorFile = Net & { definitions: ReadonlyMap<string, Definition>; groupNodes: JsonObject; linksByRule: boolean };

/** The editor's ids for the ends of a subgraph. Inner links begin at the first and end at the second. */
export const INSIDE_START = "-10";
export const INSIDE_END = "-20";

export function isEditorFile(value: unknown): value is JsonObject & { nodes: unknown[] } {
  return isObject(value) && Array.isArray(value.nodes);
}

/** Without `info`, old class names are always replaced by new ones. */
export function readEditorFile(file: JsonObject & { nodes: unknown[] }, info: ObjectInfo = {}): EditorFile {
  const extra = asObject(file.extra);
  const net = readNet(file, info);
  const definitions = collectDefinitions(file).map((item) => ({ id: toIdText(item.id) ?? "", ...readNet(item, info), ...readPorts(item) }));
  return {
    ...net,
    definitions: new Map(ensureUniqueIds(file, net, definitions).map(({ id, ...definition }) => [id, definition])),
    groupNodes: asObject(extra?.groupNodes) ?? {},
    linksByRule: asArray(extra?.ue_links).length > 0,
  };
}

export function memoize<Input extends object, Output>(compute: (input: Input) => Output): (input: Input) => Output {
  const cache = new WeakMap<Input, { value: Output }>();
  return (input) => {
    const entry = cache.get(input) ?? { value: compute(input) };
    cache.set(input, entry);
    return entry.value;
  };
}

/** If two nodes share an id, the last one wins. */
export const getNodesById = memoize(({ nodes }: Net): ReadonlyMap<string, EditorNode> => new Map(nodes.map((node) => [node.id, node])));

export function findNet(file: EditorFile, path: readonly string[]): Net | undefined {
  let net: Net | undefined = file;
  for (const id of path) net = net && file.definitions.get(getNodesById(net).get(id)?.type ?? "");
  return net;
}

const newClassNames = new Map([
  ["T2IAdapterLoader", "ControlNetLoader"],
  ["ConditioningAverage ", "ConditioningAverage"],
  ["SDV_img2vid_Conditioning", "SVD_img2vid_Conditioning"],
  ["Load3DAnimation", "Load3D"],
  ["Preview3DAnimation", "Preview3D"],
]);

export function readNode(value: unknown, info: ObjectInfo): EditorNode[] {
  const node = asObject(value);
  const id = toIdText(node?.id);
  if (!node || id === undefined || typeof node.type !== "string") return [];
  return [
    {
      id,
      type: getOwn(info, node.type) ? node.type : (newClassNames.get(node.type) ?? node.type),
      mode: asNumber(node.mode) ?? 0,
      ...(typeof node.title === "string" && node.title !== "" && { title: node.title }),
      inputs: asArray(node.inputs).flatMap(readSlot),
      outputs: asArray(node.outputs).map((output) => ({ name: getText(output, "name"), type: toTypeText(asObject(output)?.type) })),
      values: asObject(node.widgets_values) ?? asArray(node.widgets_values),
      properties: asObject(node.properties) ?? {},
      raw: node,
    },
  ];
}

function readNet(net: JsonObject, info: ObjectInfo): Net {
  return {
    nodes: asArray(net.nodes).flatMap((node) => readNode(node, info)),
    links: new Map(asArray(net.links).flatMap(readLink)),
    raw: net,
  };
}

function readSlot(value: unknown): Slot[] {
  const slot = asObject(value);
  if (!slot) return [];
  const widget = asObject(slot.widget);
  const link = toIdText(slot.link);
  const ownName = getText(slot, "name");
  const widgetName = getText(widget, "name");
  const names = { name: ownName === "" ? widgetName : ownName, ...(widgetName !== "" && { widget: widgetName }) };
  return [{ ...names, type: toTypeText(slot.type), hasWidget: widget !== undefined, ...(link !== undefined && { link }) }];
}

/** Finds a slot by its name, or by its widget's name, because names may be labels. Prefers the slot at `position`, then the last one. */
export function createSlotFinder(slots: readonly Slot[]): (name: string, position?: number) => Slot | undefined {
  const slotsByName = new Map<string, Slot[]>();
  const slotsByWidget = new Map<string, Slot>();
  for (const slot of slots) {
    const { name, widget } = slot;
    const sameNameSlots = slotsByName.get(name);
    if (sameNameSlots) sameNameSlots.push(slot);
    else slotsByName.set(name, [slot]);
    if (widget !== undefined && !slotsByWidget.has(widget)) slotsByWidget.set(widget, slot);
  }
  return (name, position) =>
    slotsByName.get(name)?.[position ?? Infinity] ?? slotsByName.get(name)?.at(position === undefined ? -1 : 0) ?? slotsByWidget.get(name);
}

function readLink(value: unknown): [string, EditorLink][] {
  const object = asObject(value);
  const [id, origin, originSlot, target, targetSlot] = object
    ? [object.id, object.origin_id, object.origin_slot, object.target_id, object.target_slot]
    : asArray(value);
  const [linkId, originId, targetId] = [toIdText(id), toIdText(origin), toIdText(target)];
  if (linkId === undefined || originId === undefined) return [];
  return [
    [linkId, { origin: originId, originSlot: parseSlotIndex(originSlot), target: targetId ?? "", targetSlot: parseSlotIndex(targetSlot) }],
  ];
}

/** Some programs write numbers as strings. The editor reads both. */
function parseSlotIndex(value: unknown): number {
  return asNumber(value) ?? (typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : 0);
}

function readPorts(definition: JsonObject): Pick<Definition, "name" | "inputs" | "outputs"> {
  const readPortList = (list: unknown) =>
    asArray(list).map((port) => ({
      name: getText(port, "name"),
      ...(getText(port, "label") !== "" && { label: getText(port, "label") }),
      type: toTypeText(asObject(port)?.type),
      links: asArray(asObject(port)?.linkIds).flatMap((id) => toIdText(id) ?? []),
    }));
  return { name: getText(definition, "name"), inputs: readPortList(definition.inputs), outputs: readPortList(definition.outputs) };
}

function collectDefinitions(file: JsonObject, depth = 0): JsonObject[] {
  const subgraphs = asArray(asObject(file.definitions)?.subgraphs).filter(isObject);
  return depth > 5 ? subgraphs : subgraphs.flatMap((item) => [item, ...collectDefinitions(item, depth + 1)]);
}

const MAX_ID = 100_000_000;

/** An inner id that also occurs outside or in an earlier definition gets the next unused number, as in the editor. */
function ensureUniqueIds<T extends Definition>(file: JsonObject, root: Net, definitions: readonly T[]): T[] {
  const usedIds = new Set(root.nodes.flatMap(({ raw }) => asNumber(raw.id) ?? []));
  const lastNodeId = asNumber(file.last_node_id) ?? asNumber(asObject(file.state)?.lastNodeId) ?? 0;
  let lastId = Number.isSafeInteger(lastNodeId) && lastNodeId < MAX_ID ? lastNodeId : 0;
  return definitions.map((definition) => {
    const renumbered = new Map<string, string>();
    const nodes = definition.nodes.map((node) => {
      const { id } = node.raw;
      if (typeof id !== "number") return node;
      if (!usedIds.has(id)) {
        usedIds.add(id);
        if (Number.isSafeInteger(id) && id < MAX_ID) lastId = Math.max(lastId, id);
        return node;
      }
      do lastId += 1;
      while (usedIds.has(lastId));
      usedIds.add(lastId);
      renumbered.set(node.id, String(lastId));
      return { ...node, id: String(lastId) };
    });
    if (renumbered.size === 0) return definition;
    const getNewId = (id: string) => renumbered.get(id) ?? id;
    const links = [...definition.links].map(
      ([id, link]) => [id, { ...link, origin: getNewId(link.origin), target: getNewId(link.target) }] as const,
    );
    return { ...definition, nodes, links: new Map(links), renumbered };
  });
}

function toTypeText(type: unknown): string {
  if (Array.isArray(type)) return "COMBO";
  return type === undefined || type === null || type === "" || type === 0 ? "*" : String(type);
}

export function toIdText(id: unknown): string | undefined {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  return typeof id === "string" && id !== "" ? id : undefined;
}

function getText(value: unknown, name: string): string {
  const text = asObject(value)?.[name];
  return typeof text === "string" ? text : "";
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The editor saves some lists as JSON strings. */
export function parseEntries(property: unknown): readonly unknown[] {
  return asArray(typeof property === "string" ? parseJson(property) : property);
}
