// Turns pointer and key input into strokes, areas and marks. Needs no DOM. One gesture at a time; a dropped gesture changes nothing.

import { createStore } from "zustand/vanilla";
import { fitted as fittedInto, pictureScales, type Viewport, zoomed as zoomedAt } from "@/components/ui/hooks/use-pan-zoom";
import { lasso, rectangle } from "../drawing/areas";
import { isFar, type Point, type Rect, rectBetween, type Size } from "../drawing/coverage";
import { type MaskDocument } from "../drawing/mask-document";
import { type Command, type Settings } from "./settings";

/** In pixels of the picture. */
export type Marks = {
  brush?: { at: Point; diameter: number };
  cross?: Point;
  outline?: readonly Point[];
};
/** In pixels of the frame. */
export type Touch = Point & { pressure: number };

type Gesture =
  | { kind: "stroke" }
  | { kind: "rectangle"; from: Point; to: Point; isErasing: boolean }
  | { kind: "lasso"; points: Point[]; isErasing: boolean };
export type Painter = ReturnType<typeof createPainter>;

const PACE_PIXELS = { pixel: 0, step: 8, leap: 64 } as const;

export function createPainter({ drawing, views, settings }: { drawing: MaskDocument; views: ViewStore; settings: () => Settings }) {
  let gesture: Gesture | undefined;
  let hover: Point | undefined;
  let cursor: Point | undefined;
  const changes = createStore(() => 0);
  const { width, height } = drawing.coverage;

  function marks(): Marks {
    const { tool, diameter } = settings();
    const at = cursor ?? hover;
    return {
      ...(at && (tool === "brush" || tool === "eraser") && { brush: { at, diameter } }),
      ...(cursor && { cross: cursor }),
      ...(gesture?.kind === "lasso" && { outline: gesture.points }),
      ...(gesture?.kind === "rectangle" && { outline: getCorners(gesture) }),
    };
  }
  const mark = () => changes.setState((count) => count + 1);

  function begin(at: Point, pressure: number, isEraserEnd: boolean): void {
    const { tool, isErasing, diameter, hardness } = settings();
    const erases = isErasing || isEraserEnd;
    if (tool === "brush" || tool === "eraser") {
      const brush = { diameter, hardness, isErasing: tool === "eraser" || isEraserEnd };
      if (drawing.begin(brush, { ...at, pressure }, views.isFar())) gesture = { kind: "stroke" };
    } else if (drawing.state().isBusy) return;
    else if (tool === "rectangle") gesture = { kind: "rectangle", from: at, to: at, isErasing: erases };
    else if (tool === "lasso") gesture = { kind: "lasso", points: [at], isErasing: erases };
    else if (tool === "fill") void drawing.fill(at, erases);
    mark();
  }
  function extend(points: readonly (Point & { pressure: number })[]): void {
    const last = points.at(-1);
    if (!last) return;
    if (gesture?.kind === "stroke") drawing.extend(points, views.isFar());
    if (gesture?.kind === "lasso") gesture.points.push(...points.map(({ x, y }) => ({ x, y })));
    if (gesture?.kind === "rectangle") gesture.to = { x: last.x, y: last.y };
    if (!cursor) hover = last;
    mark();
  }
  function end(): void {
    const ended = gesture;
    gesture = undefined;
    if (ended?.kind === "stroke") void drawing.endInSlices();
    if (ended?.kind === "lasso" && ended.points.length > 2)
      void drawing.shape("lasso", lasso({ width, height }, ended.points), ended.isErasing);
    if (ended?.kind === "rectangle") {
      void drawing.shape("rectangle", rectangle({ width, height }, rectBetween(ended.from, ended.to)), ended.isErasing);
    }
    mark();
  }
  function drop(): boolean {
    const hadGesture = gesture !== undefined;
    if (gesture?.kind === "stroke") drawing.drop();
    gesture = undefined;
    mark();
    return hadGesture;
  }
  const toPoint = (touch: Touch) => ({ ...toPicture(views.view(), touch), pressure: settings().followsPressure ? touch.pressure : 1 });

  /** Shows the cursor, initially in the middle of the visible part. */
  function showCursor(): Point {
    const { x, y } = toPicture(views.view(), { x: views.frame().width / 2, y: views.frame().height / 2 });
    cursor ??= toPixelCenter({ x, y });
    mark();
    return cursor;
  }
  /** Moves a point to the center of the nearest pixel inside the picture. */
  function toPixelCenter({ x, y }: Point): Point {
    const clampToPixel = (value: number, max: number) => Math.min(max - 1, Math.max(0, Math.floor(value))) + 0.5;
    return { x: clampToPixel(x, width), y: clampToPixel(y, height) };
  }
  function moveCursor({ dx, dy, pace }: Extract<Command, { do: "cursor" }>): void {
    const from = showCursor();
    const step = Math.max(1, Math.round(PACE_PIXELS[pace] / views.scale()));
    cursor = toPixelCenter({ x: from.x + dx * step, y: from.y + dy * step });
    views.reveal(cursor);
    if (gesture) extend([{ ...cursor, pressure: 1 }]);
    mark();
  }

  return {
    subscribe: changes.subscribe,
    begin: (touch: Touch, isEraserEnd: boolean) => {
      cursor = undefined;
      const { pressure, ...at } = toPoint(touch);
      begin(at, pressure, isEraserEnd);
    },
    extend: (touches: readonly Touch[]) => extend(touches.map(toPoint)),
    end,
    drop,
    hover(at: Point | undefined): void {
      if (gesture && cursor) return;
      cursor = undefined;
      hover = at && toPicture(views.view(), at);
      mark();
    },
    showCursor,
    hideCursor(): void {
      if (gesture && cursor) end();
      cursor = undefined;
      mark();
    },
    cursor: () => cursor,
    moveCursor,
    /** On Space down: starts drawing until Space up. Returns false without a cursor. */
    press(): boolean {
      if (!cursor) return false;
      if (!gesture) begin(cursor, 1, false);
      return true;
    },
    /** On Space up. */
    lift(): void {
      if (cursor && gesture) end();
    },
    /** On Enter: starts drawing, or ends it. */
    stick(): void {
      if (gesture) return end();
      begin(showCursor(), 1, false);
    },
    marks,
  };
}

