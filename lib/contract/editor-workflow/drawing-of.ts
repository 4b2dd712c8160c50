// Whether a drawing of the editor is of a graph. What brings both, a picture say, may bring a drawing that was changed since, or of something else.
// Guarantees: pure, without the service's list of nodes. Links over reroutes, bypassed nodes and edges of subgraphs are taken on trust.

import { isLink } from "../graph";
import { own } from "../json/own";
import { type Graph } from "../schemas/graph";
import { type EditorFile, type EditorNode, isEditorFile, type Net, netAt, readEditorFile, slotFinder } from "./file";
import { isNeverSent, isRunning, once } from "./follow";
import { isGroupNode } from "./group-nodes";
import { keptInputs } from "./kept-inputs";

/** It may have more nodes than the graph: a part of it may have been run, and nodes of some packs only say how others are linked. */
export function readDrawingOf(drawing: unknown, graph: Graph): EditorFile | undefined {
  if (!isEditorFile(drawing)) return undefined;
  const file = readEditorFile(drawing);
  const hasMore = file.linksByRule || file.nodes.some((node) => isPlain(file, node) && !own(graph, node.id));
  return Object.keys(graph).every((id) => isDrawn({ file, graph, hasMore }, id)) ? file : undefined;
}

/** A node that a run would send under its own id. */
export function isPlain(file: EditorFile, node: EditorNode): boolean {
  return isRunning(node) && !isNeverSent(node) && !file.definitions.has(node.type) && !isGroupNode(node);
}

const byId = once((net: Net) => new Map(net.nodes.map((node) => [node.id, node])));

type Both = { file: EditorFile; graph: Graph; hasMore: boolean };

function isDrawn({ file, graph, hasMore }: Both, id: string): boolean {
  const inside = byId(file).has(id) ? [] : id.split(":").slice(0, -1);
  const prefix = inside.map((use) => `${use}:`).join("");
  const net = netAt(file, inside);
  const box = net && byId(net).get(id.slice(prefix.length));
  // What is in a group node has no box of its own.
  if (!net || !box) return inside.some((use, at) => isGroupUse(netAt(file, inside.slice(0, at)), use));
  const node = own(graph, id);
  if (!node || (node.class_type !== box.type && node.class_type !== box.raw.type)) return false;
  const slotOf = slotFinder(box.inputs);
  const kept = keptInputs(box);
  const linked = Object.keys(node.inputs).filter((name) => isLink(node.inputs[name]));
  return [...new Set([...linked, ...box.inputs.map(({ name }) => name)])].every((name) => {
    const slot = slotOf(name);
    const link = net.links.get(slot?.link ?? "");
    const given = own(node.inputs, name) ?? own(node.inputs, slot?.widget ?? name);
    if (!link) return hasMore || !isLink(given) || own(kept, name) !== undefined;
    const origin = byId(net).get(link.origin);
    if (!origin || !isPlain(file, origin) || !own(graph, prefix + origin.id)) return true;
    return isLink(given) && given[0] === prefix + origin.id && given[1] === link.originSlot;
  });
}

function isGroupUse(net: Net | undefined, use: string): boolean {
  const node = net && byId(net).get(use);
  return node !== undefined && isGroupNode(node);
}
