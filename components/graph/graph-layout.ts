import { linksOf } from "@/lib/contract/graph";
import { type Graph } from "@/lib/contract/schemas/graph";

/** In units of the drawing; a unit is a pixel at 1:1. */
export const nodeSize = { width: 168, height: 46 } as const;
/** From one layer to the next, and from node to node within one; a layer that holds more is folded into several: five thousand loose nodes would be a thread. */
const pitches = {
  flat: { layer: nodeSize.width + 64, node: nodeSize.height + 26, extent: nodeSize.width, breadth: nodeSize.height, most: 72 },
  upright: { layer: nodeSize.height + 46, node: nodeSize.width + 26, extent: nodeSize.height, breadth: nodeSize.width, most: 12 },
} as const;
type Pitch = (typeof pitches)[keyof typeof pitches];
const SWEEPS = 6;

export type PlacedNode = { id: string; x: number; y: number };
/** `source` puts out what `input` of `target` takes. Links to nothing are no edges: they stand in the node's inputs. */
export type GraphEdge = { source: string; target: string; input: string };
export type GraphLayout = {
  nodes: ReadonlyMap<string, PlacedNode>;
  edges: readonly GraphEdge[];
  width: number;
  height: number;
  isUpright: boolean;
};

type Ends = { sources: number[][]; targets: number[][] };

/**
 * Nodes in columns, each to the right of what it takes from; upright they are rows, each below what it takes from, for a frame that is
 * narrow and high. The same graph is always drawn the same.
 * Pure, no recursion, no two nodes overlap. Of a loop, the link that closes it runs backwards.
 */
export function layoutGraph(graph: Graph, isUpright = false): GraphLayout {
  const pitch = pitches[isUpright ? "upright" : "flat"];
  const ids = Object.keys(graph);
  const place = new Map(ids.map((id, index) => [id, index]));
  const edges: GraphEdge[] = [];
  const ends: Ends = { sources: ids.map(() => []), targets: ids.map(() => []) };
  for (const [id, node] of Object.entries(graph)) {
    for (const { input, source } of linksOf(node)) {
      const [from, to] = [place.get(source), place.get(id)];
      if (from === undefined || to === undefined) continue;
      edges.push({ source, target: id, input });
      ends.sources[to]?.push(from);
      ends.targets[from]?.push(to);
    }
  }
  const columns = foldedColumns(layersOf(ends), ends, pitch);
  const places = placesOf({ columns, ends, count: ids.length }, pitch);
  const least = Math.min(0, ...columns.map((column) => places[column[0] ?? 0] ?? 0));
  const nodes = new Map<string, PlacedNode>();
  columns.forEach((column, index) => {
    for (const node of column) {
      const id = ids[node] ?? "";
      const [along, across] = [index * pitch.layer, (places[node] ?? 0) - least];
      nodes.set(id, isUpright ? { id, x: across, y: along } : { id, x: along, y: across });
    }
  });
  const breadth = columns.reduce((most, column) => Math.max(most, (places[column.at(-1) ?? 0] ?? 0) - least + pitch.breadth), 0);
  const length = columns.length === 0 ? 0 : (columns.length - 1) * pitch.layer + pitch.extent;
  return { nodes, edges, isUpright, ...(isUpright ? { width: breadth, height: length } : { width: length, height: breadth }) };
}

/** How far each node is from the beginning, along the longest way; what closes a loop counts for nothing. */
function layersOf({ sources, targets }: Ends): number[] {
  const waits = sources.map((list) => list.length);
  const layer = sources.map(() => 0);
  const isPlaced = sources.map(() => false);
  let ready = waits.flatMap((count, node) => (count === 0 ? [node] : []));
  let next = 0;
  for (;;) {
    for (let at = 0; at < ready.length; at++) {
      const node = ready[at] ?? 0;
      isPlaced[node] = true;
      for (const target of targets[node] ?? []) {
        if (isPlaced[target]) continue;
        layer[target] = Math.max(layer[target] ?? 0, (layer[node] ?? 0) + 1);
        waits[target] = (waits[target] ?? 0) - 1;
        if (waits[target] === 0) ready.push(target);
      }
    }
    // Only loops are left: the first of them in the graph's own order is taken as if nothing led to it.
    while (next < isPlaced.length && isPlaced[next]) next++;
    if (next >= isPlaced.length) return layer;
    ready = [next];
    waits[next] = 0;
  }
}

function foldedColumns(layer: readonly number[], ends: Ends, { most }: Pitch): number[][] {
  const layers: number[][] = [];
  layer.forEach((at, node) => (layers[at] ??= []).push(node));
  for (let at = 0; at < layers.length; at++) layers[at] ??= [];
  sortByNeighbours(layers, ends);
  return layers.flatMap((nodes) => {
    const parts = Math.max(1, Math.ceil(nodes.length / most));
    const size = Math.ceil(nodes.length / parts);
    return Array.from({ length: parts }, (_, part) => nodes.slice(part * size, (part + 1) * size));
  });
}

/** Nodes stand near what they are linked with: each layer in the order of its neighbours' middle, to and fro. */
function sortByNeighbours(layers: number[][], { sources, targets }: Ends): void {
  const rank: number[] = [];
  const note = (nodes: readonly number[]) => nodes.forEach((node, index) => (rank[node] = index - nodes.length / 2));
  layers.forEach(note);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const neighbours = sweep % 2 === 0 ? sources : targets;
    const order = sweep % 2 === 0 ? layers : layers.toReversed();
    for (const nodes of order) {
      const middle = new Map(nodes.map((node) => [node, meanOf(neighbours[node] ?? [], rank) ?? rank[node] ?? 0]));
      nodes.sort((one, other) => (middle.get(one) ?? 0) - (middle.get(other) ?? 0) || (rank[one] ?? 0) - (rank[other] ?? 0));
      note(nodes);
    }
  }
}

type Ordered = { columns: readonly number[][]; ends: Ends; count: number };

/** Places across that pull nodes towards their neighbours' middle without changing an order or letting two overlap. */
function placesOf({ columns, ends: { sources, targets }, count }: Ordered, { node: step }: Pitch): number[] {
  const ys: number[] = Array.from({ length: count }, () => 0);
  for (const column of columns) column.forEach((node, index) => (ys[node] = (index - (column.length - 1) / 2) * step));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const neighbours = sweep % 2 === 0 ? sources : targets;
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) {
      const wanted = column.map((node) => meanOf(neighbours[node] ?? [], ys) ?? ys[node] ?? 0);
      spread(wanted, step).forEach((y, index) => (ys[column[index] ?? 0] = y));
    }
  }
  return ys;
}

/** The nearest places to the wanted ones that rise by at least `step`: neighbours that would collide share their middle. */
function spread(wanted: readonly number[], step: number): number[] {
  const blocks: { sum: number; size: number }[] = [];
  wanted.forEach((y, index) => {
    let block = { sum: y - index * step, size: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.size >= block.sum / block.size; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, size: last.size + block.size };
      blocks.pop();
    }
    blocks.push(block);
  });
  return blocks.flatMap(({ sum, size }) => Array.from({ length: size }, () => sum / size)).map((base, index) => base + index * step);
}

function meanOf(nodes: readonly number[], of: readonly number[]): number | undefined {
  return nodes.length === 0 ? undefined : nodes.reduce((sum, node) => sum + (of[node] ?? 0), 0) / nodes.length;
}