function getCorners({ from, to }: { from: Point; to: Point }): Point[] {
  const { left, top, right, bottom } = rectBetween(from, to);
  return [
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
  ];
}

// The view and its frame's size, outside React, since panning redraws only the canvases.

export type ViewStore = ReturnType<typeof createViewStore>;

const ZOOM_STEP = 1.25;

/** Screen pixels per page pixel; above two, the difference is invisible but costs time. */
export function deviceRatio(): number {
  return Math.min(2, globalThis.devicePixelRatio || 1);
}

/** Reports changes of the pixel ratio, such as another screen or page zoom. */
export function watchRatio(listener: () => void): () => void {
  let query: MediaQueryList | undefined;
  const watch = () => {
    query = globalThis.matchMedia?.(`(resolution: ${globalThis.devicePixelRatio}dppx)`);
    query?.addEventListener("change", onStoreChange, { once: true });
  };
  const onStoreChange = () => {
    listener();
    watch();
  };
  watch();
  return () => query?.removeEventListener("change", onStoreChange);
}

export function createViewStore(picture: Size) {
  let frame: Size = { width: 1, height: 1 };
  let view: View = fitted(picture, frame);
  /** Whether the picture is refitted on resize; true until the user moves it. */
  let isFitted = true;
  const changes = createStore(() => 0);
  const notify = () => changes.setState((count) => count + 1);

  function set(next: View, fits = false): void {
    isFitted = fits;
    if (next.x === view.x && next.y === view.y && next.scale === view.scale) return;
    view = next;
    notify();
  }
  const middle = (): Point => ({ x: frame.width / 2, y: frame.height / 2 });
  const zoom = (factor: number, at: Point = middle()) => set(zoomed(view, factor, at, picture, frame));

  return {
    subscribe: changes.subscribe,
    view: () => view,
    frame: () => frame,
    scale: () => view.scale,
    isFar: () => isFar(view.scale * deviceRatio()),
    resize(next: Size): void {
      if (next.width === 0 || next.height === 0) return;
      // Keeps the center in place.
      const shift = { x: (next.width - frame.width) / 2, y: (next.height - frame.height) / 2 };
      frame = next;
      set(isFitted ? fitted(picture, frame) : panView(view, shift, picture, frame), isFitted);
      notify();
    },
    fit: () => set(fitted(picture, frame), true),
    actual: () => zoom(1 / view.scale),
    zoomIn: () => zoom(ZOOM_STEP),
    zoomOut: () => zoom(1 / ZOOM_STEP),
    zoom,
    pan: (by: Point) => set(panView(view, by, picture, frame)),
    reveal: (point: Point) => set(revealPoint(view, point, picture, frame), isFitted),
  };
}

