import { objectOf, textOf } from "../json/json";
import { own } from "../json/own";
import { isGrowing } from "../nodes/dynamic-inputs";
import { settingsOf, typeOf } from "../nodes/input-spec";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { type Definition, type EditorNode, type Net, memoize, type Slot, createSlotFinder } from "./file";
import { classPlaces, type Widget, widgetsOf } from "./values";

export type Scope = { path: string; net: Net; use?: Use };
export type NodeLocation = { scope: Scope; node: EditorNode };
export type Use = NodeLocation & { definition: Definition };

/** One conversion of a file. Results are cached, since a file may lead to one node in very many ways. */
export type LinkContext = {
  info: ObjectInfo;
  inside: (location: NodeLocation) => { scope: Scope; definition: Definition; use: EditorNode } | undefined;
  primitiveValue: (node: EditorNode) => unknown;
};

export function idIn({ path }: Scope, { id }: EditorNode): string {
  return path + id;
}

const slotsFound = memoize<LinkContext, Map<string, readonly Slot[]>>(() => new Map());
const widgetsFound = memoize<LinkContext, Map<EditorNode, readonly Widget[]>>(() => new Map());

export function slotsOf(location: NodeLocation, following: LinkContext): readonly Slot[] {
  const cache = slotsFound(following);
  const id = idIn(location.scope, location.node);
  const slots = cache.get(id) ?? findSlots(location, following);
  cache.set(id, slots);
  return slots;
}

function findSlots(location: NodeLocation, following: LinkContext): readonly Slot[] {
  const { node } = location;
  const within = following.inside(location);
  if (within) return slotsOfUse(within.use, within.definition);
  const nodeInfo = own(following.info, node.type);
  return nodeInfo ? slotsOfClass(node, nodeInfo, following) : node.inputs;
}

function slotsOfUse(use: EditorNode, { inputs }: Definition): readonly Slot[] {
  const inFile = createSlotFinder(use.inputs);
  const seen = new Map<string, number>();
  return inputs.map(({ name, type }) => {
    const at = seen.get(name) ?? 0;
    seen.set(name, at + 1);
    return { name, type, hasWidget: false, ...linkOf(inFile(name, at)) };
  });
}

function slotsOfClass(node: EditorNode, nodeInfo: NodeInfo, following: LinkContext): readonly Slot[] {
  const inFile = createSlotFinder(node.inputs);
  const ofClass = classPlaces(nodeInfo, widgetsIn(node, nodeInfo, following)).flatMap(({ name, raw, hasWidget }): Slot[] => {
    if (isGrowing(raw)) return node.inputs.filter((slot) => slot.name.startsWith(`${name}.`));
    const isNeverLinked = hasWidget && settingsOf(raw).socketless !== undefined;
    if (isNeverLinked) return [];
    const slot = inFile(name);
    const type = typeOf(raw) === "COMFY_MATCHTYPE_V3" ? matchedType(slot, raw) : typeOf(raw);
    return [{ name, type, hasWidget, ...linkOf(slot) }];
  });
  const names = new Set(ofClass.map(({ name }) => name));
  return [...ofClass, ...node.inputs.filter(({ name, widget = name }) => !names.has(name) && !names.has(widget))];
}

export function widgetsIn(node: EditorNode, nodeInfo: NodeInfo, following: LinkContext): readonly Widget[] {
  const cache = widgetsFound(following);
  const widgets = cache.get(node) ?? widgetsOf(node, nodeInfo);
  cache.set(node, widgets);
  return widgets;
}

/** The saved type is more specific than the class's, unless it is "*". */
function matchedType(slot: Slot | undefined, raw: unknown): string {
  if (slot && slot.type !== "*") return slot.type;
  return textOf(objectOf(settingsOf(raw).template)?.allowed_types) ?? "*";
}

function linkOf(slot: Slot | undefined): { link?: string } {
  return slot?.link === undefined ? {} : { link: slot.link };
}
