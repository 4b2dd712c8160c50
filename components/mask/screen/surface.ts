// Three stacked canvases: the picture, the mask, the marks. Drawn at most once per frame; of the mask only the changed area. The cost depends on
// the window's size, not the picture's.

import {
  COARSE,
  type CoarseCoverage,
  type Coverage,
  fullRect,
  intersect,
  isEmpty,
  isFar,
  type Point,
  type Rect,
  roundOut,
  union,
} from "../drawing/coverage";
import { type MaskDocument } from "../drawing/mask-document";
import { type ShownPicture } from "../file/picture-file";
import { deviceRatio, type Marks, rectToFrame, toFrame, toPicture, type View, type ViewStore } from "./painter";

type Canvases = { picture: HTMLCanvasElement; mask: HTMLCanvasElement; marks: HTMLCanvasElement };
export type Surface = { setLook: (look: Look) => void; setMarks: (marks: Marks) => void; close: () => void };

/** A full-resolution part is requested when the view has not changed for this long. */
const SHARP_DELAY_MS = 200;
const MIN_SHARP_SCALE = 3;

/** Undefined if the browser provides no canvas context. */
export function createSurface(
  canvases: Canvases,
  drawing: MaskDocument,
  views: ViewStore,
  shownPicture: ShownPicture | undefined,
): Surface | undefined {
  if (typeof CanvasRenderingContext2D === "undefined") return undefined;
  const picture = canvases.picture.getContext("2d");
  const mask = canvases.mask.getContext("2d", { willReadFrequently: true });
  const marksContext = canvases.marks.getContext("2d");
  if (!picture || !mask || !marksContext) return undefined;
  let sample: Sampler = createSampler(drawing.coverage, drawing.coarse, { kind: "mask" });
  let marks: Marks = {};
  let dirty: Rect | undefined;
  let isMoved = true;
  let ratio = 0;
  let frame = 0;
  let partTimer: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;

  const getDeviceView = (): View => {
    const { x, y, scale } = views.view();
    const ratio = deviceRatio();
    return { x: x * ratio, y: y * ratio, scale: scale * ratio };
  };
  const getFullRect = () => fullRect(canvases.mask);

  function scheduleDraw(): void {
    frame ||= requestAnimationFrame(draw);
  }
  function draw(): void {
    frame = 0;
    // The window may move to another screen without an event, which changes the pixel ratio.
    isMoved ||= ratio !== deviceRatio();
    ratio = deviceRatio();
    const view = getDeviceView();
    if (isMoved) {
      fitCanvases();
      drawPicture(view);
      drawMask(view, getFullRect());
    } else if (dirty) drawMask(view, intersect(roundOut(expandRect(rectToFrame(view, dirty), 2)), getFullRect()));
    isMoved = false;
    dirty = undefined;
    drawMarks(view);
  }
  function fitCanvases(): void {
    const { width, height } = views.frame();
    const [wide, high] = [Math.max(1, Math.round(width * deviceRatio())), Math.max(1, Math.round(height * deviceRatio()))];
    for (const canvas of Object.values(canvases)) {
      if (canvas.width !== wide) canvas.width = wide;
      if (canvas.height !== high) canvas.height = high;
    }
  }
  function drawPicture(view: View): void {
    if (!picture) return;
    picture.setTransform(1, 0, 0, 1, 0, 0);
    picture.clearRect(0, 0, canvases.picture.width, canvases.picture.height);
    if (!shownPicture) return;
    picture.imageSmoothingEnabled = view.scale < MIN_SHARP_SCALE;
    picture.imageSmoothingQuality = "medium";
    picture.setTransform(view.scale, 0, 0, view.scale, view.x, view.y);
    picture.drawImage(shownPicture.bitmap, 0, 0, shownPicture.size.width, shownPicture.size.height);
    requestPart(view, shownPicture);
  }
  function requestPart(view: View, { part, bitmap, size }: ShownPicture): void {
    clearTimeout(partTimer);
    const drawTurn = (turn += 1);
    if (!part || view.scale <= (bitmap.width / size.width) * 1.1) return;
    partTimer = setTimeout(() => {
      const [from, to] = [toPicture(view, { x: 0, y: 0 }), toPicture(view, { x: canvases.mask.width, y: canvases.mask.height })];
      const rect = intersect(roundOut({ left: from.x, top: from.y, right: to.x, bottom: to.y }), fullRect(size));
      if (isEmpty(rect)) return;
      part(rect).then(
        (sharp) => {
          if (drawTurn === turn) picture?.drawImage(sharp, rect.left, rect.top, rect.right - rect.left, rect.bottom - rect.top);
          sharp.close();
        },
        // On failure the scaled picture is kept.
        () => undefined,
      );
    }, SHARP_DELAY_MS);
  }
  function drawMask(view: View, rect: Rect): void {
    if (isEmpty(rect)) return;
    const pixels = new ImageData(rect.right - rect.left, rect.bottom - rect.top);
    sample(view, rect, new Uint32Array(pixels.data.buffer));
    mask?.putImageData(pixels, rect.left, rect.top);
  }
  function drawMarks(view: View): void {
    if (!marksContext) return;
    marksContext.clearRect(0, 0, canvases.marks.width, canvases.marks.height);
    const { brush, cross, outline } = marks;
    if (brush) {
      const { x, y } = toFrame(view, brush.at);
      ring(marksContext, () => marksContext.arc(x, y, Math.max(2, (brush.diameter / 2) * view.scale), 0, 2 * Math.PI));
    }
    if (cross) {
      const { x, y } = toFrame(view, cross);
      ring(marksContext, () => plus(marksContext, x, y, 9 * deviceRatio()));
    }
    if (outline)
      ring(
        marksContext,
        () =>
          path(
            marksContext,
            outline.map((point) => toFrame(view, point)),
          ),
        true,
      );
  }

  const stops = [
    views.subscribe(() => {
      isMoved = true;
      scheduleDraw();
    }),
    drawing.onPaint((rect) => {
      dirty = union(dirty, rect);
      scheduleDraw();
    }),
  ];
  scheduleDraw();
  return {
    setLook(look) {
      sample = createSampler(drawing.coverage, drawing.coarse, look);
      dirty = fullRect(drawing.coverage);
      scheduleDraw();
    },
    setMarks(next) {
      marks = next;
      scheduleDraw();
    },
    close() {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
      clearTimeout(partTimer);
      turn += 1;
    },
  };
}

