// Moves of whole samples: cutting, turning, mirroring. No sample changes its value.

import { emptyFrame, mapFrames, type Raster, type Size } from "./raster";

export type Box = Size & { x: number; y: number };

/** `box` must lie inside the raster. */
export function cropRaster(raster: Raster, box: Box): Raster {
  return moveSamples(raster, box, (x, y) => (y + box.y) * raster.width + x + box.x);
}

/** Quarter turns clockwise. */
export function rotateRaster(raster: Raster, turns: 1 | 2 | 3): Raster {
  const { width, height } = raster;
  if (turns === 1) return moveSamples(raster, { width: height, height: width }, (x, y) => (height - 1 - x) * width + y);
  if (turns === 2) return moveSamples(raster, raster, (x, y) => (height - 1 - y) * width + (width - 1 - x));
  return moveSamples(raster, { width: height, height: width }, (x, y) => x * width + (width - 1 - y));
}

export function flipRaster(raster: Raster, direction: "vertically" | "horizontally"): Raster {
  const { width, height } = raster;
  if (direction === "vertically") return moveSamples(raster, raster, (x, y) => (height - 1 - y) * width + x);
  return moveSamples(raster, raster, (x, y) => y * width + (width - 1 - x));
}

/** `source` answers the pixel that goes to (x, y). */
function moveSamples(raster: Raster, size: Size, source: (x: number, y: number) => number): Raster {
  const { channels } = raster;
  return mapFrames(
    raster,
    size,
    (frame) => {
      const out = emptyFrame({ ...size, channels });
      let at = 0;
      for (let y = 0; y < size.height; y++) {
        for (let x = 0; x < size.width; x++) {
          const from = source(x, y) * channels;
          for (let c = 0; c < channels; c++) out[at++] = frame[from + c] ?? 0;
        }
      }
      return out;
    },
    () => undefined,
  );
}
