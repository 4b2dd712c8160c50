import { useCallback } from "react";
import { fitView, type Point, type Size, usePanZoom, type Viewport } from "@/components/ui/hooks/use-pan-zoom";
import { type GraphLayout, type PlacedNode } from "./graph-layout";

const MARGIN = 24;

/** Below this scale a node shows only its title, in larger text. */
export const MIN_COMFORTABLE_SCALE = 0.62;
const INITIAL_SCALE = 0.85;
/** Below this scale no title is readable. */
export const MIN_READABLE_SCALE = 0.35;
/** Maximum number of windows to compare when searching for the one with the most nodes. */
const MAX_WINDOWS = 400;

/** The initial view shows all nodes if readable, otherwise the most important node or the start. */
export function useViewport(layout: GraphLayout, importantNodeId?: string) {
  const getStartView = useCallback((size: Size) => getInitialView(layout, size, importantNodeId), [layout, importantNodeId]);
  const panZoom = usePanZoom({ content: layout, getInitialView: getStartView });
  const { view, size, move } = panZoom;
  return {
    ...panZoom,
    /** Does nothing if the node is already readable. */
    reveal: (node: PlacedNode) => {
      if (!isReadable(node, view, size)) move(centerOn(node, view, size));
    },
  };
}

/** Shows everything if readable, otherwise the most important node, the start, or the densest part of an editor file. */
export function getInitialView(layout: Omit<GraphLayout, "edges">, size: Size, importantNodeId: string | undefined): Viewport {
  const fittedView = fitView(layout, size);
  const isEditorLayout = layout.groups !== undefined;
  if (fittedView.scale >= (isEditorLayout ? MIN_READABLE_SCALE : MIN_COMFORTABLE_SCALE) || size.width === 0) return fittedView;
  const importantNode = importantNodeId === undefined ? undefined : layout.nodes.get(importantNodeId);
  if (isEditorLayout)
    return getViewAround(
      importantNode ? getCenter(importantNode) : findDensestPoint([...layout.nodes.values()], size),
      MIN_READABLE_SCALE,
      size,
    );
  if (importantNode) return centerOn(importantNode, { ...fittedView, scale: INITIAL_SCALE }, size);
  const { isVertical } = layout;
  const firstNode = findFirstNode(layout.nodes.values(), isVertical);
  const getOffset = (available: number, total: number, position: number, extent: number, isAlong: boolean) => {
    if (total * INITIAL_SCALE <= available - 2 * MARGIN) return (available - total * INITIAL_SCALE) / 2;
    return (isAlong ? MARGIN : (available - extent * INITIAL_SCALE) / 2) - position * INITIAL_SCALE;
  };
  return {
    scale: INITIAL_SCALE,
    x: getOffset(size.width, layout.width, firstNode?.x ?? 0, firstNode?.width ?? 0, !isVertical),
    y: getOffset(size.height, layout.height, firstNode?.y ?? 0, firstNode?.height ?? 0, isVertical),
  };
}

/** The start of the workflow: the first node of the first layer. */
function findFirstNode(nodes: Iterable<PlacedNode>, isVertical: boolean): PlacedNode | undefined {
  const getOrder = ({ x, y }: PlacedNode) => (isVertical ? ([y, x] as const) : ([x, y] as const));
  let bestNode: PlacedNode | undefined;
  for (const node of nodes) {
    const [[along, across], [bestAlong, bestAcross]] = [getOrder(node), getOrder(bestNode ?? node)];
    if (!bestNode || along < bestAlong || (along === bestAlong && across < bestAcross)) bestNode = node;
  }
  return bestNode;
}

export function isReadable(node: PlacedNode, { x, y, scale }: Viewport, size: Size): boolean {
  const [left, top] = [node.x * scale + x, node.y * scale + y];
  const isInside = left >= 0 && top >= 0 && left + node.width * scale <= size.width && top + node.height * scale <= size.height;
  return isInside && scale >= MIN_READABLE_SCALE;
}

export function centerOn(node: PlacedNode, { scale }: Viewport, size: Size): Viewport {
  return getViewAround(getCenter(node), Math.max(scale, 0.8), size);
}

function getViewAround({ x, y }: Point, scale: number, size: Size): Viewport {
  return { scale, x: size.width / 2 - x * scale, y: size.height / 2 - y * scale };
}

function getCenter({ x, y, width, height }: PlacedNode): Point {
  return { x: x + width / 2, y: y + height / 2 };
}

/** The center of the nodes in the window that contains the most. Each window has a node at its top left. */
function findDensestPoint(nodes: readonly PlacedNode[], size: Size): Point {
  const [width, height] = [(size.width - 2 * MARGIN) / MIN_READABLE_SCALE, (size.height - 2 * MARGIN) / MIN_READABLE_SCALE];
  const sortedNodes = nodes.toSorted((node, otherNode) => node.x - otherNode.x || node.y - otherNode.y);
  const stride = Math.ceil(sortedNodes.length / MAX_WINDOWS);
  let bestNodes = sortedNodes.slice(0, 1);
  for (const { x, y } of sortedNodes.filter((_, index) => index % stride === 0)) {
    const isInside = (node: PlacedNode) =>
      node.x >= x && node.y >= y && node.x + node.width <= x + width && node.y + node.height <= y + height;
    const nodesInside = sortedNodes.filter(isInside);
    if (nodesInside.length > bestNodes.length) bestNodes = nodesInside;
  }
  const [left, top] = [Math.min(...bestNodes.map(({ x }) => x)), Math.min(...bestNodes.map(({ y }) => y))];
  const [right, bottom] = [
    Math.max(...bestNodes.map((node) => node.x + node.width)),
    Math.max(...bestNodes.map((node) => node.y + node.height)),
  ];
  // If a node is larger than the window, its top left corner is shown.
  return { x: left + Math.min(right - left, width) / 2, y: top + Math.min(bottom - top, height) / 2 };
}

export function isInView(node: PlacedNode, { x, y, scale }: Viewport, size: Size): boolean {
  const [left, top] = [node.x * scale + x, node.y * scale + y];
  return left < size.width && top < size.height && left + node.width * scale > 0 && top + node.height * scale > 0;
}

export function findNodeAt(nodes: Iterable<PlacedNode>, { x, y, scale }: Viewport, point: Point): PlacedNode | undefined {
  const [unitX, unitY] = [(point.x - x) / scale, (point.y - y) / scale];
  for (const node of nodes) {
    if (unitX >= node.x && unitX <= node.x + node.width && unitY >= node.y && unitY <= node.y + node.height) return node;
  }
  return undefined;
}
