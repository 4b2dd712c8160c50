import { type Graph } from "@/lib/contract/schemas/graph";
import { getLinks } from "@/lib/contract/workflow/graph";

/** In units of the drawing; a unit is a pixel at 1:1. */
export const nodeSize = { width: 168, height: 46 } as const;
/**
 * Distances between layers, and between nodes of a layer. A layer with more than `maxNodes` nodes is split into several.
 */
const pitches = {
  flat: { layer: nodeSize.width + 64, node: nodeSize.height + 26, extent: nodeSize.width, breadth: nodeSize.height, maxNodes: 72 },
  upright: { layer: nodeSize.height + 46, node: nodeSize.width + 26, extent: nodeSize.height, breadth: nodeSize.width, maxNodes: 12 },
} as const;
/** The width of a lane. */
const LANE_WIDTH = 16;
const SWEEP_COUNT = 6;

export type PlacedNode = { id: string; x: number; y: number; width: number; height: number; look?: NodeLook };
/** The look of a box from the editor's file. `title`: set if the box is not a node of the graph. */
type NodeLook = {
  kind: "node" | "subgraph" | "note" | "reroute";
  title: string;
  /** `leftOut`: enabled, but not in the graph. */
  mode?: "muted" | "bypassed" | "leftOut";
  color?: string;
  text?: string;
  count?: number;
};
export type PlacedGroup = { title: string; x: number; y: number; width: number; height: number; color?: string };
/** The point where a link enters a layer between its nodes. */
type LaneStart = { x: number; y: number };
/** An edge from `source` to the `input` of `target`. `via`: its lanes. Links to missing nodes are not edges. */
export type GraphEdge = {
  source: string;
  target: string;
  input: string;
  via: readonly LaneStart[];
  /** Vertical offsets of its ends on their nodes, if not in the middle. */
  at?: { from: number; to: number };
};
export type GraphLayout = {
  nodes: ReadonlyMap<string, PlacedNode>;
  edges: readonly GraphEdge[];
  groups?: readonly PlacedGroup[];
  width: number;
  height: number;
  isUpright: boolean;
};

/**
 * Places nodes in columns, each to the right of its sources; if upright, in rows, each below them. Links that pass columns have lanes there. The
 * layout is deterministic, and nodes never overlap. In a loop, the closing link runs backwards.
 */
export function layoutGraph(graph: Graph, isUpright = false): GraphLayout {
  const pitch = pitches[isUpright ? "upright" : "flat"];
  const ids = Object.keys(graph);
  const orderIndex = new Map(ids.map((id, index) => [id, index]));
  const links: { from: number; to: number; input: string }[] = [];
  const direct: Ends = { sources: ids.map(() => []), targets: ids.map(() => []) };
  for (const [id, node] of Object.entries(graph)) {
    for (const { input, source } of getLinks(node)) {
      const [from, to] = [orderIndex.get(source), orderIndex.get(id)];
      if (from === undefined || to === undefined) continue;
      links.push({ from, to, input });
      direct.sources[to]?.push(from);
      direct.targets[from]?.push(to);
    }
  }
  const { ends, layer, chainBetween } = withLanes(direct, splitLayers(getLayers(direct), direct, pitch.maxNodes));
  const isNode = (item: number) => item < ids.length;
  const columns = getColumns(layer, ends);
  const positions = getPositions(columns, ends, (item) => (isNode(item) ? pitch.node : LANE_WIDTH));
  const half = (item: number) => (isNode(item) ? pitch.breadth / 2 : 0);
  const least = columns.reduce(
    (least, [first = 0]) => Math.min(least, (positions[first] ?? 0) - half(first)),
    positions.length > 0 ? Infinity : 0,
  );
  const breadth = columns.reduce((maxBreadth, column) => {
    const last = column.at(-1) ?? 0;
    return Math.max(maxBreadth, (positions[last] ?? 0) + half(last) - least);
  }, 0);
  const at = (along: number, across: number) => (isUpright ? { x: across, y: along } : { x: along, y: across });
  const nodes = new Map<string, PlacedNode>();
  columns.forEach((column, index) => {
    for (const item of column) {
      const id = ids[item];
      if (id !== undefined)
        nodes.set(id, { id, ...nodeSize, ...at(index * pitch.layer, (positions[item] ?? 0) - least - pitch.breadth / 2) });
    }
  });
  const edges = links.map(({ from, to, input }) => ({
    source: ids[from] ?? "",
    target: ids[to] ?? "",
    input,
    via: chainBetween(from, to).map((lane) => at((layer[lane] ?? 0) * pitch.layer, (positions[lane] ?? 0) - least)),
  }));
  const length = columns.length === 0 ? 0 : (columns.length - 1) * pitch.layer + pitch.extent;
  return { nodes, edges, isUpright, ...(isUpright ? { width: breadth, height: length } : { width: length, height: breadth }) };
}

