// Reads an editor file (schema 0.4 and 1) as the editor does (docs/decisions/0045-convert-editor-files.md).

import { isObject, type JsonObject, numberOf, objectOf } from "../json/json";
import { own } from "../json/own";
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
  /** For a node inside a group node: the outer node holds the values that have a place here. */
  outside?: { raw: JsonObject; places: ReadonlyMap<number, number> };
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

/** The editor's ids for the ends of a subgraph: links inside begin at one and end at the other. */
export const INSIDE_START = "-10";
export const INSIDE_END = "-20";

export function isEditorFile(value: unknown): value is JsonObject & { nodes: unknown[] } {
  return isObject(value) && Array.isArray(value.nodes);
}

/** `info`: without it, old class names are always read as the new ones. */
export function readEditorFile(file: JsonObject & { nodes: unknown[] }, info: ObjectInfo = {}): EditorFile {
  const extra = objectOf(file.extra);
  const net = readNet(file, info);
  const definitions = definitionsIn(file).map((item) => ({ id: idText(item.id) ?? "", ...readNet(item, info), ...readPorts(item) }));
  return {
    ...net,
    definitions: new Map(uniqueIds(file, net, definitions).map(({ id, ...definition }) => [id, definition])),
    groupNodes: objectOf(extra?.groupNodes) ?? {},
    linksByRule: listOf(extra?.ue_links).length > 0,
  };
}

export function once<Of extends object, Made>(make: (of: Of) => Made): (of: Of) => Made {
  const cache = new WeakMap<Of, { value: Made }>();
  return (of) => {
    const entry = cache.get(of) ?? { value: make(of) };
    cache.set(of, entry);
    return entry.value;
  };
}

/** If two nodes share an id, the last one wins. */
export const nodesById = once(({ nodes }: Net): ReadonlyMap<string, EditorNode> => new Map(nodes.map((node) => [node.id, node])));

export function netAt(file: EditorFile, inside: readonly string[]): Net | undefined {
  let net: Net | undefined = file;
  for (const id of inside) net = net && file.definitions.get(nodesById(net).get(id)?.type ?? "");
  return net;
}

const newNames = new Map([
  ["T2IAdapterLoader", "ControlNetLoader"],
  ["ConditioningAverage ", "ConditioningAverage"],
  ["SDV_img2vid_Conditioning", "SVD_img2vid_Conditioning"],
  ["Load3DAnimation", "Load3D"],
  ["Preview3DAnimation", "Preview3D"],
]);

export function readNode(value: unknown, info: ObjectInfo): EditorNode[] {
  const node = objectOf(value);
  const id = idText(node?.id);
  if (!node || id === undefined || typeof node.type !== "string") return [];
  return [
    {
      id,
      type: own(info, node.type) ? node.type : (newNames.get(node.type) ?? node.type),
      mode: numberOf(node.mode) ?? 0,
      ...(typeof node.title === "string" && node.title !== "" && { title: node.title }),
      inputs: listOf(node.inputs).flatMap(readSlot),
      outputs: listOf(node.outputs).map((output) => ({ name: textIn(output, "name"), type: typeText(objectOf(output)?.type) })),
      values: objectOf(node.widgets_values) ?? listOf(node.widgets_values),
      properties: objectOf(node.properties) ?? {},
      raw: node,
    },
  ];
}

function readNet(net: JsonObject, info: ObjectInfo): Net {
  return {
    nodes: listOf(net.nodes).flatMap((node) => readNode(node, info)),
    links: new Map(listOf(net.links).flatMap(readLink)),
    raw: net,
  };
}

function readSlot(value: unknown): Slot[] {
  const slot = objectOf(value);
  if (!slot) return [];
  const widget = objectOf(slot.widget);
  const link = idText(slot.link);
  const ownName = textIn(slot, "name");
  const ofWidget = textIn(widget, "name");
  const names = { name: ownName === "" ? ofWidget : ownName, ...(ofWidget !== "" && { widget: ofWidget }) };
  return [{ ...names, type: typeText(slot.type), hasWidget: widget !== undefined, ...(link !== undefined && { link }) }];
}

