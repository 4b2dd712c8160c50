// Reads a group node of older files as a subgraph: `extra.groupNodes[NAME]` with the values of the node that uses it.

import { asNumber, asObject, getOwn, type JsonObject } from "../json/json";
import { getInputType } from "../nodes/input-spec";
import { type ObjectInfo } from "../schemas/object-info";
import {
  asArray,
  type Definition,
  type EditorLink,
  type EditorNode,
  INSIDE_END,
  INSIDE_START,
  memoize,
  type Port,
  readNode,
  type Slot,
  toIdText,
} from "./file";
import { isNote, isReroute } from "./node-kinds";
import { orderClassInputs, readWidgets, toListedValues } from "./values";

const GROUP_PREFIX = /^workflow[>/]/;

export function isGroupNode({ type }: EditorNode): boolean {
  return GROUP_PREFIX.test(type);
}

export function expandGroupNode(
  instance: EditorNode,
  groupNodes: JsonObject,
  info: ObjectInfo,
): { instance: EditorNode; definition: Definition } | undefined {
  const group = asObject(getOwn(groupNodes, instance.type.replace(GROUP_PREFIX, "")));
  if (!group) return undefined;
  const innerNodes = asArray(group.nodes).flatMap((node, index) => readNode({ ...asObject(node), id: index }, info));
  const nodesById = new Map(innerNodes.map((node) => [node.id, node]));
  const links = new Map<string, EditorLink>();
  const linksByInput = new Map<string, string>();
  for (const [index, link] of asArray(group.links).entries()) {
    const [origin, originSlot, target, targetSlot] = asArray(link);
    const [originId, targetId] = [toIdText(origin), toIdText(target)];
    const slot = asNumber(targetSlot) ?? 0;
    const name = nodesById.get(targetId ?? "")?.inputs[slot]?.name;
    if (originId === undefined || targetId === undefined) continue;
    links.set(String(index), { origin: originId, originSlot: asNumber(originSlot) ?? 0, target: targetId, targetSlot: slot });
    linksByInput.set(`${targetId} ${name ?? slot}`, String(index));
  }
  const isLinked = (node: EditorNode, name: string) => linksByInput.has(`${node.id} ${name}`);
  const widgetInputs = new Set(
    innerNodes.flatMap(({ id, inputs }) => inputs.flatMap(({ name, widget }) => (widget === name ? `${id} ${name}` : []))),
  );
  const isConvertedWidget = (node: EditorNode, name: string) => widgetInputs.has(`${node.id} ${name}`);
  const inputs: Port[] = [];
  const outerInputLinks = new Map<string, string>();
  const getOuterName = createOuterNamer(group);
  const externalInputs = new Set(instance.inputs.flatMap(({ name, link }) => (link === undefined ? [] : name)));
  const linksByOrigin = new Map([...links.values()].map((link) => [link.origin, link] as const).reverse());
  const nodeSlots = innerNodes.map((node) => ({
    node,
    slots: isReroute(node) ? createRerouteSlot(node, nodesById, linksByOrigin.get(node.id)) : getSlots(node, info),
  }));
  // Widgets that were converted to inputs come after all others.
  for (const isConverted of [false, true]) {
    for (const { node, slots } of nodeSlots) {
      for (const { name, type, hasWidget } of slots) {
        if (isLinked(node, name) || (hasWidget && isConvertedWidget(node, name)) !== isConverted) continue;
        const outerSlot = getOuterName(node, isReroute(node) ? type : name);
        // A widget is an input only if the outer node converted it.
        if (hasWidget ? !externalInputs.has(outerSlot.name) : outerSlot.isHidden) continue;
        const id = `in ${inputs.length}`;
        links.set(id, { origin: INSIDE_START, originSlot: inputs.length, target: node.id, targetSlot: 0 });
        inputs.push({ name: outerSlot.name, type, links: [id] });
        outerInputLinks.set(`${node.id} ${name}`, id);
      }
    }
  }
  const nodesWithValues = distributeValues(instance, innerNodes, info, (node, name) =>
    isConvertedWidget(node, name) ? (isLinked(node, name) ? "inside" : "last") : "first",
  );
  const nodes = nodesWithValues.map((node, index) => ({
    ...node,
    inputs: (nodeSlots[index]?.slots ?? []).flatMap((slot): Slot[] => {
      const key = `${node.id} ${slot.name}`;
      const link = linksByInput.get(key) ?? outerInputLinks.get(key);
      return link === undefined ? [] : [{ ...slot, link }];
    }),
  }));
  const outputs = createOutputs(nodes, info, group, links);
  return { instance: { ...instance, values: [] }, definition: { name: instance.type, nodes, links, inputs, outputs, raw: group } };
}

function getSlots(node: EditorNode, info: ObjectInfo): Slot[] {
  const nodeInfo = getOwn(info, node.type);
  if (!nodeInfo) return [...node.inputs];
  const classInputs = orderClassInputs(nodeInfo, readWidgets(node, nodeInfo));
  return [true, false].flatMap((isWidget) =>
    classInputs.flatMap(({ name, raw, hasWidget }): Slot[] =>
      hasWidget === isWidget ? [{ name, type: getInputType(raw), hasWidget }] : [],
    ),
  );
}