function expandRect({ left, top, right, bottom }: Rect, by: number): Rect {
  return { left: left - by, top: top - by, right: right + by, bottom: bottom + by };
}

/** A dark and a light line side by side, visible on every picture. */
function ring(context: CanvasRenderingContext2D, draw: () => void, isDashed = false): void {
  const unit = deviceRatio();
  for (const [colour, wide] of [
    ["#000", 3],
    ["#fff", 1.25],
  ] as const) {
    context.beginPath();
    draw();
    context.setLineDash(isDashed && colour === "#fff" ? [5 * unit, 4 * unit] : []);
    context.lineWidth = wide * unit;
    context.strokeStyle = colour;
    context.stroke();
  }
}

function plus(context: CanvasRenderingContext2D, x: number, y: number, arm: number): void {
  context.moveTo(x - arm, y);
  context.lineTo(x + arm, y);
  context.moveTo(x, y - arm);
  context.lineTo(x, y + arm);
}

function path(context: CanvasRenderingContext2D, points: readonly Point[]): void {
  for (const [index, { x, y }] of points.entries()) {
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  context.closePath();
}

// Samples the mask at the screen's pixels, so that the cost depends on the window's size. When zoomed out it uses means, so that thin lines
// stay visible.

/** overlay: colour over the picture; mask: white on black; result: painted parts are transparent. */
export type Look =
  { kind: "overlay"; colour: readonly [number, number, number] } | { kind: "mask" } | { kind: "result"; board: readonly [number, number] };

/** Little-endian RGBA words by coverage; two tables for a checkerboard. */
function createTables(look: Look): readonly [Uint32Array, Uint32Array] {
  const table = (make: (value: number) => readonly [number, number, number, number]) =>
    Uint32Array.from({ length: 256 }, (_, value) => {
      const [red, green, blue, alpha] = make(value);
      return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
  if (look.kind === "overlay") {
    const [red, green, blue] = look.colour;
    const words = table((value) => [red, green, blue, value]);
    return [words, words];
  }
  if (look.kind === "mask") {
    const words = table((value) => [value, value, value, 255]);
    return [words, words];
  }
  const [first, second] = look.board;
  return [table((value) => [first, first, first, value]), table((value) => [second, second, second, value])];
}

export type Sampler = (view: View, rect: Rect, into: Uint32Array) => void;

export function createSampler(coverage: Coverage, coarse: CoarseCoverage, look: Look): Sampler {
  const [even, odd] = createTables(look);
  const isBoard = even !== odd;
  return (view, rect, into) => {
    const usesMeans = isFar(view.scale);
    const from: Coverage = usesMeans ? coarse : coverage;
    const step = 1 / (usesMeans ? view.scale * COARSE : view.scale);
    const [startX, startY] = [-view.x * step, -view.y * step];
    const { width, height, data } = from;
    const columns = rect.right - rect.left;
    // Takes two samples each way if a screen pixel covers more than one pixel of the picture.
    const isFine = step > 1.3;
    const [near, far] = isFine ? [0.25, 0.75] : [0.5, 0.5];
    const ones = mapColumns(rect, startX, step, near, width);
    const columnStarts = isFine ? mapColumns(rect, startX, step, far, width) : ones;
    for (let y = rect.top, at = 0; y < rect.bottom; y += 1, at += columns) {
      const row = Math.floor(startY + (y + near) * step);
      if (row < 0 || row >= height) {
        into.fill(0, at, at + columns);
        continue;
      }
      const rowStart = row * width;
      const second = isFine ? Math.min(height - 1, Math.floor(startY + (y + far) * step)) * width : rowStart;
      for (let column = 0; column < columns; column += 1) {
        const x = ones[column] ?? -1;
        if (x < 0) {
          into[at + column] = 0;
          continue;
        }
        const x2 = columnStarts[column] ?? x;
        const value = isFine
          ? ((data[rowStart + x] ?? 0) + (data[rowStart + x2] ?? 0) + (data[second + x] ?? 0) + (data[second + x2] ?? 0) + 2) >> 2
          : (data[rowStart + x] ?? 0);
        const words = isBoard && (((rect.left + column) >> 3) + (y >> 3)) % 2 === 1 ? odd : even;
        into[at + column] = words[value] ?? 0;
      }
    }
  };
}

/** The picture's column for each column of the screen; -1 outside the picture. */
function mapColumns(rect: Rect, start: number, step: number, offset: number, width: number): Int32Array {
  return Int32Array.from({ length: rect.right - rect.left }, (_, index) => {
    const x = Math.floor(start + (rect.left + index + offset) * step);
    return x < 0 ? -1 : x >= width ? (offset > 0.5 ? width - 1 : -1) : x;
  });
}
