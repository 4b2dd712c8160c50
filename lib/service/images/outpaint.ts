// The border for painting beyond an image: grey around it, and a mask that is 1 in the border and fades into the image.

import { frameOfSamples } from "./frame";
import { emptySamples, mapRows, type Raster, type Size } from "./raster";
import { type Tick } from "./tick";

export type Border = { left: number; top: number; right: number; bottom: number; feathering: number };

export function paddedSize({ width, height }: Size, { left, top, right, bottom }: Border): Size {
  return { width: width + left + right, height: height + top + bottom };
}

export function padRaster(raster: Raster, border: Border, tick: Tick): Raster {
  const { width, height, channels } = raster;
  const size = paddedSize(raster, border);
  return mapRows(
    raster,
    { ...size, channels },
    ({ out, at, y, frame }) => {
      out.fill(0.5, at, at + size.width * channels);
      const from = y - border.top;
      if (from < 0 || from >= height) return;
      out.set(frame.subarray(from * width * channels, (from + 1) * width * channels), at + border.left * channels);
    },
    tick,
  );
}

/** One frame, whatever the batch of the image. */
export function outpaintMask(raster: Raster, border: Border, tick: Tick): Raster {
  const { width, height } = raster;
  const { left, top, right, bottom, feathering } = border;
  const size = paddedSize(raster, border);
  const mask = emptySamples({ ...size, channels: 1 }).fill(1);
  const fades = feathering > 0 && feathering * 2 < height && feathering * 2 < width;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const distance = Math.min(
        top === 0 ? height : y,
        bottom === 0 ? height : height - y,
        left === 0 ? width : x,
        right === 0 ? width : width - x,
      );
      const part = fades && distance < feathering ? (feathering - distance) / feathering : 0;
      mask[(y + top) * size.width + x + left] = part * part;
    }
    tick((y + 1) / height);
  }
  return { ...size, channels: 1, frames: [frameOfSamples(mask)] };
}
