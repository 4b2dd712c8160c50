// Three stacked canvases: the picture, the mask, the marks. Drawn once per frame, and of the mask only what changed.
// Guarantees: the cost depends on the window's size, not the picture's; nothing is drawn after `close`.

import { clipped, isEmpty, joined, outward, type Point, type Rect, wholeOf } from "../drawing/geometry";
import { type MaskDocument } from "../drawing/mask-document";
import { createSampler, type Look, type Sampler } from "../drawing/screen-pixels";
import { rectToFrame, toFrame, toPicture, type View } from "../drawing/viewport";
import { type ShownPicture } from "../file/shown-picture";
import { type Marks } from "./painter";
import { deviceRatio, type ViewStore } from "./view-store";

type Canvases = { picture: HTMLCanvasElement; mask: HTMLCanvasElement; marks: HTMLCanvasElement };
export type Surface = { setLook: (look: Look) => void; setMarks: (marks: Marks) => void; close: () => void };

/** A full-resolution part is requested when the view has not changed for this long. */
const STILL_MS = 200;
const SHARP_FROM = 3;

/** Undefined if the browser provides no canvas context. */
export function createSurface(
  canvases: Canvases,
  drawing: MaskDocument,
  views: ViewStore,
  shown: ShownPicture | undefined,
): Surface | undefined {
  if (typeof CanvasRenderingContext2D === "undefined") return undefined;
  const picture = canvases.picture.getContext("2d");
  const mask = canvases.mask.getContext("2d", { willReadFrequently: true });
  const over = canvases.marks.getContext("2d");
  if (!picture || !mask || !over) return undefined;
  let sample: Sampler = createSampler(drawing.coverage, drawing.coarse, { kind: "mask" });
  let marks: Marks = {};
  let dirty: Rect | undefined;
  let isMoved = true;
  let ratio = 0;
  let frame = 0;
  let still: ReturnType<typeof setTimeout> | undefined;
  let turn = 0;

  const onDevice = (): View => {
    const { x, y, scale } = views.view();
    const ratio = deviceRatio();
    return { x: x * ratio, y: y * ratio, scale: scale * ratio };
  };
  const allOfIt = () => wholeOf(canvases.mask);

  function ask(): void {
    frame ||= requestAnimationFrame(draw);
  }
  function draw(): void {
    frame = 0;
    // The window may move to another screen without an event: what was drawn for one screen would be misplaced on the other.
    isMoved ||= ratio !== deviceRatio();
    ratio = deviceRatio();
    const view = onDevice();
    if (isMoved) {
      fitCanvases();
      drawPicture(view);
      drawMask(view, allOfIt());
    } else if (dirty) drawMask(view, clipped(outward(grown(rectToFrame(view, dirty), 2)), allOfIt()));
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
    if (!shown) return;
    picture.imageSmoothingEnabled = view.scale < SHARP_FROM;
    picture.imageSmoothingQuality = "medium";
    picture.setTransform(view.scale, 0, 0, view.scale, view.x, view.y);
    picture.drawImage(shown.bitmap, 0, 0, shown.size.width, shown.size.height);
    askForPart(view, shown);
  }
  function askForPart(view: View, { part, bitmap, size }: ShownPicture): void {
    clearTimeout(still);
    const mine = (turn += 1);
    if (!part || view.scale <= (bitmap.width / size.width) * 1.1) return;
    still = setTimeout(() => {
      const [from, to] = [toPicture(view, { x: 0, y: 0 }), toPicture(view, { x: canvases.mask.width, y: canvases.mask.height })];
      const rect = clipped(outward({ left: from.x, top: from.y, right: to.x, bottom: to.y }), wholeOf(size));
      if (isEmpty(rect)) return;
      part(rect).then(
        (sharp) => {
          if (mine === turn) picture?.drawImage(sharp, rect.left, rect.top, rect.right - rect.left, rect.bottom - rect.top);
          sharp.close();
        },
        // On failure the scaled picture stays.
        () => undefined,
      );
    }, STILL_MS);
  }
  function drawMask(view: View, rect: Rect): void {
    if (isEmpty(rect)) return;
    const pixels = new ImageData(rect.right - rect.left, rect.bottom - rect.top);
    sample(view, rect, new Uint32Array(pixels.data.buffer));
    mask?.putImageData(pixels, rect.left, rect.top);
  }
  function drawMarks(view: View): void {
    if (!over) return;
    over.clearRect(0, 0, canvases.marks.width, canvases.marks.height);
    const { brush, cross, outline } = marks;
    if (brush) {
      const { x, y } = toFrame(view, brush.at);
      ring(over, () => over.arc(x, y, Math.max(2, (brush.diameter / 2) * view.scale), 0, 2 * Math.PI));
    }
    if (cross) {
      const { x, y } = toFrame(view, cross);
      ring(over, () => plus(over, x, y, 9 * deviceRatio()));
    }
    if (outline)
      ring(
        over,
        () =>
          path(
            over,
            outline.map((point) => toFrame(view, point)),
          ),
        true,
      );
  }

  const stops = [
    views.subscribe(() => {
      isMoved = true;
      ask();
    }),
    drawing.onPaint((rect) => {
      dirty = joined(dirty, rect);
      ask();
    }),
  ];
  ask();
  return {
    setLook(look) {
      sample = createSampler(drawing.coverage, drawing.coarse, look);
      dirty = wholeOf(drawing.coverage);
      ask();
    },
    setMarks(next) {
      marks = next;
      ask();
    },
    close() {
      for (const stop of stops) stop();
      cancelAnimationFrame(frame);
      clearTimeout(still);
      turn += 1;
    },
  };
}

function grown({ left, top, right, bottom }: Rect, by: number): Rect {
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