/** Finds a slot by its name, else by its widget's, since a name may be a label. Of several the one at the same place, else the last. */
export function slotFinder(slots: readonly Slot[]): (name: string, at?: number) => Slot | undefined {
  const slotsByName = new Map<string, Slot[]>();
  const ofWidgets = new Map<string, Slot>();
  for (const slot of slots) {
    const { name, widget } = slot;
    const others = slotsByName.get(name);
    if (others) others.push(slot);
    else slotsByName.set(name, [slot]);
    if (widget !== undefined && !ofWidgets.has(widget)) ofWidgets.set(widget, slot);
  }
  return (name, at) =>
    slotsByName.get(name)?.[at ?? Infinity] ?? slotsByName.get(name)?.at(at === undefined ? -1 : 0) ?? ofWidgets.get(name);
}

function readLink(value: unknown): [string, EditorLink][] {
  const object = objectOf(value);
  const [id, origin, originSlot, target, targetSlot] = object
    ? [object.id, object.origin_id, object.origin_slot, object.target_id, object.target_slot]
    : listOf(value);
  const [link, from, to] = [idText(id), idText(origin), idText(target)];
  if (link === undefined || from === undefined) return [];
  return [[link, { origin: from, originSlot: slotIn(originSlot), target: to ?? "", targetSlot: slotIn(targetSlot) }]];
}

/** Some programs write numbers as texts; the editor reads both. */
function slotIn(value: unknown): number {
  return numberOf(value) ?? (typeof value === "string" && /^\d{1,9}$/.test(value) ? Number(value) : 0);
}

function readPorts(definition: JsonObject): Pick<Definition, "name" | "inputs" | "outputs"> {
  const ports = (list: unknown) =>
    listOf(list).map((port) => ({
      name: textIn(port, "name"),
      ...(textIn(port, "label") !== "" && { label: textIn(port, "label") }),
      type: typeText(objectOf(port)?.type),
      links: listOf(objectOf(port)?.linkIds).flatMap((id) => idText(id) ?? []),
    }));
  return { name: textIn(definition, "name"), inputs: ports(definition.inputs), outputs: ports(definition.outputs) };
}

function definitionsIn(file: JsonObject, depth = 0): JsonObject[] {
  const listed = listOf(objectOf(file.definitions)?.subgraphs).filter(isObject);
  return depth > 5 ? listed : listed.flatMap((item) => [item, ...definitionsIn(item, depth + 1)]);
}

const MAX_ID = 100_000_000;

/** An inner id that also occurs outside, or in an earlier definition, gets the next free number, as in the editor. */
function uniqueIds<T extends Definition>(file: JsonObject, root: Net, definitions: readonly T[]): T[] {
  const used = new Set(root.nodes.flatMap(({ raw }) => numberOf(raw.id) ?? []));
  const lastNodeId = numberOf(file.last_node_id) ?? numberOf(objectOf(file.state)?.lastNodeId) ?? 0;
  let last = Number.isSafeInteger(lastNodeId) && lastNodeId < MAX_ID ? lastNodeId : 0;
  return definitions.map((definition) => {
    const renumbered = new Map<string, string>();
    const nodes = definition.nodes.map((node) => {
      const { id } = node.raw;
      if (typeof id !== "number") return node;
      if (!used.has(id)) {
        used.add(id);
        if (Number.isSafeInteger(id) && id < MAX_ID) last = Math.max(last, id);
        return node;
      }
      do last += 1;
      while (used.has(last));
      used.add(last);
      renumbered.set(node.id, String(last));
      return { ...node, id: String(last) };
    });
    if (renumbered.size === 0) return definition;
    const newIdOf = (id: string) => renumbered.get(id) ?? id;
    const links = [...definition.links].map(
      ([id, link]) => [id, { ...link, origin: newIdOf(link.origin), target: newIdOf(link.target) }] as const,
    );
    return { ...definition, nodes, links: new Map(links), renumbered };
  });
}

function typeText(type: unknown): string {
  if (Array.isArray(type)) return "COMBO";
  return type === undefined || type === null || type === "" || type === 0 ? "*" : String(type);
}

export function idText(id: unknown): string | undefined {
  if (typeof id === "number" || typeof id === "bigint") return String(id);
  return typeof id === "string" && id !== "" ? id : undefined;
}

function textIn(value: unknown, name: string): string {
  const text = objectOf(value)?.[name];
  return typeof text === "string" ? text : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The editor saves some lists as JSON strings. */
export function entriesOf(property: unknown): readonly unknown[] {
  return listOf(typeof property === "string" ? parseJson(property) : property);
}
