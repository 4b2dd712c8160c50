// Lays one image over another at a position, through a mask. What would lie outside the destination is left out.

import { mapSamples, type Raster, sameSize, samplesAt, type Size } from "./raster";
import { scaleRaster } from "./scale";
import { stages, type Tick } from "./tick";

const f = Math.fround;

export type Placement = { x: number; y: number; resizeSource: boolean; mask?: Raster };

/** At most as many frames as the batch below has: others would never be seen. */
function cutTo(raster: Raster, count: number): Raster {
  return raster.frames.length <= count ? raster : { ...raster, frames: raster.frames.slice(0, count) };
}

/** The pixels that are made in addition to the result, in frames of their sizes. */
export function compositeExtra(destination: Raster, source: Raster, { resizeSource, mask }: Placement): { size: Size; frames: number }[] {
  const count = destination.frames.length;
  const laid: Size = resizeSource ? destination : source;
  return [
    ...(sameSize(laid, source) ? [] : [{ size: laid, frames: Math.min(count, source.frames.length) }]),
    ...(mask && !sameSize(mask, laid) ? [{ size: laid, frames: Math.min(count, mask.frames.length) }] : []),
  ];
}

/** The result has the size and the batch of the destination; source and mask are repeated, or cut, to that batch. */
export function compositeRasters(destination: Raster, source: Raster, placement: Placement, tick: Tick): Raster {
  const count = destination.frames.length;
  const nextStage = stages(tick, compositeExtra(destination, source, placement).length + 1);
  const fit = (raster: Raster, to: Size) => (sameSize(raster, to) ? raster : scaleRaster(raster, to, "bilinear", nextStage()));
  const cut = cutTo(source, count);
  const laid = placement.resizeSource ? fit(cut, destination) : cut;
  const mask = placement.mask && fit(cutTo(placement.mask, count), laid);
  const left = clampTo(placement.x, laid.width, destination.width);
  const top = clampTo(placement.y, laid.height, destination.height);
  const columns = { from: Math.max(0, -left), to: Math.min(laid.width, destination.width - left) };
  const rows = { from: Math.max(0, -top), to: Math.min(laid.height, destination.height - top) };
  return mapSamples(
    destination,
    destination,
    (frame, part, index) => {
      const out = frame.slice();
      const over = samplesAt(laid, index, part, 0);
      const cover = mask && samplesAt(mask, index, part, 0);
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
    nextStage(),
  );
}

function clampTo(place: number, own: number, whole: number): number {
  return Math.max(-own, Math.min(place, whole));
}
