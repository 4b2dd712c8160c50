import {
  type KeyboardEvent,
  type MouseEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from "react";

const PAN_STEP_PX = 60;
const ZOOM_FACTOR = 1.25;
/** Shorter drags count as clicks. */
const DRAG_THRESHOLD_PX = 4;

type PanZoomOptions = {
  content: Size;
  scales?: Scales;
  /** The margin in pixels when everything is shown. */
  margin?: number;
  /** Returns the initial view. By default, the whole content is fitted. Must be a stable function. */
  getInitialView?: (size: Size) => Viewport;
  /** The number of equal panes in the frame, which all show the same part. Sizes are those of one pane. */
  columns?: number;
  rows?: number;
};

/** Pans and zooms by mouse, wheel, touch and keys, in a frame of any size. */
export function usePanZoom(options: PanZoomOptions) {
  const { content, scales = drawingScales, margin, getInitialView, columns = 1, rows = 1 } = options;
  const { width, height } = content;
  const frame = useRef<HTMLDivElement>(null);
  const pointers = useRef(new Map<number, Point>());
  const drag = useRef<{ from: Point; isDragged: boolean }>({ from: { x: 0, y: 0 }, isDragged: false });
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [movedView, setMovedView] = useState<Viewport | "fitted">();
  const view = useMemo(() => {
    if (movedView !== undefined && movedView !== "fitted") return movedView;
    return movedView === undefined && getInitialView ? getInitialView(size) : fitView({ width, height }, size, { margin, scales });
  }, [movedView, getInitialView, size, width, height, margin, scales]);

  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() => {
      // Ignores the empty size while hidden.
      if (element.clientWidth > 0) setSize({ width: element.clientWidth / columns, height: element.clientHeight / rows });
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [columns, rows]);

  const toPoint = ({ clientX, clientY }: { clientX: number; clientY: number }): Point => {
    const box = frame.current?.getBoundingClientRect();
    return { x: clientX - (box?.left ?? 0), y: clientY - (box?.top ?? 0) };
  };
  // All panes show the same part, so points are relative to their pane.
  const toPanePoint = ({ x, y }: Point): Point => ({ x: wrap(x, size.width), y: wrap(y, size.height) });
  const zoomBy = (factor: number, anchor: Point) => setMovedView(zoomView(view, factor, toPanePoint(anchor), scales));
  // The wheel zooms if the frame has focus. Otherwise it scrolls the page. With Ctrl or ⌘, or by pinching, it always zooms.
  useWheel(frame, (event) => {
    if (!event.ctrlKey && !event.metaKey && !frame.current?.contains(document.activeElement)) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), toPoint(event));
  });

  const center = { x: size.width / 2, y: size.height / 2 };
  const actions = {
    fit: () => setMovedView("fitted"),
    zoomIn: () => zoomBy(ZOOM_FACTOR, center),
    zoomOut: () => zoomBy(1 / ZOOM_FACTOR, center),
    zoomTo: (scale: number, anchor: Point) => zoomBy(scale / view.scale, anchor),
    actualSize: () => zoomBy(1 / view.scale, center),
    move: (viewport: Viewport) => setMovedView(viewport),
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => setMovedView({ ...view, x: view.x + PAN_STEP_PX }),
    ArrowRight: () => setMovedView({ ...view, x: view.x - PAN_STEP_PX }),
    ArrowUp: () => setMovedView({ ...view, y: view.y + PAN_STEP_PX }),
    ArrowDown: () => setMovedView({ ...view, y: view.y - PAN_STEP_PX }),
    "+": actions.zoomIn,
    "=": actions.zoomIn,
    "-": actions.zoomOut,
    "0": actions.fit,
    "1": actions.actualSize,
  };
  const handlers = {
    onKeyDown(event: KeyboardEvent) {
      const handler = event.ctrlKey || event.metaKey || event.altKey ? undefined : keys[event.key];
      if (!handler) return;
      event.preventDefault();
      handler();
    },
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      pointers.current.set(event.pointerId, toPoint(event));
      if (pointers.current.size === 1) drag.current = { from: toPoint(event), isDragged: false };
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      const previousPoint = pointers.current.get(event.pointerId);
      if (!previousPoint) return;
      const point = toPoint(event);
      const otherPointer = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      if (!otherPointer && !drag.current.isDragged && getDistance(drag.current.from, point) < DRAG_THRESHOLD_PX) return;
      if (!drag.current.isDragged) event.currentTarget.setPointerCapture(event.pointerId);
      drag.current.isDragged = true;
      pointers.current.set(event.pointerId, point);
      const pannedView = {
        ...view,
        x: view.x + (point.x - previousPoint.x) / (otherPointer ? 2 : 1),
        y: view.y + (point.y - previousPoint.y) / (otherPointer ? 2 : 1),
      };
      const midpoint = otherPointer && { x: (point.x + otherPointer.x) / 2, y: (point.y + otherPointer.y) / 2 };
      const pinchFactor = otherPointer && getDistance(point, otherPointer) / Math.max(1, getDistance(previousPoint, otherPointer));
      setMovedView(midpoint && pinchFactor !== undefined ? zoomView(pannedView, pinchFactor, toPanePoint(midpoint), scales) : pannedView);
    },
    onPointerUp: (event: PointerEvent) => void pointers.current.delete(event.pointerId),
    onPointerCancel: (event: PointerEvent) => void pointers.current.delete(event.pointerId),
    onPointerLeave: (event: PointerEvent<HTMLElement>) => {
      if (!event.currentTarget.hasPointerCapture(event.pointerId)) pointers.current.delete(event.pointerId);
    },
    onClickCapture(event: MouseEvent) {
      if (!drag.current.isDragged) return;
      drag.current.isDragged = false;
      event.preventDefault();
      event.stopPropagation();
    },
  };
  /** Records a pointer move that another gesture handles, so that a later pinch starts at the current position. */
  const trackPointer = (event: PointerEvent) => {
    if (pointers.current.has(event.pointerId)) pointers.current.set(event.pointerId, toPoint(event));
  };
  return { frame, size, view, isFitted: movedView === undefined || movedView === "fitted", toPoint, trackPointer, handlers, ...actions };
}

