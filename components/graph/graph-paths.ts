import { type GraphEdge, type GraphLayout, nodeSize, type PlacedNode } from "./graph-layout";

type Ends = { from: PlacedNode; to: PlacedNode; via: GraphEdge["via"] };

/**
 * From the right of one node to the left of another, upright from the foot to the head: a curve between layers, straight on through those it passes.
 * One that closes a loop swings out on both sides.
 */
function edgePath({ from, to, via }: Ends, isUpright: boolean): string {
  const { width, height } = nodeSize;
  const extent = isUpright ? height : width;
  const p = (along: number, across: number) => (isUpright ? `${n(across)} ${n(along)}` : `${n(along)} ${n(across)}`);
  const along = ({ x, y }: { x: number; y: number }) => (isUpright ? y : x);
  const across = ({ x, y }: { x: number; y: number }) => (isUpright ? x : y);
  const breadth = isUpright ? width : height;
  let at = { along: along(from) + extent, across: across(from) + breadth / 2 };
  let path = `M${p(at.along, at.across)}`;
  const curveTo = (next: typeof at) => {
    const bend = Math.max(28, Math.min(160, Math.abs(next.along - at.along) / 2));
    path += `C${p(at.along + bend, at.across)} ${p(next.along - bend, next.across)} ${p(next.along, next.across)}`;
    at = next;
  };
  for (const lane of via) {
    curveTo({ along: along(lane), across: across(lane) });
    at = { along: at.along + extent, across: at.across };
    path += `L${p(at.along, at.across)}`;
  }
  curveTo({ along: along(to), across: across(to) + breadth / 2 });
  return path;
}

/** All of them as one shape: thousands of links are one element of the page. */
export function edgesPath({ nodes, isUpright }: GraphLayout, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, target, via }) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      return from && to ? edgePath({ from, to, via }, isUpright) : "";
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