// The view: pixel (0, 0) of the picture is at (x, y) of the frame, and a pixel is `scale` wide. Some of the picture is always in the frame.

export type View = Viewport;

const MARGIN = 16;
/** A tiny picture is enlarged up to this scale. */
const MAX_FIT_SCALE = 8;
/** How much of the picture must stay in the frame, in pixels. */
const MIN_VISIBLE_PX = 48;

export function fitted(picture: Size, frame: Size): View {
  return fittedInto(picture, frame, { margin: MARGIN, largest: MAX_FIT_SCALE, scales: { least: 0, max: pictureScales.max } });
}

/** Zooms around `at`, which stays in place. */
export function zoomed(view: View, factor: number, at: Point, picture: Size, frame: Size): View {
  const minScale = Math.min(1, fitted(picture, frame).scale) / 2;
  return clampView(zoomedAt(view, factor, at, { least: minScale, max: pictureScales.max }), picture, frame);
}

export function panView(view: View, by: Point, picture: Size, frame: Size): View {
  return clampView({ ...view, x: view.x + by.x, y: view.y + by.y }, picture, frame);
}

/** Pans the picture so that the point is in the frame. */
export function revealPoint(view: View, point: Point, picture: Size, frame: Size): View {
  const at = toFrame(view, point);
  const room = Math.min(40, frame.width / 4, frame.height / 4);
  const shift = (position: number, edge: number) =>
    position < room ? room - position : position > edge - room ? edge - room - position : 0;
  const by = { x: shift(at.x, frame.width), y: shift(at.y, frame.height) };
  return by.x === 0 && by.y === 0 ? view : panView(view, by, picture, frame);
}

export function toPicture({ x, y, scale }: View, at: Point): Point {
  return { x: (at.x - x) / scale, y: (at.y - y) / scale };
}

export function toFrame({ x, y, scale }: View, point: Point): Point {
  return { x: point.x * scale + x, y: point.y * scale + y };
}

export function rectToFrame({ x, y, scale }: View, rect: Rect): Rect {
  return { left: rect.left * scale + x, top: rect.top * scale + y, right: rect.right * scale + x, bottom: rect.bottom * scale + y };
}

function clampView(view: View, picture: Size, frame: Size): View {
  const clampPosition = (position: number, length: number, edge: number) => {
    const minVisible = Math.min(MIN_VISIBLE_PX, length, edge);
    return Math.min(edge - minVisible, Math.max(minVisible - length, position));
  };
  return {
    scale: view.scale,
    x: clampPosition(view.x, picture.width * view.scale, frame.width),
    y: clampPosition(view.y, picture.height * view.scale, frame.height),
  };
}
