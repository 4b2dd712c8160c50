// Converts pointer and key input to strokes, areas and marks. Needs no DOM. Handles one gesture at a time. A cancelled gesture changes nothing.

import { createStore } from "zustand/vanilla";
import { fitView as fitContent, pictureScales, type Viewport, zoomView as zoomContent } from "@/components/ui/hooks/use-pan-zoom";
import { createLasso, createRectangle } from "../drawing/areas";
import { createRectFromCorners, isZoomedOut, type Point, type Rect, type Size } from "../drawing/coverage";
import { type MaskDocument } from "../drawing/mask-document";
import { type Command, type Settings } from "./settings";

/** The brush outline, the cursor and the selection outline, in pixels of the image. */
export type Marks = {
  brush?: { at: Point; diameter: number };
  cross?: Point;
  outline?: readonly Point[];
};
/** A pointer position, in pixels of the frame. */
export type Touch = Point & { pressure: number };

type Gesture =
  | { kind: "stroke" }
  | { kind: "rectangle"; from: Point; to: Point; isErasing: boolean }
  | { kind: "lasso"; points: Point[]; isErasing: boolean };
export type Painter = ReturnType<typeof createPainter>;

const PACE_PIXELS = { pixel: 0, step: 8, leap: 64 } as const;

export function createPainter({ drawing, views, settings }: { drawing: MaskDocument; views: ViewStore; settings: () => Settings }) {
  let gesture: Gesture | undefined;
  let hoverPoint: Point | undefined;
  let cursor: Point | undefined;
  const changes = createStore(() => 0);
  const { width, height } = drawing.coverage;

  function getMarks(): Marks {
    const { tool, diameter } = settings();
    const point = cursor ?? hoverPoint;
    return {
      ...(point && (tool === "brush" || tool === "eraser") && { brush: { at: point, diameter } }),
      ...(cursor && { cross: cursor }),
      ...(gesture?.kind === "lasso" && { outline: gesture.points }),
      ...(gesture?.kind === "rectangle" && { outline: getCorners(gesture) }),
    };
  }
  const notify = () => changes.setState((count) => count + 1);

  function startGesture(point: Point, pressure: number, isEraserEnd: boolean): void {
    const { tool, isErasing, diameter, hardness } = settings();
    const shouldErase = isErasing || isEraserEnd;
    if (tool === "brush" || tool === "eraser") {
      const brush = { diameter, hardness, isErasing: tool === "eraser" || isEraserEnd };
      if (drawing.startStroke(brush, { ...point, pressure }, views.isZoomedOut())) gesture = { kind: "stroke" };
    } else if (drawing.getState().isBusy) return;
    else if (tool === "rectangle") gesture = { kind: "rectangle", from: point, to: point, isErasing: shouldErase };
    else if (tool === "lasso") gesture = { kind: "lasso", points: [point], isErasing: shouldErase };
    else if (tool === "fill") void drawing.fill(point, shouldErase);
    notify();
  }
  function extend(points: readonly (Point & { pressure: number })[]): void {
    const lastPoint = points.at(-1);
    if (!lastPoint) return;
    if (gesture?.kind === "stroke") drawing.extendStroke(points, views.isZoomedOut());
    if (gesture?.kind === "lasso") gesture.points.push(...points.map(({ x, y }) => ({ x, y })));
    if (gesture?.kind === "rectangle") gesture.to = { x: lastPoint.x, y: lastPoint.y };
    if (!cursor) hoverPoint = lastPoint;
    notify();
  }
  function end(): void {
    const endedGesture = gesture;
    gesture = undefined;
    if (endedGesture?.kind === "stroke") void drawing.endStrokeInSlices();
    if (endedGesture?.kind === "lasso" && endedGesture.points.length > 2)
      void drawing.drawShape("lasso", createLasso({ width, height }, endedGesture.points), endedGesture.isErasing);
    if (endedGesture?.kind === "rectangle") {
      void drawing.drawShape(
        "rectangle",
        createRectangle({ width, height }, createRectFromCorners(endedGesture.from, endedGesture.to)),
        endedGesture.isErasing,
      );
    }
    notify();
  }
  function drop(): boolean {
    const hadGesture = gesture !== undefined;
    if (gesture?.kind === "stroke") drawing.cancelStroke();
    gesture = undefined;
    notify();
    return hadGesture;
  }
  const toPoint = (touch: Touch) => ({
    ...toImagePoint(views.getView(), touch),
    pressure: settings().followsPressure ? touch.pressure : 1,
  });

  /** Shows the cursor, initially in the center of the visible part. */
  function showCursor(): Point {
    const { x, y } = toImagePoint(views.getView(), { x: views.getFrame().width / 2, y: views.getFrame().height / 2 });
    cursor ??= toPixelCenter({ x, y });
    notify();
    return cursor;
  }
  /** Moves a point to the center of the nearest pixel of the image. */
  function toPixelCenter({ x, y }: Point): Point {
    const clampToPixel = (value: number, max: number) => Math.min(max - 1, Math.max(0, Math.floor(value))) + 0.5;
    return { x: clampToPixel(x, width), y: clampToPixel(y, height) };
  }
  function moveCursor({ dx, dy, pace }: Extract<Command, { do: "cursor" }>): void {
    const { x, y } = showCursor();
    const step = Math.max(1, Math.round(PACE_PIXELS[pace] / views.getScale()));
    cursor = toPixelCenter({ x: x + dx * step, y: y + dy * step });
    views.reveal(cursor);
    if (gesture) extend([{ ...cursor, pressure: 1 }]);
    notify();
  }

  return {
    subscribe: changes.subscribe,
    start: (touch: Touch, isEraserEnd: boolean) => {
      cursor = undefined;
      const { pressure, ...point } = toPoint(touch);
      startGesture(point, pressure, isEraserEnd);
    },
    extend: (touches: readonly Touch[]) => extend(touches.map(toPoint)),
    end,
    drop,
    hover(framePoint: Point | undefined): void {
      if (gesture && cursor) return;
      cursor = undefined;
      hoverPoint = framePoint && toImagePoint(views.getView(), framePoint);
      notify();
    },
    showCursor,
    hideCursor(): void {
      if (gesture && cursor) end();
      cursor = undefined;
      notify();
    },
    getCursor: () => cursor,
    moveCursor,
    /** Handles Space down: starts drawing until Space up. Returns false without a cursor. */
    press(): boolean {
      if (!cursor) return false;
      if (!gesture) startGesture(cursor, 1, false);
      return true;
    },
    /** Handles Space up. */
    release(): void {
      if (cursor && gesture) end();
    },
    /** Handles Enter: starts drawing, or ends it. */
    toggleDrawing(): void {
      if (gesture) return end();
      startGesture(showCursor(), 1, false);
    },
    getMarks,
  };
}

