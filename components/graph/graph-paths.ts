import { type GraphEdge, type GraphLayout, nodeSize, type PlacedNode } from "./graph-layout";

/**
 * A curve from the right of one node to the left of another, upright from the foot to the head; one that closes a loop swings out on both sides.
 * One that passes columns at the same height swings over what stands between.
 */
function edgePath(from: PlacedNode, to: PlacedNode, isUpright: boolean): string {
  const { width, height } = nodeSize;
  // Along the layers, and across them.
  const [extent, breadth] = isUpright ? [height, width] : [width, height];
  const [a1, c1] = isUpright ? [from.y + height, from.x + width / 2] : [from.x + width, from.y + height / 2];
  const [a2, c2] = isUpright ? [to.y, to.x + width / 2] : [to.x, to.y + height / 2];
  const bend = Math.max(28, Math.min(160, Math.abs(a2 - a1) / 2));
  const isLong = Math.abs(a2 - a1) > extent && Math.abs(c2 - c1) < breadth;
  const reach = isLong ? Math.min(160, 40 + Math.abs(a2 - a1) / 12) + (isUpright ? width / 2 : 0) : 0;
  // On the side that it comes from: on the other it would cross what it passes.
  const swing = c1 > c2 ? -reach : reach;
  const p = (along: number, across: number) => (isUpright ? `${n(across)} ${n(along)}` : `${n(along)} ${n(across)}`);
  return `M${p(a1, c1)}C${p(a1 + bend, c1 - swing)} ${p(a2 - bend, c2 - swing)} ${p(a2, c2)}`;
}

/** All of them as one shape: thousands of links are one element of the page. */
export function edgesPath({ nodes, isUpright }: GraphLayout, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, target }) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      return from && to ? edgePath(from, to, isUpright) : "";
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
