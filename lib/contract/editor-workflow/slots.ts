import { asObject, asText, getOwn } from "../json/json";
import { isGrowing } from "../nodes/dynamic-inputs";
import { getInputType, getSettings } from "../nodes/input-spec";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { createSlotFinder, type Definition, type EditorNode, memoize, type Net, type Slot } from "./file";
import { orderClassInputs, readWidgets, type Widget } from "./values";

export type Scope = { path: string; net: Net; instance?: SubgraphInstance };
export type NodeLocation = { scope: Scope; node: EditorNode };
export type SubgraphInstance = NodeLocation & { definition: Definition };

/** The context of one conversion. Results are cached, because many paths may lead to the same node. */
export type LinkContext = {
  info: ObjectInfo;
  enterNode: (location: NodeLocation) => { scope: Scope; definition: Definition; instance: EditorNode } | undefined;
  readPrimitiveValue: (node: EditorNode) => unknown;
};

export function toGraphId({ path }: Scope, { id }: EditorNode): string {
  return path + id;
}

const getSlotCache = memoize<LinkContext, Map<string, readonly Slot[]>>(() => new Map());
const getWidgetCache = memoize<LinkContext, Map<EditorNode, readonly Widget[]>>(() => new Map());

export function getSlots(location: NodeLocation, context: LinkContext): readonly Slot[] {
  const cache = getSlotCache(context);
  const id = toGraphId(location.scope, location.node);
  const slots = cache.get(id) ?? findSlots(location, context);
  cache.set(id, slots);
  return slots;
}

function findSlots(location: NodeLocation, context: LinkContext): readonly Slot[] {
  const { node } = location;
  const inner = context.enterNode(location);
  if (inner) return getInstanceSlots(inner.instance, inner.definition);
  const nodeInfo = getOwn(context.info, node.type);
  return nodeInfo ? getClassSlots(node, nodeInfo, context) : node.inputs;
}

function getInstanceSlots(instance: EditorNode, { inputs }: Definition): readonly Slot[] {
  const findSlot = createSlotFinder(instance.inputs);
  const nameCounts = new Map<string, number>();
  return inputs.map(({ name, type }) => {
    const index = nameCounts.get(name) ?? 0;
    nameCounts.set(name, index + 1);
    return { name, type, hasWidget: false, ...getLink(findSlot(name, index)) };
  });
}

function getClassSlots(node: EditorNode, nodeInfo: NodeInfo, context: LinkContext): readonly Slot[] {
  const findSlot = createSlotFinder(node.inputs);
  const classSlots = orderClassInputs(nodeInfo, getWidgets(node, nodeInfo, context)).flatMap(({ name, raw, hasWidget }): Slot[] => {
    if (isGrowing(raw)) return node.inputs.filter((slot) => slot.name.startsWith(`${name}.`));
    const isNeverLinked = hasWidget && getSettings(raw).socketless !== undefined;
    if (isNeverLinked) return [];
    const slot = findSlot(name);
    const type = getInputType(raw) === "COMFY_MATCHTYPE_V3" ? getMatchedType(slot, raw) : getInputType(raw);
    return [{ name, type, hasWidget, ...getLink(slot) }];
  });
  const names = new Set(classSlots.map(({ name }) => name));
  return [...classSlots, ...node.inputs.filter(({ name, widget = name }) => !names.has(name) && !names.has(widget))];
}

export function getWidgets(node: EditorNode, nodeInfo: NodeInfo, context: LinkContext): readonly Widget[] {
  const cache = getWidgetCache(context);
  const widgets = cache.get(node) ?? readWidgets(node, nodeInfo);
  cache.set(node, widgets);
  return widgets;
}

/** The saved type is more specific than the class's, unless it is "*". */
function getMatchedType(slot: Slot | undefined, raw: unknown): string {
  if (slot && slot.type !== "*") return slot.type;
  return asText(asObject(getSettings(raw).template)?.allowed_types) ?? "*";
}

function getLink(slot: Slot | undefined): { link?: string } {
  return slot?.link === undefined ? {} : { link: slot.link };
}