/** The length of the longest path to each node. Links that close a loop do not count. */
function getLayers({ sources, targets }: Ends): number[] {
  const pendingSources = sources.map((list) => list.length);
  const layer = sources.map(() => 0);
  const isPlaced = sources.map(() => false);
  let ready = pendingSources.flatMap((count, node) => (count === 0 ? [node] : []));
  let next = 0;
  for (;;) {
    for (let at = 0; at < ready.length; at++) {
      const node = ready[at] ?? 0;
      isPlaced[node] = true;
      for (const target of targets[node] ?? []) {
        if (isPlaced[target]) continue;
        layer[target] = Math.max(layer[target] ?? 0, (layer[node] ?? 0) + 1);
        pendingSources[target] = (pendingSources[target] ?? 0) - 1;
        if (pendingSources[target] === 0) ready.push(target);
      }
    }
    // Only loops remain. The first node in the graph's order is treated as if it had no sources.
    while (next < isPlaced.length && isPlaced[next]) next++;
    if (next >= isPlaced.length) return layer;
    ready = [next];
    pendingSources[next] = 0;
  }
}

/** Splits layers with too many nodes. */
function splitLayers(layer: readonly number[], ends: Ends, maxNodes: number): number[] {
  const columns = getColumns(layer, ends).flatMap((nodes) => {
    const parts = Math.max(1, Math.ceil(nodes.length / maxNodes));
    const size = Math.ceil(nodes.length / parts);
    return Array.from({ length: parts }, (_, part) => nodes.slice(part * size, (part + 1) * size));
  });
  const splitColumns: number[] = [];
  columns.forEach((nodes, index) => nodes.forEach((node) => (splitColumns[node] = index)));
  return splitColumns;
}

function getColumns(layer: readonly number[], ends: Ends): number[][] {
  const columns: number[][] = [];
  layer.forEach((at, node) => (columns[at] ??= []).push(node));
  for (let at = 0; at < columns.length; at++) columns[at] ??= [];
  sortByNeighbours(columns, ends);
  return columns;
}

/** Sorts each layer by the mean position of its neighbours, in alternating sweeps. */
function sortByNeighbours(layers: number[][], { sources, targets }: Ends): void {
  const rank: number[] = [];
  const note = (nodes: readonly number[]) => nodes.forEach((node, index) => (rank[node] = index - nodes.length / 2));
  layers.forEach(note);
  for (let sweep = 0; sweep < SWEEP_COUNT; sweep++) {
    const neighbours = sweep % 2 === 0 ? sources : targets;
    const order = sweep % 2 === 0 ? layers : layers.toReversed();
    for (const nodes of order) {
      const middle = new Map(nodes.map((node) => [node, getMean(neighbours[node] ?? [], rank) ?? rank[node] ?? 0]));
      nodes.sort((node, other) => (middle.get(node) ?? 0) - (middle.get(other) ?? 0) || (rank[node] ?? 0) - (rank[other] ?? 0));
      note(nodes);
    }
  }
}

/** Positions of the centers across the layer, as near as possible to their neighbours, keeping the order and without overlaps. */
function getPositions(columns: readonly number[][], { sources, targets }: Ends, getSpace: (item: number) => number): number[] {
  const positions: number[] = [];
  const stepsByColumn = new Map(columns.map((column) => [column, getSteps(column, getSpace)]));
  for (const column of columns) {
    const steps = stepsByColumn.get(column) ?? [];
    column.forEach((item, index) => (positions[item] = (steps[index] ?? 0) - (steps.at(-1) ?? 0) / 2));
  }
  for (let sweep = 0; sweep < SWEEP_COUNT; sweep++) {
    const neighbours = sweep % 2 === 0 ? sources : targets;
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) {
      const targets = column.map((item) => getMean(neighbours[item] ?? [], positions) ?? positions[item] ?? 0);
      spread(targets, stepsByColumn.get(column) ?? []).forEach((across, index) => (positions[column[index] ?? 0] = across));
    }
  }
  return positions;
}

/** Each item's minimum distance from the first. */
function getSteps(column: readonly number[], getSpace: (item: number) => number): number[] {
  let sum = 0;
  return column.map((item, index) => (sum += index === 0 ? 0 : (getSpace(column[index - 1] ?? 0) + getSpace(item)) / 2));
}

