// Moves whole samples: cutting, turning, mirroring. No sample changes its value.

import { mapRows, type Raster, type Size } from "./raster";
import { type Tick } from "./tick";

export type Box = Size & { x: number; y: number };

/** `box` must lie inside the raster. */
export function cropRaster(raster: Raster, box: Box, tick: Tick): Raster {
  const { width, channels } = raster;
  return mapRows(
    raster,
    { width: box.width, height: box.height, channels },
    ({ out, at, y, frame }) => {
      const from = ((y + box.y) * width + box.x) * channels;
      out.set(frame.subarray(from, from + box.width * channels), at);
    },
    tick,
  );
}

/** Quarter turns clockwise. */
export function rotateRaster(raster: Raster, turns: 1 | 2 | 3, tick: Tick): Raster {
  const { width, height } = raster;
  if (turns === 1)
    return moveSamples(raster, { width: height, height: width }, (y) => ({ first: (height - 1) * width + y, step: -width }), tick);
  if (turns === 2) return moveSamples(raster, raster, (y) => ({ first: (height - y) * width - 1, step: -1 }), tick);
  return moveSamples(raster, { width: height, height: width }, (y) => ({ first: width - 1 - y, step: width }), tick);
}

export function flipRaster(raster: Raster, direction: "vertically" | "horizontally", tick: Tick): Raster {
  const { width, height } = raster;
  if (direction === "vertically") return moveSamples(raster, raster, (y) => ({ first: (height - 1 - y) * width, step: 1 }), tick);
  return moveSamples(raster, raster, (y) => ({ first: (y + 1) * width - 1, step: -1 }), tick);
}

/** `source` returns the pixel that begins row y, and the step from it to the next one. */
function moveSamples(raster: Raster, size: Size, source: (y: number) => { first: number; step: number }, tick: Tick): Raster {
  const { channels } = raster;
  return mapRows(
    raster,
    { width: size.width, height: size.height, channels },
    ({ out, at, y, frame }) => {
      const { first, step } = source(y);
      let from = first * channels;
      let to = at;
      for (let x = 0; x < size.width; x++, from += step * channels) {
        for (let c = 0; c < channels; c++) out[to++] = frame[from + c] ?? 0;
      }
    },
    tick,
  );
}
