// Draws three stacked canvases: the image, the mask and the marks. They are drawn at most once per frame, and only the changed area of the mask.
// The cost depends on the size of the window, not the size of the image.

import {
  COARSE_FACTOR,
  type CoarseCoverage,
  type Coverage,
  fullRect,
  intersect,
  isEmpty,
  isZoomedOut,
  type Point,
  type Rect,
  roundOut,
  union,
} from "../drawing/coverage";
import { type MaskDocument } from "../drawing/mask-document";
import { type DisplayedImage } from "../file/mask-source";
import { getDeviceRatio, type Marks, toFramePoint, toFrameRect, toImagePoint, type View, type ViewStore } from "./painter";

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
  shownPicture: DisplayedImage | undefined,
): Surface | undefined {
  if (typeof CanvasRenderingContext2D === "undefined") return undefined;
  const picture = canvases.picture.getContext("2d");
  const mask = canvases.mask.getContext("2d", { willReadFrequently: true });
  const marksContext = canvases.marks.getContext("2d");
  if (!picture || !mask || !marksContext) return undefined;
  let sampleMask: Sampler = createSampler(drawing.coverage, drawing.coarse, { kind: "mask" });
  let marks: Marks = {};
  let dirtyRect: Rect | undefined;
  let hasViewChanged = true;
  let ratio = 0;
  let frame = 0;
  let partTimer: ReturnType<typeof setTimeout> | undefined;
  let currentVersion = 0;

  const getDeviceView = (): View => {
    const { x, y, scale } = views.getView();
    const ratio = getDeviceRatio();
    return { x: x * ratio, y: y * ratio, scale: scale * ratio };
  };
  const getFullRect = () => fullRect(canvases.mask);

  function scheduleDraw(): void {
    frame ||= requestAnimationFrame(draw);
  }
  function draw(): void {
    frame = 0;
    // The pixel ratio changes without an event when the window moves to another screen.
    hasViewChanged ||= ratio !== getDeviceRatio();
    ratio = getDeviceRatio();
    const view = getDeviceView();
    if (hasViewChanged) {
      fitCanvases();
      drawPicture(view);
      drawMask(view, getFullRect());
    } else if (dirtyRect) drawMask(view, intersect(roundOut(expandRect(toFrameRect(view, dirtyRect), 2)), getFullRect()));
    hasViewChanged = false;
    dirtyRect = undefined;
    drawMarks(view);
  }
  function fitCanvases(): void {
    const { width, height } = views.getFrame();
    const [pixelWidth, pixelHeight] = [
      Math.max(1, Math.round(width * getDeviceRatio())),
      Math.max(1, Math.round(height * getDeviceRatio())),
    ];
    for (const canvas of Object.values(canvases)) {
      if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
      if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
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
  function requestPart(view: View, { part, bitmap, size }: DisplayedImage): void {
    clearTimeout(partTimer);
    const version = (currentVersion += 1);
    if (!part || view.scale <= (bitmap.width / size.width) * 1.1) return;
    partTimer = setTimeout(() => {
      const start = toImagePoint(view, { x: 0, y: 0 });
      const end = toImagePoint(view, { x: canvases.mask.width, y: canvases.mask.height });
      const rect = intersect(roundOut({ left: start.x, top: start.y, right: end.x, bottom: end.y }), fullRect(size));
      if (isEmpty(rect)) return;
      part(rect).then(
        (bitmap) => {
          if (version === currentVersion) picture?.drawImage(bitmap, rect.left, rect.top, rect.right - rect.left, rect.bottom - rect.top);
          bitmap.close();
        },
        // On failure, the scaled image is kept.
        () => undefined,
      );
    }, SHARP_DELAY_MS);
  }
  function drawMask(view: View, rect: Rect): void {
    if (isEmpty(rect)) return;
    const pixels = new ImageData(rect.right - rect.left, rect.bottom - rect.top);
    sampleMask(view, rect, new Uint32Array(pixels.data.buffer));
    mask?.putImageData(pixels, rect.left, rect.top);
  }
  function drawMarks(view: View): void {
    if (!marksContext) return;
    marksContext.clearRect(0, 0, canvases.marks.width, canvases.marks.height);
    const { brush, cross, outline } = marks;
    if (brush) {
      const { x, y } = toFramePoint(view, brush.at);
      strokeOutline(marksContext, () => marksContext.arc(x, y, Math.max(2, (brush.diameter / 2) * view.scale), 0, 2 * Math.PI));
    }
    if (cross) {
      const { x, y } = toFramePoint(view, cross);
      strokeOutline(marksContext, () => addCross(marksContext, x, y, 9 * getDeviceRatio()));
    }
    if (outline)
      strokeOutline(
        marksContext,
        () =>
          addPolygon(
            marksContext,
            outline.map((point) => toFramePoint(view, point)),
          ),
        true,
      );
  }

  const unsubscribers = [
    views.subscribe(() => {
      hasViewChanged = true;
      scheduleDraw();
    }),
    drawing.onPaint((rect) => {
      dirtyRect = union(dirtyRect, rect);
      scheduleDraw();
    }),
  ];
  scheduleDraw();
  return {
    setLook(look) {
      sampleMask = createSampler(drawing.coverage, drawing.coarse, look);
      dirtyRect = fullRect(drawing.coverage);
      scheduleDraw();
    },
    setMarks(newMarks) {
      marks = newMarks;
      scheduleDraw();
    },
    close() {
      for (const unsubscribe of unsubscribers) unsubscribe();
      cancelAnimationFrame(frame);
      clearTimeout(partTimer);
      currentVersion += 1;
    },
  };
}

function expandRect({ left, top, right, bottom }: Rect, margin: number): Rect {
  return { left: left - margin, top: top - margin, right: right + margin, bottom: bottom + margin };
}

/** Draws a dark and a light line, so that the outline is visible on every image. */
function strokeOutline(context: CanvasRenderingContext2D, draw: () => void, isDashed = false): void {
  const unit = getDeviceRatio();
  for (const [colour, width] of [
    ["#000", 3],
    ["#fff", 1.25],
  ] as const) {
    context.beginPath();
    draw();
    context.setLineDash(isDashed && colour === "#fff" ? [5 * unit, 4 * unit] : []);
    context.lineWidth = width * unit;
    context.strokeStyle = colour;
    context.stroke();
  }
}

function addCross(context: CanvasRenderingContext2D, x: number, y: number, arm: number): void {
  context.moveTo(x - arm, y);
  context.lineTo(x + arm, y);
  context.moveTo(x, y - arm);
  context.lineTo(x, y + arm);
}

function addPolygon(context: CanvasRenderingContext2D, points: readonly Point[]): void {
  for (const [index, { x, y }] of points.entries()) {
    if (index === 0) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  context.closePath();
}

// Samples the mask at the screen's pixels, so that the cost depends on the size of the window. When zoomed out, samples the coarse coverage, so
// that thin lines stay visible.

/** `overlay`: a colour over the image. `mask`: white on black. `result`: painted parts are transparent. */
export type Look =
  { kind: "overlay"; colour: readonly [number, number, number] } | { kind: "mask" } | { kind: "result"; board: readonly [number, number] };

/** Creates tables from coverage to little-endian RGBA values. A checkerboard needs two tables. */
function createTables(look: Look): readonly [Uint32Array, Uint32Array] {
  const createTable = (getPixel: (value: number) => readonly [number, number, number, number]) =>
    Uint32Array.from({ length: 256 }, (_, value) => {
      const [red, green, blue, alpha] = getPixel(value);
      return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
  if (look.kind === "overlay") {
    const [red, green, blue] = look.colour;
    const pixelTable = createTable((value) => [red, green, blue, value]);
    return [pixelTable, pixelTable];
  }
  if (look.kind === "mask") {
    const pixelTable = createTable((value) => [value, value, value, 255]);
    return [pixelTable, pixelTable];
  }
  const [evenGrey, oddGrey] = look.board;
  return [createTable((value) => [evenGrey, evenGrey, evenGrey, value]), createTable((value) => [oddGrey, oddGrey, oddGrey, value])];
}

export type Sampler = (view: View, rect: Rect, target: Uint32Array) => void;

export function createSampler(coverage: Coverage, coarse: CoarseCoverage, look: Look): Sampler {
  const [evenTable, oddTable] = createTables(look);
  const isCheckerboard = evenTable !== oddTable;
  return (view, rect, target) => {
    const isCoarse = isZoomedOut(view.scale);
    const source: Coverage = isCoarse ? coarse : coverage;
    const step = 1 / (isCoarse ? view.scale * COARSE_FACTOR : view.scale);
    const [startX, startY] = [-view.x * step, -view.y * step];
    const { width, height, data } = source;
    const columnCount = rect.right - rect.left;
    // Takes two samples in each direction if a screen pixel covers more than one pixel of the image.
    const shouldSampleTwice = step > 1.3;
    const [nearOffset, farOffset] = shouldSampleTwice ? [0.25, 0.75] : [0.5, 0.5];
    const nearColumns = mapColumns(rect, startX, step, nearOffset, width);
    const farColumns = shouldSampleTwice ? mapColumns(rect, startX, step, farOffset, width) : nearColumns;
    for (let y = rect.top, offset = 0; y < rect.bottom; y += 1, offset += columnCount) {
      const row = Math.floor(startY + (y + nearOffset) * step);
      if (row < 0 || row >= height) {
        target.fill(0, offset, offset + columnCount);
        continue;
      }
      const rowStart = row * width;
      const secondRowStart = shouldSampleTwice ? Math.min(height - 1, Math.floor(startY + (y + farOffset) * step)) * width : rowStart;
      for (let column = 0; column < columnCount; column += 1) {
        const x = nearColumns[column] ?? -1;
        if (x < 0) {
          target[offset + column] = 0;
          continue;
        }
        const x2 = farColumns[column] ?? x;
        const value = shouldSampleTwice
          ? ((data[rowStart + x] ?? 0) +
              (data[rowStart + x2] ?? 0) +
              (data[secondRowStart + x] ?? 0) +
              (data[secondRowStart + x2] ?? 0) +
              2) >>
            2
          : (data[rowStart + x] ?? 0);
        const table = isCheckerboard && (((rect.left + column) >> 3) + (y >> 3)) % 2 === 1 ? oddTable : evenTable;
        target[offset + column] = table[value] ?? 0;
      }
    }
  };
}

/** Returns the column of the image for each column of the screen, or -1 outside the image. */
function mapColumns(rect: Rect, start: number, step: number, offset: number, width: number): Int32Array {
  return Int32Array.from({ length: rect.right - rect.left }, (_, index) => {
    const x = Math.floor(start + (rect.left + index + offset) * step);
    return x < 0 ? -1 : x >= width ? (offset > 0.5 ? width - 1 : -1) : x;
  });
}
