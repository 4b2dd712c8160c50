// Writes a graph of the API format as a file of the graph editor (schema 0.4): each value at its place, each link at both its ends.
// Guarantees: pure; read back it is the same graph, whatever it holds (kept-inputs.ts); names nodes that the editor would take for its own.

import { type JsonObject } from "../json/json";
import { own } from "../json/own";
import { orderedInputs } from "../nodes/dynamic-inputs";
import { settingsOf, typeOf } from "../nodes/input-spec";
import { type Graph, type GraphNode } from "../schemas/graph";
import { type NodeInfo, type ObjectInfo } from "../schemas/object-info";
import { isLink } from "../workflow/graph";
import { readEditorFile } from "./file";
import { convert } from "./index";
import { isSameJson, keeping, type KeptInput } from "./kept-inputs";
import { namedWidgets } from "./values";
import { bare, listOfValues } from "./write-values";

/** `places`: where a drawing has the nodes. Only which node is beside and below which counts, since the editor's nodes are larger. */
type Options = { id: string; places: ReadonlyMap<string, { x: number; y: number }> };
/** `lost`: nodes that the file cannot express: no id, or a class name that the editor uses for something of its own. */
type NewFile = { file: JsonObject; lost: string[] };

const WIDTH = 300;
const GAP = 80;
const ROW = 24;
const HEAD = 60;
const TEXT_ROWS = 5;

export function toEditorFile(graph: Graph, info: ObjectInfo, { id, places }: Options): NewFile {
  const links: unknown[][] = [];
  const outputs = new Map<string, Map<number, number[]>>();
  const drawn = Object.entries(graph).map(([nodeId, node], order) => {
    const known = own(info, node.class_type);
    const widgets = new Map(namedWidgets(known ?? {}, withoutLinks(node)).map((widget) => [widget.name, widget.raw]));
    const specs = new Map(orderedInputs(known).map(({ name, raw }) => [name, raw]));
    const inputs = inputNames(node, known, widgets).map((name) => {
      const value = node.inputs[name];
      const raw = widgets.get(name) ?? specs.get(name);
      const type = raw === undefined || /^COMFY_(AUTOGROW|MATCHTYPE)_V3$/.test(typeOf(raw)) ? "*" : typeOf(raw);
      const link = isLink(value) && Object.hasOwn(graph, value[0]) ? newLink(value, nodeId, type) : null;
      return { name, type, ...(widgets.has(name) && { widget: { name } }), link };
    });
    function newLink([origin, slot]: readonly [string, number], target: string, type: string): number {
      const linkId = links.length + 1;
      links.push([linkId, idOf(origin), slot, idOf(target), 0, type]);
      const slots = outputs.get(origin) ?? new Map<number, number[]>();
      outputs.set(origin, slots);
      const others = slots.get(slot);
      if (others) others.push(linkId);
      else slots.set(slot, [linkId]);
      return linkId;
    }
    inputs.forEach(({ link }, slot) => {
      const row = link === null ? undefined : links[link - 1];
      if (row) row[4] = slot;
    });
    const title = node._meta?.title;
    const values = known ? listOfValues(known, node.inputs) : withoutLinks(node);
    const texts = [...widgets.values()].filter((raw) => settingsOf(raw).multiline).length;
    const height = HEAD + ROW * (Math.max(inputs.length - widgets.size, known?.output?.length ?? 1) + widgets.size + texts * TEXT_ROWS);
    return {
      nodeId,
      height,
      node: {
        id: idOf(nodeId),
        type: node.class_type,
        pos: [0, 0],
        size: [WIDTH, height],
        flags: {},
        order,
        mode: 0,
        inputs,
        outputs: [] as object[],
        properties: known ? { "Node name for S&R": node.class_type } : {},
        widgets_values: values,
        ...(title && title !== known?.display_name && { title }),
      },
    };
  });
  const positions = spread(drawn, places);
  const nodes = drawn.map(({ nodeId, node }) => ({
    ...node,
    pos: positions.get(nodeId) ?? [0, 0],
    outputs: outputsOf(own(info, node.type), outputs.get(nodeId)),
  }));
  const numbers = nodes.flatMap((node) => (typeof node.id === "number" ? node.id : []));
  const file = {
    id,
    revision: 0,
    last_node_id: numbers.reduce((most, one) => Math.max(most, one), 0),
    last_link_id: links.length,
    nodes,
    links,
    groups: [],
    config: {},
    extra: { ds: { scale: 1, offset: [0, 0] } },
    version: 0.4,
  };
  return withKept(file, graph, info);
}