/** A reroute's input has no name. The outer node names it after the type of the connected input. */
function createRerouteSlot(node: EditorNode, nodesById: ReadonlyMap<string, EditorNode>, nextLink: EditorLink | undefined): Slot[] {
  const type = nodesById.get(nextLink?.target ?? "")?.inputs[nextLink?.targetSlot ?? 0]?.type ?? node.outputs[0]?.type ?? "*";
  return [{ name: node.inputs[0]?.name ?? "", type, hasWidget: false }];
}

function getSlotConfig(group: JsonObject, node: EditorNode, side: "input" | "output", name: string): JsonObject | undefined {
  return asObject(getOwn(asObject(asObject(getOwn(asObject(group.config) ?? {}, node.id))?.[side]) ?? {}, name));
}

const getLabels = memoize(({ raw }: EditorNode): ReadonlyMap<unknown, unknown> => {
  const inputs = asArray(raw.inputs).map(asObject);
  return new Map(inputs.map((slot) => [slot?.name, slot?.label] as const).reverse());
});

/** Returns the custom name, or the inner one. If the name is already used, the node's title is added in front. */
function createOuterNamer(group: JsonObject): (node: EditorNode, name: string) => { name: string; isHidden: boolean } {
  const nameCounts = new Map<string, number>();
  return (node, innerName) => {
    const slotConfig = getSlotConfig(group, node, "input", innerName);
    const customName = [slotConfig?.name, getLabels(node).get(innerName)].find((item) => typeof item === "string");
    const name = typeof customName === "string" ? customName : innerName;
    const prefix = nameCounts.has(name) ? `${node.title ?? node.type} ` : "";
    const key = prefix === "" ? name : prefix + innerName;
    const count = nameCounts.get(key);
    nameCounts.set(key, (count ?? 1) + 1);
    return { name: prefix !== "" && count !== undefined ? `${prefix}${count} ${innerName}` : key, isHidden: slotConfig?.visible === false };
  };
}

type ValueOrder = "first" | "last" | "inside";

/** The outer node lists the values of all inner nodes, with converted widgets last. Notes and linked inputs keep their own values. */
function distributeValues(
  instance: EditorNode,
  nodes: readonly EditorNode[],
  info: ObjectInfo,
  getOrder: (node: EditorNode, name: string) => ValueOrder,
) {
  const widgetValues = asArray(instance.values);
  const expandedNodes = nodes.map((node) => {
    const values = [...asArray(node.values)];
    return { node, values, outerIndexes: new Map<number, number>(), orders: getOrders({ ...node, values }, info, getOrder) };
  });
  let nextIndex = 0;
  for (const order of ["first", "last"]) {
    for (const { values, outerIndexes, orders } of expandedNodes) {
      for (const [index, valueOrder] of orders.entries()) {
        if (valueOrder !== order) continue;
        if (nextIndex < widgetValues.length) {
          values[index] = widgetValues[nextIndex];
          outerIndexes.set(index, nextIndex);
        }
        nextIndex += 1;
      }
    }
  }
  return expandedNodes.map(({ node, values, outerIndexes }): EditorNode =>
    outerIndexes.size === 0 ? node : { ...node, values, outerNode: { raw: instance.raw, outerIndexes } },
  );
}

/** The order of each value of a node. A value without an input has the order of the preceding widget. */
function getOrders(node: EditorNode, info: ObjectInfo, getOrder: (node: EditorNode, name: string) => ValueOrder): ValueOrder[] {
  const values = asArray(node.values);
  const nodeInfo = getOwn(info, node.type);
  if (!nodeInfo) return values.map(() => (isNote(node) ? "inside" : "first"));
  const widgets = readWidgets(node, nodeInfo);
  const lastWidget = widgets.at(-1);
  const count = values.length || (lastWidget ? Number(lastWidget.key) + toListedValues(lastWidget).length : 0);
  const orders = Array.from({ length: count }, (): ValueOrder => "first");
  for (const [index, widget] of widgets.entries()) {
    const start = Number(widget.key);
    const end = Math.min(start + toListedValues(widget).length, Number(widgets[index + 1]?.key ?? count));
    orders.fill(getOrder(node, widget.name), start, end);
  }
  return orders;
}

function createOutputs(nodes: readonly EditorNode[], info: ObjectInfo, group: JsonObject, links: Map<string, EditorLink>): Port[] {
  const linkedOutputs = new Set([...links.values()].map(({ origin, originSlot }) => `${origin} ${originSlot}`));
  const externalOutputs = new Set(asArray(group.external).map((entry) => asArray(entry).slice(0, 2).join(" ")));
  const ports: Port[] = [];
  for (const node of nodes) {
    const types = getOwn(info, node.type)?.output ?? node.outputs.map(({ type }) => type);
    for (const [slot, type] of types.entries()) {
      const slotKey = `${node.id} ${slot}`;
      const isVisible = getSlotConfig(group, node, "output", String(slot))?.visible;
      if (typeof isVisible === "boolean" ? !isVisible : linkedOutputs.has(slotKey) && !externalOutputs.has(slotKey)) continue;
      const id = `out ${ports.length}`;
      links.set(id, { origin: node.id, originSlot: slot, target: INSIDE_END, targetSlot: ports.length });
      ports.push({ name: id, type: String(type), links: [id] });
    }
  }
  return ports;
}
