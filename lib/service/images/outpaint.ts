// The border for painting beyond an image: grey around it, and a mask that is 1 there and fades into the image.

import { emptyFrame, mapFrames, type Raster } from "./raster";

export type Border = { left: number; top: number; right: number; bottom: number; feathering: number };

export function padRaster(raster: Raster, border: Border): Raster {
  const { width, height, channels } = raster;
  const size = { width: width + border.left + border.right, height: height + border.top + border.bottom };
  return mapFrames(
    raster,
    size,
    (frame) => {
      const out = emptyFrame({ ...size, channels }).fill(0.5);
      for (let y = 0; y < height; y++) {
        const row = frame.subarray(y * width * channels, (y + 1) * width * channels);
        out.set(row, ((y + border.top) * size.width + border.left) * channels);
      }
      return out;
    },
    () => undefined,
  );
}

/** One frame, whatever the batch of the image. */
export function outpaintMask(raster: Raster, border: Border): Raster {
  const { width, height } = raster;
  const { left, top, right, bottom, feathering } = border;
  const size = { width: width + left + right, height: height + top + bottom };
  const mask = emptyFrame({ ...size, channels: 1 }).fill(1);
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
  }
  return { ...size, channels: 1, frames: [mask] };
}
