// A group node, as older files have it, as a subgraph of its own: `extra.groupNodes[NAME]` with what its use holds.
// Guarantees: never throws; inner ids are the places of the inner nodes. Pure.

import { type JsonObject, numberOf, objectOf } from "../json/json";
import { type ObjectInfo } from "../schemas/object-info";
import { own } from "../json/own";
import { typeOf } from "../nodes/input-spec";
import {
  type Definition,
  type EditorLink,
  type EditorNode,
  idText,
  INSIDE_END,
  INSIDE_START,
  listOf,
  type Port,
  readNode,
  type Slot,
} from "./file";
import { socketsOf, widgetsOf } from "./values";

const BEGINS = /^workflow[>/]/;

export function isGroupNode({ type }: EditorNode): boolean {
  return BEGINS.test(type);
}

/** Undefined where the file does not say what is in it. */
export function expandGroupNode(
  use: EditorNode,
  groupNodes: JsonObject,
  info: ObjectInfo,
): { use: EditorNode; definition: Definition } | undefined {
  const group = objectOf(own(groupNodes, use.type.replace(BEGINS, "")));
  if (!group) return undefined;
  const bare = listOf(group.nodes).flatMap((node, at) => readNode({ ...objectOf(node), id: numberOf(objectOf(node)?.index) ?? at }));
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
  const inputs: Port[] = [];
  const outerName = outerNames();
  const linkedOutside = new Set(use.inputs.flatMap(({ name, link }) => (link === undefined ? [] : name)));
  const nodes = withOwnValues(bare, use, info).map((node) => {
    const slots = placesOf(node, info).flatMap((slot): Slot[] => {
      const link = fed.get(`${node.id} ${slot.name}`);
      if (link !== undefined) return [{ ...slot, link }];
      const name = outerName(node, slot.name);
      // A widget is an input only where a person made it one outside.
      if (slot.hasWidget && !linkedOutside.has(name)) return [];
      const id = `in ${inputs.length}`;
      links.set(id, { origin: INSIDE_START, originSlot: inputs.length, target: node.id, targetSlot: 0 });
      inputs.push({ name, type: slot.type, links: [id] });
      return [{ ...slot, link: id }];
    });
    return { ...node, inputs: slots };
  });
  const outputs = outputsOf(nodes, info, group, links);
  return { use: { ...use, values: [] }, definition: { name: use.type, nodes, links, inputs, outputs, raw: group } };
}

/** In the order in which the editor names them outside: widgets first. */
function placesOf(node: EditorNode, info: ObjectInfo): Slot[] {
  const known = own(info, node.type);
  if (!known) return [...node.inputs];
  const widgets = widgetsOf(node, known);
  const slots = (list: readonly { name: string; raw: unknown }[], hasWidget: boolean) =>
    list.map(({ name, raw }): Slot => ({ name, type: typeOf(raw), hasWidget }));
  return [...slots(widgets, true), ...slots(socketsOf(known, widgets), false)];
}

/** An inner name; where it was there before, with the title of its node before it. */
function outerNames(): (node: EditorNode, name: string) => string {
  const seen = new Map<string, number>();
  return ({ title, type }, name) => {
    const prefix = seen.has(name) ? `${title ?? type} ` : "";
    const key = prefix + name;
    const count = seen.get(key);
    seen.set(key, (count ?? 1) + 1);
    return prefix !== "" && count !== undefined ? `${prefix}${count} ${name}` : key;
  };
}

/** The use holds the values of all inner nodes in their order. */
function withOwnValues(nodes: readonly EditorNode[], use: EditorNode, info: ObjectInfo): EditorNode[] {
  const values = listOf(use.values);
  let at = 0;
  return nodes.map((node) => {
    const known = own(info, node.type);
    const count = known ? listOf(node.values).length || widgetsOf(node, known).length : listOf(node.values).length;
    const firstValue = at;
    const given = values.slice(at, at + count);
    at += count;
    return given.length === count && count > 0 ? { ...node, values: given, raw: use.raw, firstValue } : node;
  });
}

function outputsOf(nodes: readonly EditorNode[], info: ObjectInfo, group: JsonObject, links: Map<string, EditorLink>): Port[] {
  const inside = new Set([...links.values()].map(({ origin, originSlot }) => `${origin} ${originSlot}`));
  const outside = new Set(listOf(group.external).map((entry) => listOf(entry).slice(0, 2).join(" ")));
  const ports: Port[] = [];
  for (const node of nodes) {
    const types = own(info, node.type)?.output ?? node.outputs.map(({ type }) => type);
    for (const [slot, type] of types.entries()) {
      const place = `${node.id} ${slot}`;
      if (inside.has(place) && !outside.has(place)) continue;
      const id = `out ${ports.length}`;
      links.set(id, { origin: node.id, originSlot: slot, target: INSIDE_END, targetSlot: ports.length });
      ports.push({ name: id, type: String(type), links: [id] });
    }
  }
  return ports;
}
