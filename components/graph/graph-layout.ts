import { type Graph } from "@/lib/contract/schemas/graph";
import { getLinks } from "@/lib/contract/workflow/graph";

/** In drawing units; 1 unit is 1 px at 100 % zoom. */
export const nodeSize = { width: 168, height: 46 } as const;
/**
 * Distances between layers, and between nodes of a layer. A layer with more than `maxNodes` nodes is split into several.
 */
const layerMetrics = {
  horizontal: { layer: nodeSize.width + 64, node: nodeSize.height + 26, extent: nodeSize.width, breadth: nodeSize.height, maxNodes: 72 },
  vertical: { layer: nodeSize.height + 46, node: nodeSize.width + 26, extent: nodeSize.height, breadth: nodeSize.width, maxNodes: 12 },
} as const;
const LANE_WIDTH = 16;
const SWEEP_COUNT = 6;

export type PlacedNode = { id: string; x: number; y: number; width: number; height: number; look?: NodeAppearance };
/** Appearance of a box as saved by the editor. `title` labels boxes that are not graph nodes. */
type NodeAppearance = {
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
  slotOffsets?: { from: number; to: number };
};
export type GraphLayout = {
  nodes: ReadonlyMap<string, PlacedNode>;
  edges: readonly GraphEdge[];
  groups?: readonly PlacedGroup[];
  width: number;
  height: number;
  isVertical: boolean;
};

/**
 * Places nodes in columns to the right of their sources, or, if vertical, in rows below them. Links that pass a column get a lane in it. The
 * layout is deterministic, and nodes never overlap. In a cycle, one link becomes a back edge.
 */
export function layoutGraph(graph: Graph, isVertical = false): GraphLayout {
  const metrics = layerMetrics[isVertical ? "vertical" : "horizontal"];
  const ids = Object.keys(graph);
  const indexById = new Map(ids.map((id, index) => [id, index]));
  const links: { from: number; to: number; input: string }[] = [];
  const directLinks: Adjacency = { sources: ids.map(() => []), targets: ids.map(() => []) };
  for (const [id, node] of Object.entries(graph)) {
    for (const { input, source } of getLinks(node)) {
      const [from, to] = [indexById.get(source), indexById.get(id)];
      if (from === undefined || to === undefined) continue;
      links.push({ from, to, input });
      directLinks.sources[to]?.push(from);
      directLinks.targets[from]?.push(to);
    }
  }
  const splitLayerByNode = splitLayers(getLayers(directLinks), directLinks, metrics.maxNodes);
  const { adjacency, layerByNode, getLanesBetween } = addLanes(directLinks, splitLayerByNode);
  const isNode = (item: number) => item < ids.length;
  const columns = getColumns(layerByNode, adjacency);
  const positions = getPositions(columns, adjacency, (item) => (isNode(item) ? metrics.node : LANE_WIDTH));
  const getHalfSize = (item: number) => (isNode(item) ? metrics.breadth / 2 : 0);
  const minPosition = columns.reduce(
    (currentMin, [firstItem = 0]) => Math.min(currentMin, (positions[firstItem] ?? 0) - getHalfSize(firstItem)),
    positions.length > 0 ? Infinity : 0,
  );
  const breadth = columns.reduce((maxBreadth, column) => {
    const lastItem = column.at(-1) ?? 0;
    return Math.max(maxBreadth, (positions[lastItem] ?? 0) + getHalfSize(lastItem) - minPosition);
  }, 0);
  const toPoint = (along: number, across: number) => (isVertical ? { x: across, y: along } : { x: along, y: across });
  const nodes = new Map<string, PlacedNode>();
  columns.forEach((column, index) => {
    for (const item of column) {
      const id = ids[item];
      if (id !== undefined)
        nodes.set(id, { id, ...nodeSize, ...toPoint(index * metrics.layer, (positions[item] ?? 0) - minPosition - metrics.breadth / 2) });
    }
  });
  const edges = links.map(({ from, to, input }) => ({
    source: ids[from] ?? "",
    target: ids[to] ?? "",
    input,
    via: getLanesBetween(from, to).map((lane) => toPoint((layerByNode[lane] ?? 0) * metrics.layer, (positions[lane] ?? 0) - minPosition)),
  }));
  const length = columns.length === 0 ? 0 : (columns.length - 1) * metrics.layer + metrics.extent;
  return { nodes, edges, isVertical, ...(isVertical ? { width: breadth, height: length } : { width: length, height: breadth }) };
}

