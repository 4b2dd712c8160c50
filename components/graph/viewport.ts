import { fitted, type Point, type Size, type Viewport } from "@/components/ui/hooks/viewport";
import { type GraphLayout, type PlacedNode } from "./graph-layout";

const MARGIN = 24;

/** Below this scale a node's text is hard to read. */
const COMFORTABLE = 0.62;
const START_SCALE = 0.85;

/** Everything if readable; otherwise the beginning, or the node that needs attention in the middle. */
export function started(layout: Omit<GraphLayout, "edges">, size: Size, calling: string | undefined): Viewport {
  const all = fitted(layout, size);
  if (all.scale >= COMFORTABLE || size.width === 0) return all;
  const called = calling === undefined ? undefined : layout.nodes.get(calling);
  if (called) return centredOn(called, { ...all, scale: START_SCALE }, size);
  const { isUpright } = layout;
  const first = firstOf(layout.nodes.values(), isUpright);
  const at = (room: number, whole: number, place: number, extent: number, isAlong: boolean) => {
    if (whole * START_SCALE <= room - 2 * MARGIN) return (room - whole * START_SCALE) / 2;
    return (isAlong ? MARGIN : (room - extent * START_SCALE) / 2) - place * START_SCALE;
  };
  return {
    scale: START_SCALE,
    x: at(size.width, layout.width, first?.x ?? 0, first?.width ?? 0, !isUpright),
    y: at(size.height, layout.height, first?.y ?? 0, first?.height ?? 0, isUpright),
  };
}

/** The start of the workflow: the first node of the first layer. */
function firstOf(nodes: Iterable<PlacedNode>, isUpright: boolean): PlacedNode | undefined {
  const order = ({ x, y }: PlacedNode) => (isUpright ? ([y, x] as const) : ([x, y] as const));
  let best: PlacedNode | undefined;
  for (const node of nodes) {
    const [[along, across], [bestAlong, bestAcross]] = [order(node), order(best ?? node)];
    if (!best || along < bestAlong || (along === bestAlong && across < bestAcross)) best = node;
  }
  return best;
}

/** Below this scale no text is readable. */
export const READABLE = 0.4;

/** The whole node is visible and readable. */
export function isReadable(node: PlacedNode, { x, y, scale }: Viewport, size: Size): boolean {
  const [left, top] = [node.x * scale + x, node.y * scale + y];
  const isInside = left >= 0 && top >= 0 && left + node.width * scale <= size.width && top + node.height * scale <= size.height;
  return isInside && scale >= READABLE;
}

/** Puts a node in the middle, at a readable scale. */
export function centredOn(node: PlacedNode, { scale }: Viewport, size: Size): Viewport {
  const next = Math.max(scale, 0.8);
  return {
    scale: next,
    x: size.width / 2 - (node.x + node.width / 2) * next,
    y: size.height / 2 - (node.y + node.height / 2) * next,
  };
}

export function isInView(node: PlacedNode, { x, y, scale }: Viewport, size: Size): boolean {
  const [left, top] = [node.x * scale + x, node.y * scale + y];
  return left < size.width && top < size.height && left + node.width * scale > 0 && top + node.height * scale > 0;
}

/** The node under a pixel. */
export function nodeAt(nodes: Iterable<PlacedNode>, { x, y, scale }: Viewport, at: Point): PlacedNode | undefined {
  const [unitX, unitY] = [(at.x - x) / scale, (at.y - y) / scale];
  for (const node of nodes) {
    if (unitX >= node.x && unitX <= node.x + node.width && unitY >= node.y && unitY <= node.y + node.height) return node;
  }
  return undefined;
}
