// A group node, as older files have it, as a subgraph of its own: `extra.groupNodes[NAME]` with what its use holds.
// Guarantees: never throws; inner ids are the places of the inner nodes. Pure.

import { type JsonObject, numberOf, objectOf } from "../json/json";
import { type ObjectInfo } from "../schemas/object-info";
import { own } from "../json/own";
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

/** Undefined where the file does not say what is in it. The use's inputs are renamed to those of the definition. */
export function expandGroupNode(
  use: EditorNode,
  groupNodes: JsonObject,
  info: ObjectInfo,
): { use: EditorNode; definition: Definition } | undefined {
  const group = objectOf(own(groupNodes, use.type.replace(BEGINS, "")));
  if (!group) return undefined;
  const bare = listOf(group.nodes).flatMap((node, at) => readNode({ ...objectOf(node), id: numberOf(objectOf(node)?.index) ?? at }));
  const links = new Map<string, EditorLink>();
  const fed = new Map<string, string>();
  for (const [at, link] of listOf(group.links).entries()) {
    const [origin, originSlot, target, targetSlot] = listOf(link);
    const [from, to] = [idText(origin), idText(target)];
    const slot = numberOf(targetSlot) ?? 0;
    const name = bare.find(({ id }) => id === to)?.inputs[slot]?.name;
    if (from === undefined || to === undefined) continue;
    links.set(String(at), { origin: from, originSlot: numberOf(originSlot) ?? 0, target: to, targetSlot: slot });
    fed.set(`${to} ${name ?? slot}`, String(at));
  }
  const inputs: Port[] = [];
  const nodes = withOwnValues(bare, use, info).map((node) => ({
    ...node,
    inputs: slotsOf(node, info).map((slot, at): Slot => {
      const link = fed.get(`${node.id} ${slot.name}`) ?? fed.get(`${node.id} ${at}`);
      if (link !== undefined) return { ...slot, link };
      const id = `in ${inputs.length}`;
      links.set(id, { origin: INSIDE_START, originSlot: inputs.length, target: node.id, targetSlot: at });
      inputs.push({ name: slot.name, type: slot.type, links: [id] });
      return { ...slot, link: id };
    }),
  }));
  const outputs = outputsOf(nodes, info, group, links);
  // Places of the use count: inner names may be there twice.
  const named = inputs.map((port, at) => ({ ...port, name: String(at) }));
  const renamed = use.inputs.filter(({ hasWidget }) => !hasWidget).map((slot, at) => ({ ...slot, name: String(at) }));
  return { use: { ...use, inputs: renamed, values: [] }, definition: { name: use.type, nodes, links, inputs: named, outputs } };
}

/** Sockets first, then the places that a person turned into inputs: what is fed from outside counts through the sockets alone. */
function slotsOf(node: EditorNode, info: ObjectInfo): Slot[] {
  const known = own(info, node.type);
  if (!known) return [...node.inputs];
  const sockets = socketsOf(known, widgetsOf(node, known)).map(({ name, raw }): Slot => {
    const type = Array.isArray(raw) && typeof raw[0] === "string" ? raw[0] : "*";
    return { name, type, hasWidget: false };
  });
  const names = new Set(sockets.map(({ name }) => name));
  return [...sockets, ...node.inputs.filter(({ name, link }) => link !== undefined && !names.has(name))];
}

/** The use holds the values of all inner nodes in their order. */
function withOwnValues(nodes: readonly EditorNode[], use: EditorNode, info: ObjectInfo): EditorNode[] {
  const values = listOf(use.values);
  let at = 0;
  return nodes.map((node) => {
    const known = own(info, node.type);
    const count = known ? listOf(node.values).length || widgetsOf(node, known).length : listOf(node.values).length;
    const given = values.slice(at, at + count);
    at += count;
    return given.length === count && count > 0 ? { ...node, values: given } : node;
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