/** The length of the longest path to each node. Back edges are ignored. */
function getLayers({ sources, targets }: Adjacency): number[] {
  const pendingSources = sources.map((list) => list.length);
  const layerByNode = sources.map(() => 0);
  const isPlaced = sources.map(() => false);
  let readyNodes = pendingSources.flatMap((count, node) => (count === 0 ? [node] : []));
  let nextNode = 0;
  for (;;) {
    for (let index = 0; index < readyNodes.length; index++) {
      const node = readyNodes[index] ?? 0;
      isPlaced[node] = true;
      for (const target of targets[node] ?? []) {
        if (isPlaced[target]) continue;
        layerByNode[target] = Math.max(layerByNode[target] ?? 0, (layerByNode[node] ?? 0) + 1);
        pendingSources[target] = (pendingSources[target] ?? 0) - 1;
        if (pendingSources[target] === 0) readyNodes.push(target);
      }
    }
    // Only loops remain. The first node in the graph's order is treated as if it had no sources.
    while (nextNode < isPlaced.length && isPlaced[nextNode]) nextNode++;
    if (nextNode >= isPlaced.length) return layerByNode;
    readyNodes = [nextNode];
    pendingSources[nextNode] = 0;
  }
}

/** Splits layers with too many nodes. */
function splitLayers(layerByNode: readonly number[], adjacency: Adjacency, maxNodes: number): number[] {
  const columns = getColumns(layerByNode, adjacency).flatMap((nodes) => {
    const partCount = Math.max(1, Math.ceil(nodes.length / maxNodes));
    const size = Math.ceil(nodes.length / partCount);
    return Array.from({ length: partCount }, (_, part) => nodes.slice(part * size, (part + 1) * size));
  });
  const columnByNode: number[] = [];
  columns.forEach((nodes, index) => nodes.forEach((node) => (columnByNode[node] = index)));
  return columnByNode;
}

function getColumns(layerByNode: readonly number[], adjacency: Adjacency): number[][] {
  const columns: number[][] = [];
  layerByNode.forEach((index, node) => (columns[index] ??= []).push(node));
  for (let index = 0; index < columns.length; index++) columns[index] ??= [];
  sortByNeighbours(columns, adjacency);
  return columns;
}

/** Sorts each layer by the mean position of its neighbours, in alternating sweeps. */
function sortByNeighbours(layers: number[][], { sources, targets }: Adjacency): void {
  const rank: number[] = [];
  const updateRanks = (nodes: readonly number[]) => nodes.forEach((node, index) => (rank[node] = index - nodes.length / 2));
  layers.forEach(updateRanks);
  for (let sweep = 0; sweep < SWEEP_COUNT; sweep++) {
    const neighbours = sweep % 2 === 0 ? sources : targets;
    const order = sweep % 2 === 0 ? layers : layers.toReversed();
    for (const nodes of order) {
      const meanRank = new Map(nodes.map((node) => [node, getMean(neighbours[node] ?? [], rank) ?? rank[node] ?? 0]));
      nodes.sort((node, other) => (meanRank.get(node) ?? 0) - (meanRank.get(other) ?? 0) || (rank[node] ?? 0) - (rank[other] ?? 0));
      updateRanks(nodes);
    }
  }
}

/** Places node centers within each layer close to their neighbours. Keeps the order and avoids overlaps. */
function getPositions(columns: readonly number[][], { sources, targets }: Adjacency, getSpace: (item: number) => number): number[] {
  const positions: number[] = [];
  const stepsByColumn = new Map(columns.map((column) => [column, getMinOffsets(column, getSpace)]));
  for (const column of columns) {
    const steps = stepsByColumn.get(column) ?? [];
    column.forEach((item, index) => (positions[item] = (steps[index] ?? 0) - (steps.at(-1) ?? 0) / 2));
  }
  for (let sweep = 0; sweep < SWEEP_COUNT; sweep++) {
    const neighbours = sweep % 2 === 0 ? sources : targets;
    for (const column of sweep % 2 === 0 ? columns : columns.toReversed()) {
      const targets = column.map((item) => getMean(neighbours[item] ?? [], positions) ?? positions[item] ?? 0);
      resolveOverlaps(targets, stepsByColumn.get(column) ?? []).forEach((across, index) => (positions[column[index] ?? 0] = across));
    }
  }
  return positions;
}

/** Each item's minimum distance from the first. */
function getMinOffsets(column: readonly number[], getSpace: (item: number) => number): number[] {
  let sum = 0;
  return column.map((item, index) => (sum += index === 0 ? 0 : (getSpace(column[index - 1] ?? 0) + getSpace(item)) / 2));
}

/** Returns the positions nearest to the targets that keep these distances. Colliding neighbours are centered around their mean. */
function resolveOverlaps(targets: readonly number[], steps: readonly number[]): number[] {
  const blocks: { sum: number; size: number }[] = [];
  targets.forEach((across, index) => {
    let block = { sum: across - (steps[index] ?? 0), size: 1 };
    for (let topBlock = blocks.at(-1); topBlock && topBlock.sum / topBlock.size >= block.sum / block.size; topBlock = blocks.at(-1)) {
      block = { sum: topBlock.sum + block.sum, size: topBlock.size + block.size };
      blocks.pop();
    }
    blocks.push(block);
  });
  return blocks.flatMap(({ sum, size }) => Array.from({ length: size }, () => sum / size)).map((base, index) => base + (steps[index] ?? 0));
}