function getCorners({ from, to }: { from: Point; to: Point }): Point[] {
  const { left, top, right, bottom } = createRectFromCorners(from, to);
  return [
    { x: left, y: top },
    { x: right, y: top },
    { x: right, y: bottom },
    { x: left, y: bottom },
  ];
}

// Stores the view and the size of its frame outside React, because panning redraws only the canvases.

export type ViewStore = ReturnType<typeof createViewStore>;

const ZOOM_STEP = 1.25;

/** Returns the number of screen pixels per page pixel, at most two. Higher values take longer to draw but look the same. */
export function getDeviceRatio(): number {
  return Math.min(2, globalThis.devicePixelRatio || 1);
}

/** Reports changes of the pixel ratio, for example when the page is zoomed or moved to another screen. */
export function subscribeToDeviceRatio(listener: () => void): () => void {
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
  let view: View = fitView(picture, frame);
  /** Whether the image is fitted again on resize. True until the user moves it. */
  let isFitted = true;
  const changes = createStore(() => 0);
  const notify = () => changes.setState((count) => count + 1);

  function setView(nextView: View, shouldFit = false): void {
    isFitted = shouldFit;
    if (nextView.x === view.x && nextView.y === view.y && nextView.scale === view.scale) return;
    view = nextView;
    notify();
  }
  const getCenter = (): Point => ({ x: frame.width / 2, y: frame.height / 2 });
  const zoom = (factor: number, anchor: Point = getCenter()) => setView(zoomView(view, factor, anchor, picture, frame));

  return {
    subscribe: changes.subscribe,
    getView: () => view,
    getFrame: () => frame,
    getScale: () => view.scale,
    isZoomedOut: () => isZoomedOut(view.scale * getDeviceRatio()),
    resize(newFrame: Size): void {
      if (newFrame.width === 0 || newFrame.height === 0) return;
      // Keeps the center in place.
      const shift = { x: (newFrame.width - frame.width) / 2, y: (newFrame.height - frame.height) / 2 };
      frame = newFrame;
      setView(isFitted ? fitView(picture, frame) : panView(view, shift, picture, frame), isFitted);
      notify();
    },
    fit: () => setView(fitView(picture, frame), true),
    showActualSize: () => zoom(1 / view.scale),
    zoomIn: () => zoom(ZOOM_STEP),
    zoomOut: () => zoom(1 / ZOOM_STEP),
    zoom,
    pan: (offset: Point) => setView(panView(view, offset, picture, frame)),
    reveal: (point: Point) => setView(revealPoint(view, point, picture, frame), isFitted),
  };
}

