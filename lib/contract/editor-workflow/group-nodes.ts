// Reads a group node of older files as a subgraph: `extra.groupNodes[NAME]` with the values of its use.

import { type JsonObject, numberOf, objectOf } from "../json/json";
import { own } from "../json/own";
import { typeOf } from "../nodes/input-spec";
import { type ObjectInfo } from "../schemas/object-info";
import {
  type Definition,
  type EditorLink,
  type EditorNode,
  idText,
  INSIDE_END,
  INSIDE_START,
  listOf,
  once,
  type Port,
  readNode,
  type Slot,
} from "./file";
import { isNote, isReroute } from "./node-kinds";
import { classPlaces, listed, widgetsOf } from "./values";

const BEGINS = /^workflow[>/]/;

export function isGroupNode({ type }: EditorNode): boolean {
  return BEGINS.test(type);
}

export function expandGroupNode(
  use: EditorNode,
  groupNodes: JsonObject,
  info: ObjectInfo,
): { use: EditorNode; definition: Definition } | undefined {
  const group = objectOf(own(groupNodes, use.type.replace(BEGINS, "")));
  if (!group) return undefined;
  const bare = listOf(group.nodes).flatMap((node, at) => readNode({ ...objectOf(node), id: at }, info));
  const byId = new Map(bare.map((node) => [node.id, node]));
  const links = new Map<string, EditorLink>();
  const fed = new Map<string, string>();
  for (const [at, link] of listOf(group.links).entries()) {
    const [origin, originSlot, target, targetSlot] = listOf(link);
    const [from, to] = [idText(origin), idText(target)];
    const slot = numberOf(targetSlot) ?? 0;
    const name = byId.get(to ?? "")?.inputs[slot]?.name;
    if (from === undefined || to === undefined) continue;
    links.set(String(at), { origin: from, originSlot: numberOf(originSlot) ?? 0, target: to, targetSlot: slot });
    fed.set(`${to} ${name ?? slot}`, String(at));
  }
  const isFed = (node: EditorNode, name: string) => fed.has(`${node.id} ${name}`);
  const widgetInputs = new Set(
    bare.flatMap(({ id, inputs }) => inputs.flatMap(({ name, widget }) => (widget === name ? `${id} ${name}` : []))),
  );
  const isMadeInput = (node: EditorNode, name: string) => widgetInputs.has(`${node.id} ${name}`);
  const inputs: Port[] = [];
  const startedInputs = new Map<string, string>();
  const outerName = outerNames(group);
  const externalInputs = new Set(use.inputs.flatMap(({ name, link }) => (link === undefined ? [] : name)));
  const onward = new Map([...links.values()].map((link) => [link.origin, link] as const).reverse());
  const places = bare.map((node) => ({
    node,
    slots: isReroute(node) ? rerouteSlot(node, byId, onward.get(node.id)) : slotsOfNode(node, info),
  }));
  // Widgets that were made inputs inside come after all others.
  for (const isLast of [false, true]) {
    for (const { node, slots } of places) {
      for (const { name, type, hasWidget } of slots) {
        if (isFed(node, name) || (hasWidget && isMadeInput(node, name)) !== isLast) continue;
        const outer = outerName(node, isReroute(node) ? type : name);
        // A widget is an input only if a person made it one outside.
        if (hasWidget ? !externalInputs.has(outer.name) : outer.isHidden) continue;
        const id = `in ${inputs.length}`;
        links.set(id, { origin: INSIDE_START, originSlot: inputs.length, target: node.id, targetSlot: 0 });
        inputs.push({ name: outer.name, type, links: [id] });
        startedInputs.set(`${node.id} ${name}`, id);
      }
    }
  }
  const valued = withValuesOf(use, bare, info, (node, name) =>
    isMadeInput(node, name) ? (isFed(node, name) ? "inside" : "last") : "first",
  );
  const nodes = valued.map((node, at) => ({
    ...node,
    inputs: (places[at]?.slots ?? []).flatMap((slot): Slot[] => {
      const key = `${node.id} ${slot.name}`;
      const link = fed.get(key) ?? startedInputs.get(key);
      return link === undefined ? [] : [{ ...slot, link }];
    }),
  }));
  const outputs = outputsOf(nodes, info, group, links);
  return { use: { ...use, values: [] }, definition: { name: use.type, nodes, links, inputs, outputs, raw: group } };
}

function slotsOfNode(node: EditorNode, info: ObjectInfo): Slot[] {
  const nodeInfo = own(info, node.type);
  if (!nodeInfo) return [...node.inputs];
  const places = classPlaces(nodeInfo, widgetsOf(node, nodeInfo));
  return [true, false].flatMap((isWidget) =>
    places.flatMap(({ name, raw, hasWidget }): Slot[] => (hasWidget === isWidget ? [{ name, type: typeOf(raw), hasWidget }] : [])),
  );
}

