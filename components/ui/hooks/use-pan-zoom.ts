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

const PAN_STEP = 60;
const ZOOM_STEP = 1.25;
/** Shorter moves count as clicks. */
const DRAG_THRESHOLD_PX = 4;

type PanZoomOptions = {
  content: Size;
  scales?: Scales;
  /** The margin in pixels when everything is shown. */
  margin?: number;
  /** The initial view; by default everything. Must be a stable function. */
  start?: (size: Size) => Viewport;
  /** The frame has this many equal panes that show the same part; sizes are those of one pane. */
  columns?: number;
  rows?: number;
};

/** Pan and zoom by mouse, wheel, touch and keys, for any size of the frame. */
export function usePanZoom(options: PanZoomOptions) {
  const { content, scales = drawingScales, margin, start, columns = 1, rows = 1 } = options;
  const { width, height } = content;
  const frame = useRef<HTMLDivElement>(null);
  const pointers = useRef(new Map<number, Point>());
  const drag = useRef<{ from: Point; isDragged: boolean }>({ from: { x: 0, y: 0 }, isDragged: false });
  const [size, setSize] = useState<Size>({ width: 0, height: 0 });
  const [movedView, setMovedView] = useState<Viewport | "fitted">();
  const view = useMemo(() => {
    if (movedView !== undefined && movedView !== "fitted") return movedView;
    return movedView === undefined && start ? start(size) : fitted({ width, height }, size, { margin, scales });
  }, [movedView, start, size, width, height, margin, scales]);

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
  const zoomBy = (factor: number, at: Point) => setMovedView(zoomed(view, factor, toPanePoint(at), scales));
  // Without focus the wheel scrolls the page. With Ctrl or ⌘, or by pinching, it always zooms.
  useWheel(frame, (event) => {
    if (!event.ctrlKey && !event.metaKey && !frame.current?.contains(document.activeElement)) return;
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.002)), toPoint(event));
  });

  const middle = { x: size.width / 2, y: size.height / 2 };
  const actions = {
    fit: () => setMovedView("fitted"),
    zoomIn: () => zoomBy(ZOOM_STEP, middle),
    zoomOut: () => zoomBy(1 / ZOOM_STEP, middle),
    zoomTo: (scale: number, at: Point) => zoomBy(scale / view.scale, at),
    actualSize: () => zoomBy(1 / view.scale, middle),
    move: (to: Viewport) => setMovedView(to),
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => setMovedView({ ...view, x: view.x + PAN_STEP }),
    ArrowRight: () => setMovedView({ ...view, x: view.x - PAN_STEP }),
    ArrowUp: () => setMovedView({ ...view, y: view.y + PAN_STEP }),
    ArrowDown: () => setMovedView({ ...view, y: view.y - PAN_STEP }),
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
      const before = pointers.current.get(event.pointerId);
      if (!before) return;
      const at = toPoint(event);
      const otherPointer = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
      if (!otherPointer && !drag.current.isDragged && distance(drag.current.from, at) < DRAG_THRESHOLD_PX) return;
      if (!drag.current.isDragged) event.currentTarget.setPointerCapture(event.pointerId);
      drag.current.isDragged = true;
      pointers.current.set(event.pointerId, at);
      const shifted = {
        ...view,
        x: view.x + (at.x - before.x) / (otherPointer ? 2 : 1),
        y: view.y + (at.y - before.y) / (otherPointer ? 2 : 1),
      };
      const midpoint = otherPointer && { x: (at.x + otherPointer.x) / 2, y: (at.y + otherPointer.y) / 2 };
      const pinch = otherPointer && distance(at, otherPointer) / Math.max(1, distance(before, otherPointer));
      setMovedView(midpoint && pinch !== undefined ? zoomed(shifted, pinch, toPanePoint(midpoint), scales) : shifted);
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
  /** Records a move that another gesture uses, so that a later pinch starts at the current position. */
  const note = (event: PointerEvent) => {
    if (pointers.current.has(event.pointerId)) pointers.current.set(event.pointerId, toPoint(event));
  };
  return { frame, size, view, isFitted: movedView === undefined || movedView === "fitted", toPoint, note, handlers, ...actions };
}

function distance(point: Point, other: Point): number {
  return Math.hypot(point.x - other.x, point.y - other.y);
}

function wrap(position: number, length: number): number {
  return length > 0 ? position - Math.floor(position / length) * length : position;
}

/** The view of a drawing or picture: its point (0, 0) is at pixel (x, y), and a unit is `scale` pixels. */
export type Viewport = { x: number; y: number; scale: number };
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };
type Scales = { least: number; max: number };

const drawingScales: Scales = { least: 0.02, max: 4 };
/** A picture can be zoomed in to its pixels. */
export const pictureScales: Scales = { least: 0.01, max: 32 };

/** Fits everything, as large as possible up to `largest`. */
export function fitted(content: Size, size: Size, { margin = 24, scales = drawingScales, largest = 1 } = {}): Viewport {
  const available = { width: Math.max(1, size.width - 2 * margin), height: Math.max(1, size.height - 2 * margin) };
  const scale = clampScale(
    Math.min(largest, available.width / Math.max(1, content.width), available.height / Math.max(1, content.height)),
    scales,
  );
  return { scale, x: (size.width - content.width * scale) / 2, y: (size.height - content.height * scale) / 2 };
}

/** Zooms around `at`, which stays in place. */
export function zoomed({ x, y, scale }: Viewport, factor: number, at: Point, scales = drawingScales): Viewport {
  const next = clampScale(scale * factor, scales);
  return { scale: next, x: at.x - ((at.x - x) / scale) * next, y: at.y - ((at.y - y) / scale) * next };
}

function clampScale(scale: number, { least, max }: Scales): number {
  return Math.min(max, Math.max(least, scale));
}

/** `handler` may prevent scrolling, unlike React's passive wheel listeners. */
export function useWheel(frame: RefObject<HTMLElement | null>, handler: (event: WheelEvent) => void): void {
  const onWheel = useEffectEvent(handler);
  useEffect(() => {
    const element = frame.current;
    const listen = (event: WheelEvent) => onWheel(event);
    element?.addEventListener("wheel", listen, { passive: false });
    return () => element?.removeEventListener("wheel", listen);
  }, [frame]);
}