// In a view, pixel (0, 0) of the image is at (x, y) of the frame, and a pixel is `scale` wide. Part of the image is always in the frame.

export type View = Viewport;

const FIT_MARGIN_PX = 16;
/** A tiny image is enlarged up to this scale. */
const MAX_FIT_SCALE = 8;
/** The part of the image that must stay in the frame, in pixels. */
const MIN_VISIBLE_PX = 48;

export function fitView(picture: Size, frame: Size): View {
  return fitContent(picture, frame, { margin: FIT_MARGIN_PX, largest: MAX_FIT_SCALE, scales: { min: 0, max: pictureScales.max } });
}

/** Zooms around `anchor`, which stays in place. */
export function zoomView(view: View, factor: number, anchor: Point, picture: Size, frame: Size): View {
  const minScale = Math.min(1, fitView(picture, frame).scale) / 2;
  return clampView(zoomContent(view, factor, anchor, { min: minScale, max: pictureScales.max }), picture, frame);
}

export function panView(view: View, offset: Point, picture: Size, frame: Size): View {
  return clampView({ ...view, x: view.x + offset.x, y: view.y + offset.y }, picture, frame);
}

/** Pans the image so that the point is in the frame. */
export function revealPoint(view: View, point: Point, picture: Size, frame: Size): View {
  const framePoint = toFramePoint(view, point);
  const marginPx = Math.min(40, frame.width / 4, frame.height / 4);
  const getShift = (position: number, frameLength: number) =>
    position < marginPx ? marginPx - position : position > frameLength - marginPx ? frameLength - marginPx - position : 0;
  const offset = { x: getShift(framePoint.x, frame.width), y: getShift(framePoint.y, frame.height) };
  return offset.x === 0 && offset.y === 0 ? view : panView(view, offset, picture, frame);
}

export function toImagePoint({ x, y, scale }: View, framePoint: Point): Point {
  return { x: (framePoint.x - x) / scale, y: (framePoint.y - y) / scale };
}

export function toFramePoint({ x, y, scale }: View, point: Point): Point {
  return { x: point.x * scale + x, y: point.y * scale + y };
}

export function toFrameRect({ x, y, scale }: View, rect: Rect): Rect {
  return { left: rect.left * scale + x, top: rect.top * scale + y, right: rect.right * scale + x, bottom: rect.bottom * scale + y };
}

function clampView(view: View, picture: Size, frame: Size): View {
  const clampPosition = (position: number, length: number, frameLength: number) => {
    const minVisible = Math.min(MIN_VISIBLE_PX, length, frameLength);
    return Math.min(frameLength - minVisible, Math.max(minVisible - length, position));
  };
  return {
    scale: view.scale,
    x: clampPosition(view.x, picture.width * view.scale, frame.width),
    y: clampPosition(view.y, picture.height * view.scale, frame.height),
  };
}
