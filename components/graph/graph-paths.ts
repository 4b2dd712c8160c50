import { type GraphEdge, type GraphLayout, nodeSize, type PlacedNode } from "./graph-layout";

/**
 * A curve from the right of one node to the left of another; one that closes a loop swings out on both sides.
 * One that passes columns at the same height swings over what stands between.
 */
function edgePath(from: PlacedNode, to: PlacedNode): string {
  const [x1, y1] = [from.x + nodeSize.width, from.y + nodeSize.height / 2];
  const [x2, y2] = [to.x, to.y + nodeSize.height / 2];
  const bend = Math.max(28, Math.min(160, Math.abs(x2 - x1) / 2));
  const isLong = Math.abs(x2 - x1) > nodeSize.width && Math.abs(y2 - y1) < nodeSize.height;
  const swing = isLong ? Math.min(160, 40 + Math.abs(x2 - x1) / 12) : 0;
  return `M${n(x1)} ${n(y1)}C${n(x1 + bend)} ${n(y1 - swing)} ${n(x2 - bend)} ${n(y2 - swing)} ${n(x2)} ${n(y2)}`;
}

/** All of them as one shape: thousands of links are one element of the page. */
export function edgesPath({ nodes }: GraphLayout, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, target }) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      return from && to ? edgePath(from, to) : "";
    })
    .join("");
}

/** Nodes as plain boxes, as one shape. */
export function boxesPath(nodes: readonly PlacedNode[]): string {
  const { width, height } = nodeSize;
  return nodes.map(({ x, y }) => `M${n(x)} ${n(y)}h${width}v${height}h${-width}z`).join("");
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
