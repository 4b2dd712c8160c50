// Laying one image over another at a place, through a mask. What would lie outside the destination is left out.

import { frameAt, mapFrames, type Raster, type Tick } from "./raster";
import { scaleRaster } from "./scale";

const f = Math.fround;

export type Placement = { x: number; y: number; resizeSource: boolean; mask?: Raster };

/** The result has the size and the batch of the destination; the others are repeated, or cut, to that batch. */
export function compositeRasters(destination: Raster, source: Raster, placement: Placement, tick: Tick): Raster {
  const none: Tick = () => undefined;
  const laid = placement.resizeSource ? scaleRaster(source, destination, "bilinear", none) : source;
  const mask = placement.mask && scaleRaster(placement.mask, laid, "bilinear", none);
  const left = clampTo(placement.x, laid.width, destination.width);
  const top = clampTo(placement.y, laid.height, destination.height);
  const columns = { from: Math.max(0, -left), to: Math.min(laid.width, destination.width - left) };
  const rows = { from: Math.max(0, -top), to: Math.min(laid.height, destination.height - top) };
  return mapFrames(
    destination,
    destination,
    (frame, part, index) => {
      const out = frame.slice();
      const over = frameAt(laid, index);
      const cover = mask && frameAt(mask, index);
      for (let y = rows.from; y < rows.to; y++) {
        for (let x = columns.from; x < columns.to; x++) {
          const from = y * laid.width + x;
          const to = ((y + top) * destination.width + x + left) * destination.channels;
          const m = cover?.[from] ?? 1;
          const inverse = f(1 - m);
          for (let c = 0; c < destination.channels; c++) {
            out[to + c] = f(m * (over[from * laid.channels + c] ?? 0)) + f(inverse * (frame[to + c] ?? 0));
          }
        }
        part((y + 1) / rows.to);
      }
      return out;
    },
    tick,
  );
}

function clampTo(place: number, own: number, whole: number): number {
  return Math.max(-own, Math.min(place, whole));
}
