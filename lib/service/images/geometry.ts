import { frameOfSamples, type Tick } from "./frame";
import { emptySamples, mapRows, type Raster, type Size } from "./raster";

type Box = Size & { x: number; y: number };

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

type Border = { left: number; top: number; right: number; bottom: number; feathering: number };

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