/** Inputs that would read back differently are kept beside their node. */
function withKept(
  file: JsonObject & { nodes: (JsonObject & { type: string; properties: JsonObject })[] },
  graph: Graph,
  info: ObjectInfo,
): NewFile {
  const { graph: read } = convert(readEditorFile(file, info), info, false);
  const ids = Object.keys(graph);
  const nodes = file.nodes.map((node, at) => {
    const [given, readBack] = [own(graph, ids[at] ?? "")?.inputs ?? {}, own(read, ids[at] ?? "")?.inputs ?? {}];
    const kept = Object.entries(given).flatMap(([name, is]): [string, KeptInput][] =>
      isSameJson(bareOfFile(is), bareOfFile(own(readBack, name))) ? [] : [[name, { is, reads: own(readBack, name) }]],
    );
    const isWhole = kept.length === 0 && own(info, node.type) !== undefined;
    return isWhole ? node : { ...node, properties: { ...node.properties, ...keeping(Object.fromEntries(kept)) } };
  });
  const written = { ...file, nodes };
  const { graph: now } = convert(readEditorFile(written, info), info, false);
  return { file: written, lost: ids.filter((id) => own(now, id)?.class_type !== own(graph, id)?.class_type) };
}

/** Unwraps a list, unless it would then read as a link. */
function bareOfFile(value: unknown): unknown {
  const list = bare(value);
  return isLink(list) ? value : list;
}

function withoutLinks({ inputs }: GraphNode): JsonObject {
  return Object.fromEntries(Object.entries(inputs).filter(([, value]) => !isLink(value)));
}

/** As in the editor's files: sockets in the order of the class, then other linked inputs; a widget has a slot only while it is linked. */
function inputNames({ inputs }: GraphNode, known: NodeInfo | undefined, widgets: ReadonlyMap<string, unknown>): string[] {
  const linked = Object.keys(inputs).filter((name) => isLink(inputs[name]));
  const sockets = orderedInputs(known).flatMap(({ name, raw }) =>
    widgets.has(name) || /^COMFY_(AUTOGROW|DYNAMICCOMBO)_V3$/.test(typeOf(raw)) ? [] : [name],
  );
  return [...new Set([...sockets, ...linked])];
}

function outputsOf(known: NodeInfo | undefined, links: ReadonlyMap<number, number[]> | undefined): object[] {
  const listed = known?.output ?? [];
  const most = Math.min(MOST_OUTPUTS, Math.max(listed.length, ...[...(links?.keys() ?? [])].map((slot) => slot + 1)));
  return Array.from({ length: most }, (_, slot) => {
    const type = Array.isArray(listed[slot]) ? "COMBO" : String(listed[slot] ?? "*");
    const name = Array.isArray(known?.output_name) ? known.output_name[slot] : undefined;
    return { name: name ?? type, type, links: links?.get(slot) ?? null };
  });
}

/** A graph may name any slot number. */
const MOST_OUTPUTS = 1000;

/** A number if the id is written as one: the editor counts on from the largest. */
function idOf(id: string): string | number {
  const number = Number(id);
  return Number.isSafeInteger(number) && String(number) === id && number >= 0 ? number : id;
}

/** Columns and their order as in the drawing, each as wide and high as the editor needs it. */
function spread(nodes: readonly { nodeId: string; height: number }[], places: Options["places"]): Map<string, readonly [number, number]> {
  const columns = new Map<number, { nodeId: string; height: number; y: number }[]>();
  for (const { nodeId, height } of nodes) {
    const { x, y } = places.get(nodeId) ?? { x: 0, y: 0 };
    const column = columns.get(x);
    if (column) column.push({ nodeId, height, y });
    else columns.set(x, [{ nodeId, height, y }]);
  }
  const positions = new Map<string, readonly [number, number]>();
  [...columns.keys()]
    .sort((one, other) => one - other)
    .forEach((x, index) => {
      let y = 0;
      for (const node of (columns.get(x) ?? []).sort((one, other) => one.y - other.y)) {
        positions.set(node.nodeId, [index * (WIDTH + GAP), y]);
        y += node.height + GAP;
      }
    });
  return positions;
}
