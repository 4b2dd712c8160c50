import { fitted, type Point, type Size, type Viewport } from "@/components/ui/viewport";
import { type GraphLayout, nodeSize, type PlacedNode } from "./graph-layout";

const MARGIN = 24;

/** Smaller than this the words of a node are a strain to read. */
const COMFORTABLE = 0.62;
const START_SCALE = 0.85;

/** All of it where it can be read; else its beginning, or the node that calls for attention in the middle. */
export function started(layout: Pick<GraphLayout, "width" | "height" | "nodes">, size: Size, calling: string | undefined): Viewport {
  const all = fitted(layout, size);
  if (all.scale >= COMFORTABLE || size.width === 0) return all;
  const called = calling === undefined ? undefined : layout.nodes.get(calling);
  if (called) return centredOn(called, { ...all, scale: START_SCALE }, size);
  const nodes = [...layout.nodes.values()];
  const first = nodes.reduce<PlacedNode | undefined>(
    (best, node) => (best && (best.x < node.x || (best.x === node.x && best.y <= node.y)) ? best : node),
    undefined,
  );
  const fitsInHeight = layout.height * START_SCALE <= size.height - 2 * MARGIN;
  const y = fitsInHeight ? (size.height - layout.height * START_SCALE) / 2 : MARGIN - (first?.y ?? 0) * START_SCALE;
  return { scale: START_SCALE, x: MARGIN - (first?.x ?? 0) * START_SCALE, y };
}

/** Below this no word can be read. */
export const READABLE = 0.4;

/** All of it is seen, and can be read. */
export function isReadable(node: PlacedNode, { x, y, scale }: Viewport, size: Size): boolean {
  const [left, top] = [node.x * scale + x, node.y * scale + y];
  const isInside = left >= 0 && top >= 0 && left + nodeSize.width * scale <= size.width && top + nodeSize.height * scale <= size.height;
  return isInside && scale >= READABLE;
}

/** A node in the middle, at a scale at which it can be read. */
export function centredOn(node: PlacedNode, { scale }: Viewport, size: Size): Viewport {
  const next = Math.max(scale, 0.8);
  return {
    scale: next,
    x: size.width / 2 - (node.x + nodeSize.width / 2) * next,
    y: size.height / 2 - (node.y + nodeSize.height / 2) * next,
  };
}

export function isInView(node: PlacedNode, { x, y, scale }: Viewport, size: Size): boolean {
  const [left, top] = [node.x * scale + x, node.y * scale + y];
  return left < size.width && top < size.height && left + nodeSize.width * scale > 0 && top + nodeSize.height * scale > 0;
}

/** Which node lies under a pixel. */
export function nodeAt(nodes: Iterable<PlacedNode>, { x, y, scale }: Viewport, at: Point): PlacedNode | undefined {
  const [unitX, unitY] = [(at.x - x) / scale, (at.y - y) / scale];
  for (const node of nodes) {
    if (unitX >= node.x && unitX <= node.x + nodeSize.width && unitY >= node.y && unitY <= node.y + nodeSize.height) return node;
  }
  return undefined;
}
