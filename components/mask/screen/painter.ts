// Turns pointer and key input into strokes, areas and marks. Needs no DOM. One gesture at a time; a dropped gesture changes nothing.

import { createStore } from "zustand/vanilla";
import { lasso, rectangle } from "../drawing/areas";
import { type Point, rectBetween } from "../drawing/coverage";
import { type MaskDocument } from "../drawing/mask-document";
import { type Command, type Settings } from "./settings";
import { toPicture, type ViewStore } from "./view-store";

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