/** A reroute's input has no name of its own: outside it is named by the type of the input it leads to. */
function rerouteSlot(node: EditorNode, byId: ReadonlyMap<string, EditorNode>, onward: EditorLink | undefined): Slot[] {
  const type = byId.get(onward?.target ?? "")?.inputs[onward?.targetSlot ?? 0]?.type ?? node.outputs[0]?.type ?? "*";
  return [{ name: node.inputs[0]?.name ?? "", type, hasWidget: false }];
}

function changedOf(group: JsonObject, node: EditorNode, side: "input" | "output", name: string): JsonObject | undefined {
  return objectOf(own(objectOf(objectOf(own(objectOf(group.config) ?? {}, node.id))?.[side]) ?? {}, name));
}

const labelsOf = once(({ raw }: EditorNode): ReadonlyMap<unknown, unknown> => {
  const inputs = listOf(raw.inputs).map(objectOf);
  return new Map(inputs.map((slot) => [slot?.name, slot?.label] as const).reverse());
});

/** The name that a person gave, else the inner one. If that name is taken, the title of the node is put before it. */
function outerNames(group: JsonObject): (node: EditorNode, name: string) => { name: string; isHidden: boolean } {
  const seen = new Map<string, number>();
  return (node, inner) => {
    const changed = changedOf(group, node, "input", inner);
    const customName = [changed?.name, labelsOf(node).get(inner)].find((item) => typeof item === "string");
    const name = typeof customName === "string" ? customName : inner;
    const prefix = seen.has(name) ? `${node.title ?? node.type} ` : "";
    const key = prefix === "" ? name : prefix + inner;
    const count = seen.get(key);
    seen.set(key, (count ?? 1) + 1);
    return { name: prefix !== "" && count !== undefined ? `${prefix}${count} ${inner}` : key, isHidden: changed?.visible === false };
  };
}

type Order = "first" | "last" | "inside";

/** The use lists the values of all inner nodes; widgets made inputs come last. Notes, and inputs linked inside, keep their own. */
function withValuesOf(use: EditorNode, nodes: readonly EditorNode[], info: ObjectInfo, orderOf: (node: EditorNode, name: string) => Order) {
  const widgetValues = listOf(use.values);
  const expandedNodes = nodes.map((node) => {
    const values = [...listOf(node.values)];
    return { node, values, places: new Map<number, number>(), orders: ordersOf({ ...node, values }, info, orderOf) };
  });
  let next = 0;
  for (const order of ["first", "last"]) {
    for (const { values, places, orders } of expandedNodes) {
      for (const [at, one] of orders.entries()) {
        if (one !== order) continue;
        if (next < widgetValues.length) {
          values[at] = widgetValues[next];
          places.set(at, next);
        }
        next += 1;
      }
    }
  }
  return expandedNodes.map(({ node, values, places }): EditorNode =>
    places.size === 0 ? node : { ...node, values, outside: { raw: use.raw, places } },
  );
}

/** The order of each value of a node. A value that belongs to no input has the order of the widget before it. */
function ordersOf(node: EditorNode, info: ObjectInfo, orderOf: (node: EditorNode, name: string) => Order): Order[] {
  const values = listOf(node.values);
  const nodeInfo = own(info, node.type);
  if (!nodeInfo) return values.map(() => (isNote(node) ? "inside" : "first"));
  const widgets = widgetsOf(node, nodeInfo);
  const last = widgets.at(-1);
  const count = values.length || (last ? Number(last.key) + listed(last).length : 0);
  const orders = Array.from({ length: count }, (): Order => "first");
  for (const [at, widget] of widgets.entries()) {
    const from = Number(widget.key);
    const to = Math.min(from + listed(widget).length, Number(widgets[at + 1]?.key ?? count));
    orders.fill(orderOf(node, widget.name), from, to);
  }
  return orders;
}

function outputsOf(nodes: readonly EditorNode[], info: ObjectInfo, group: JsonObject, links: Map<string, EditorLink>): Port[] {
  const inside = new Set([...links.values()].map(({ origin, originSlot }) => `${origin} ${originSlot}`));
  const outside = new Set(listOf(group.external).map((entry) => listOf(entry).slice(0, 2).join(" ")));
  const ports: Port[] = [];
  for (const node of nodes) {
    const types = own(info, node.type)?.output ?? node.outputs.map(({ type }) => type);
    for (const [slot, type] of types.entries()) {
      const slotKey = `${node.id} ${slot}`;
      const isShown = changedOf(group, node, "output", String(slot))?.visible;
      if (typeof isShown === "boolean" ? !isShown : inside.has(slotKey) && !outside.has(slotKey)) continue;
      const id = `out ${ports.length}`;
      links.set(id, { origin: node.id, originSlot: slot, target: INSIDE_END, targetSlot: ports.length });
      ports.push({ name: id, type: String(type), links: [id] });
    }
  }
  return ports;
}
