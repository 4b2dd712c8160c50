import { type GraphEdge, type GraphLayout, type PlacedNode } from "./graph-layout";

type Ends = { from: PlacedNode; to: PlacedNode } & Pick<GraphEdge, "via" | "at">;

/**
 * A curve from the right of one node to the left of another (if upright, from bottom to top), straight through the layers in between.
 * A link that closes a loop has wide curves at both ends.
 */
function edgePath({ from, to, via, at: slots }: Ends, isUpright: boolean): string {
  const { width, height } = from;
  const extent = isUpright ? height : width;
  const p = (along: number, across: number) => (isUpright ? `${n(across)} ${n(along)}` : `${n(along)} ${n(across)}`);
  const along = ({ x, y }: { x: number; y: number }) => (isUpright ? y : x);
  const across = ({ x, y }: { x: number; y: number }) => (isUpright ? x : y);
  const breadth = isUpright ? width : height;
  let at = { along: along(from) + extent, across: across(from) + (slots?.from ?? breadth / 2) };
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
  curveTo({ along: along(to), across: across(to) + (slots?.to ?? breadth / 2) });
  return path;
}

/** All edges as one shape, so that thousands of links are one element of the page. */
export function edgesPath({ nodes, isUpright }: GraphLayout, edges: readonly GraphEdge[]): string {
  return edges
    .map(({ source, target, ...way }) => {
      const [from, to] = [nodes.get(source), nodes.get(target)];
      return from && to ? edgePath({ from, to, ...way }, isUpright) : "";
    })
    .join("");
}

/** Nodes as plain boxes, in one shape. */
export function boxesPath(nodes: readonly PlacedNode[]): string {
  return nodes.map(({ x, y, width, height }) => `M${n(x)} ${n(y)}h${width}v${height}h${-width}z`).join("");
}

function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}