/** The positions nearest to the targets that keep these distances. Colliding neighbours are centered around their mean. */
function spread(targets: readonly number[], steps: readonly number[]): number[] {
  const blocks: { sum: number; size: number }[] = [];
  targets.forEach((across, index) => {
    let block = { sum: across - (steps[index] ?? 0), size: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.size >= block.sum / block.size; last = blocks.at(-1)) {
      block = { sum: last.sum + block.sum, size: last.size + block.size };
      blocks.pop();
    }
    blocks.push(block);
  });
  return blocks.flatMap(({ sum, size }) => Array.from({ length: size }, () => sum / size)).map((base, index) => base + (steps[index] ?? 0));
}

function getMean(nodes: readonly number[], of: readonly number[]): number | undefined {
  return nodes.length === 0 ? undefined : nodes.reduce((sum, node) => sum + (of[node] ?? 0), 0) / nodes.length;
}

/** For each node index: its sources and its targets. */
export type Ends = { sources: number[][]; targets: number[][] };

/** Routes long links through the layers between: each lane is a narrow node in its layer, so no link crosses a node. */
type Lanes = {
  ends: Ends;
  layer: number[];
  /** The lanes of a link, in order. */
  chainBetween: (source: number, target: number) => readonly number[];
};

/** Maximum number of lanes. With more, links are plain curves that may cross nodes. */
const MAX_LANES = 4_000;

/** Links from the same source share lanes. */
function withLanes({ sources, targets }: Ends, layer: readonly number[]): Lanes {
  const count = layer.length;
  const getLevel = (node: number) => layer[node] ?? 0;
  const spans = targets.map((list, node) => list.reduce((maxSpan, target) => Math.max(maxSpan, getLevel(target) - getLevel(node) - 1), 0));
  const hasTooManyLanes = spans.reduce((sum, span) => sum + span, 0) > MAX_LANES;
  if (hasTooManyLanes) return { ends: { sources, targets }, layer: [...layer], chainBetween: () => [] };
  const ends: Ends = { sources: layer.map(() => []), targets: layer.map(() => []) };
  const layers = [...layer];
  const link = (from: number, to: number) => {
    ends.sources[to]?.push(from);
    ends.targets[from]?.push(to);
  };
  const chains = spans.map((span, node) =>
    Array.from({ length: span }, (_, at) => {
      const lane = layers.push(getLevel(node) + at + 1) - 1;
      ends.sources.push([]);
      ends.targets.push([]);
      link(at === 0 ? node : lane - 1, lane);
      return lane;
    }),
  );
  const chainBetween = (source: number, target: number) =>
    chains[source]?.slice(0, Math.max(0, getLevel(target) - getLevel(source) - 1)) ?? [];
  for (let source = 0; source < count; source++) {
    for (const target of targets[source] ?? []) link(chainBetween(source, target).at(-1) ?? source, target);
  }
  return { ends, layer: layers, chainBetween };
}

type PathEnds = { from: PlacedNode; to: PlacedNode } & Pick<GraphEdge, "via" | "at">;

/**
 * A curve from the right of one node to the left of another (if upright, from bottom to top), straight through the layers in between. Links that
 * close a loop have wide curves at both ends.
 */
function edgePath({ from, to, via, at: slots }: PathEnds, isUpright: boolean): string {
  const { width, height } = from;
  const extent = isUpright ? height : width;
  const p = (along: number, across: number) => (isUpright ? `${n(across)} ${n(along)}` : `${n(along)} ${n(across)}`);
  const along = ({ x, y }: { x: number; y: number }) => (isUpright ? y : x);
  const across = ({ x, y }: { x: number; y: number }) => (isUpright ? x : y);
  const breadth = isUpright ? width : height;
  let at = { along: along(from) + extent, across: across(from) + (slots?.from ?? breadth / 2) };
  let path = `M${p(at.along, at.across)}`;
  const addCurve = (next: typeof at) => {
    const bend = Math.max(28, Math.min(160, Math.abs(next.along - at.along) / 2));
    path += `C${p(at.along + bend, at.across)} ${p(next.along - bend, next.across)} ${p(next.along, next.across)}`;
    at = next;
  };
  for (const lane of via) {
    addCurve({ along: along(lane), across: across(lane) });
    at = { along: at.along + extent, across: at.across };
    path += `L${p(at.along, at.across)}`;
  }
  addCurve({ along: along(to), across: across(to) + (slots?.to ?? breadth / 2) });
  return path;
}

/** All edges as one path, so that thousands of links are one element. */
export function edgesPath({ nodes, isUpright }: GraphLayout, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, target, ...way }) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      return from && to ? edgePath({ from, to, ...way }, isUpright) : "";
    })
    .join("");
}

/** Nodes as boxes in one path. */
export function boxesPath(nodes: readonly PlacedNode[]): string {
  return nodes.map(({ x, y, width, height }) => `M${n(x)} ${n(y)}h${width}v${height}h${-width}z`).join("");
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