function getMean(nodes: readonly number[], values: readonly number[]): number | undefined {
  return nodes.length === 0 ? undefined : nodes.reduce((sum, node) => sum + (values[node] ?? 0), 0) / nodes.length;
}

/** For each node index: its sources and its targets. */
export type Adjacency = { sources: number[][]; targets: number[][] };

/** Routes for long links. Each lane is a narrow node in its layer, so no link crosses a node. */
type Lanes = {
  adjacency: Adjacency;
  layerByNode: number[];
  /** The lanes of a link, in order. */
  getLanesBetween: (source: number, target: number) => readonly number[];
};

/** Maximum number of lanes. With more, links are plain curves that may cross nodes. */
const MAX_LANES = 4_000;

/** Links from the same source share lanes. */
function addLanes({ sources, targets }: Adjacency, layerByNode: readonly number[]): Lanes {
  const count = layerByNode.length;
  const getLayer = (node: number) => layerByNode[node] ?? 0;
  const spans = targets.map((list, node) => list.reduce((maxSpan, target) => Math.max(maxSpan, getLayer(target) - getLayer(node) - 1), 0));
  const hasTooManyLanes = spans.reduce((sum, span) => sum + span, 0) > MAX_LANES;
  if (hasTooManyLanes) return { adjacency: { sources, targets }, layerByNode: [...layerByNode], getLanesBetween: () => [] };
  const adjacency: Adjacency = { sources: layerByNode.map(() => []), targets: layerByNode.map(() => []) };
  const layers = [...layerByNode];
  const addLink = (from: number, to: number) => {
    adjacency.sources[to]?.push(from);
    adjacency.targets[from]?.push(to);
  };
  const lanesBySource = spans.map((span, node) =>
    Array.from({ length: span }, (_, index) => {
      const lane = layers.push(getLayer(node) + index + 1) - 1;
      adjacency.sources.push([]);
      adjacency.targets.push([]);
      addLink(index === 0 ? node : lane - 1, lane);
      return lane;
    }),
  );
  const getLanesBetween = (source: number, target: number) =>
    lanesBySource[source]?.slice(0, Math.max(0, getLayer(target) - getLayer(source) - 1)) ?? [];
  for (let source = 0; source < count; source++) {
    for (const target of targets[source] ?? []) addLink(getLanesBetween(source, target).at(-1) ?? source, target);
  }
  return { adjacency, layerByNode: layers, getLanesBetween };
}

type PathEnds = { from: PlacedNode; to: PlacedNode } & Pick<GraphEdge, "via" | "slotOffsets">;

/**
 * A curve from the right of one node to the left of another, or, if vertical, from bottom to top. It is straight through the layers in
 * between. Links that close a loop have wide curves at both ends.
 */
function toEdgePath({ from, to, via, slotOffsets }: PathEnds, isVertical: boolean): string {
  const { width, height } = from;
  const extent = isVertical ? height : width;
  const formatPoint = (along: number, across: number) =>
    isVertical ? `${formatCoordinate(across)} ${formatCoordinate(along)}` : `${formatCoordinate(along)} ${formatCoordinate(across)}`;
  const getAlong = ({ x, y }: { x: number; y: number }) => (isVertical ? y : x);
  const getAcross = ({ x, y }: { x: number; y: number }) => (isVertical ? x : y);
  const breadth = isVertical ? width : height;
  let currentPoint = { along: getAlong(from) + extent, across: getAcross(from) + (slotOffsets?.from ?? breadth / 2) };
  let path = `M${formatPoint(currentPoint.along, currentPoint.across)}`;
  const addCurve = (nextPoint: typeof currentPoint) => {
    const bend = Math.max(28, Math.min(160, Math.abs(nextPoint.along - currentPoint.along) / 2));
    path += `C${formatPoint(currentPoint.along + bend, currentPoint.across)} ${formatPoint(nextPoint.along - bend, nextPoint.across)} ${formatPoint(nextPoint.along, nextPoint.across)}`;
    currentPoint = nextPoint;
  };
  for (const lane of via) {
    addCurve({ along: getAlong(lane), across: getAcross(lane) });
    currentPoint = { along: currentPoint.along + extent, across: currentPoint.across };
    path += `L${formatPoint(currentPoint.along, currentPoint.across)}`;
  }
  addCurve({ along: getAlong(to), across: getAcross(to) + (slotOffsets?.to ?? breadth / 2) });
  return path;
}

/** All edges as one path, so that thousands of links are one element. */
export function toEdgesPath({ nodes, isVertical }: GraphLayout, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, target, ...route }) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      return from && to ? toEdgePath({ from, to, ...route }, isVertical) : "";
    })
    .join("");
}

/** Nodes as boxes in one path. */
export function toBoxesPath(nodes: readonly PlacedNode[]): string {
  return nodes.map(({ x, y, width, height }) => `M${formatCoordinate(x)} ${formatCoordinate(y)}h${width}v${height}h${-width}z`).join("");
}

function formatCoordinate(value: number): string {
  return String(Math.round(value * 10) / 10);
}