function getDistance(point: Point, other: Point): number {
  return Math.hypot(point.x - other.x, point.y - other.y);
}

function wrap(position: number, length: number): number {
  return length > 0 ? position - Math.floor(position / length) * length : position;
}

/** The view of a drawing or image. Its point (0, 0) is at pixel (x, y), and a unit is `scale` pixels. */
export type Viewport = { x: number; y: number; scale: number };
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };
type Scales = { min: number; max: number };

const drawingScales: Scales = { min: 0.02, max: 4 };
/** An image can be enlarged until its pixels are visible. */
export const pictureScales: Scales = { min: 0.01, max: 32 };

/** Fits the whole content, as large as possible up to the scale `largest`. */
export function fitView(content: Size, size: Size, { margin = 24, scales = drawingScales, largest = 1 } = {}): Viewport {
  const availableSize = { width: Math.max(1, size.width - 2 * margin), height: Math.max(1, size.height - 2 * margin) };
  const scale = clampScale(
    Math.min(largest, availableSize.width / Math.max(1, content.width), availableSize.height / Math.max(1, content.height)),
    scales,
  );
  return { scale, x: (size.width - content.width * scale) / 2, y: (size.height - content.height * scale) / 2 };
}

/** Zooms around `anchor`, which stays in place. */
export function zoomView({ x, y, scale }: Viewport, factor: number, anchor: Point, scales = drawingScales): Viewport {
  const newScale = clampScale(scale * factor, scales);
  return { scale: newScale, x: anchor.x - ((anchor.x - x) / scale) * newScale, y: anchor.y - ((anchor.y - y) / scale) * newScale };
}

function clampScale(scale: number, { min, max }: Scales): number {
  return Math.min(max, Math.max(min, scale));
}

/** `handler` may prevent scrolling, unlike React's passive wheel listeners. */
export function useWheel(frame: RefObject<HTMLElement | null>, handler: (event: WheelEvent) => void): void {
  const onWheel = useEffectEvent(handler);
  useEffect(() => {
    const element = frame.current;
    const listener = (event: WheelEvent) => onWheel(event);
    element?.addEventListener("wheel", listener, { passive: false });
    return () => element?.removeEventListener("wheel", listener);
  }, [frame]);
}
