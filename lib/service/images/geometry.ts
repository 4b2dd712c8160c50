// Crops, rotates, flips and pads rasters, and converts between images and masks.

import {
  createByteFrame,
  createEmptySamples,
  createSampleFrame,
  type Frame,
  mapRows,
  type Raster,
  roundHalfEven,
  type Size,
  type Tick,
} from "./raster";

type Box = Size & { x: number; y: number };

export function cropRaster(raster: Raster, box: Box, tick: Tick): Raster {
  const { width, channels } = raster;
  return mapRows(
    raster,
    { width: box.width, height: box.height, channels },
    ({ out, at, y, frame }) => {
      const sourceStart = ((y + box.y) * width + box.x) * channels;
      out.set(frame.subarray(sourceStart, sourceStart + box.width * channels), at);
    },
    tick,
  );
}

export function rotateRaster(raster: Raster, quarterTurns: 1 | 2 | 3, tick: Tick): Raster {
  const { width, height } = raster;
  if (quarterTurns === 1)
    return moveSamples(raster, { width: height, height: width }, (y) => ({ first: (height - 1) * width + y, step: -width }), tick);
  if (quarterTurns === 2) return moveSamples(raster, raster, (y) => ({ first: (height - y) * width - 1, step: -1 }), tick);
  return moveSamples(raster, { width: height, height: width }, (y) => ({ first: width - 1 - y, step: width }), tick);
}

export function flipRaster(raster: Raster, direction: "vertically" | "horizontally", tick: Tick): Raster {
  const { width, height } = raster;
  if (direction === "vertically") return moveSamples(raster, raster, (y) => ({ first: (height - 1 - y) * width, step: 1 }), tick);
  return moveSamples(raster, raster, (y) => ({ first: (y + 1) * width - 1, step: -1 }), tick);
}

function moveSamples(raster: Raster, size: Size, getSource: (y: number) => { first: number; step: number }, tick: Tick): Raster {
  const { channels } = raster;
  return mapRows(
    raster,
    { width: size.width, height: size.height, channels },
    ({ out, at, y, frame }) => {
      const { first, step } = getSource(y);
      let sourceIndex = first * channels;
      let targetIndex = at;
      for (let x = 0; x < size.width; x++, sourceIndex += step * channels) {
        for (let c = 0; c < channels; c++) out[targetIndex++] = frame[sourceIndex + c] ?? 0;
      }
    },
    tick,
  );
}

type Border = { left: number; top: number; right: number; bottom: number; feathering: number };

export function getPaddedSize({ width, height }: Size, { left, top, right, bottom }: Border): Size {
  return { width: width + left + right, height: height + top + bottom };
}

export function padRaster(raster: Raster, border: Border, tick: Tick): Raster {
  const { width, height, channels } = raster;
  const size = getPaddedSize(raster, border);
  return mapRows(
    raster,
    { ...size, channels },
    ({ out, at, y, frame }) => {
      out.fill(0.5, at, at + size.width * channels);
      const sourceRow = y - border.top;
      if (sourceRow < 0 || sourceRow >= height) return;
      out.set(frame.subarray(sourceRow * width * channels, (sourceRow + 1) * width * channels), at + border.left * channels);
    },
    tick,
  );
}

export function createOutpaintMask(raster: Raster, border: Border, tick: Tick): Raster {
  const { width, height } = raster;
  const { left, top, right, bottom, feathering } = border;
  const size = getPaddedSize(raster, border);
  const mask = createEmptySamples({ ...size, channels: 1 }).fill(1);
  const hasFeathering = feathering > 0 && feathering * 2 < height && feathering * 2 < width;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const distance = Math.min(
        top === 0 ? height : y,
        bottom === 0 ? height : height - y,
        left === 0 ? width : x,
        right === 0 ? width : width - x,
      );
      const ratio = hasFeathering && distance < feathering ? (feathering - distance) / feathering : 0;
      mask[(y + top) * size.width + x + left] = ratio * ratio;
    }
    tick((y + 1) / height);
  }
  return { ...size, channels: 1, frames: [createSampleFrame(mask)] };
}

export function extractChannelMask(image: Raster, channel: 0 | 1 | 2, tick: Tick): Raster {
  return toMask(image, (frame, offset) => frame[offset + channel] ?? 0, tick);
}

export function createColourMask(image: Raster, colour: number, tick: Tick): Raster {
  const toByte = (value: number) => roundHalfEven(Math.fround(Math.min(1, Math.max(0, value)) * 255));
  return toMask(
    image,
    (frame, offset) => {
      const pixel = (toByte(frame[offset] ?? 0) << 16) + (toByte(frame[offset + 1] ?? 0) << 8) + toByte(frame[offset + 2] ?? 0);
      return pixel === colour ? 1 : 0;
    },
    tick,
  );
}

export function convertMaskToImage(mask: Raster, tick: Tick): Raster {
  const { width, height } = mask;
  return mapRows(
    mask,
    { width, height, channels: 3 },
    ({ out, at, y, frame }) => {
      for (let x = 0, target = at; x < width; x++, target += 3) out.fill(frame[y * width + x] ?? 0, target, target + 3);
    },
    tick,
  );
}

export function invertRaster(raster: Raster, tick: Tick): Raster {
  const rowLength = raster.width * raster.channels;
  return mapRows(
    raster,
    raster,
    ({ out, at, frame }) => {
      for (let i = at; i < at + rowLength; i++) out[i] = 1 - (frame[i] ?? 0);
    },
    tick,
  );
}

export function createSolidMask({ width, height }: Size, value: number, count = 1): Raster {
  const frame = createSampleFrame(createEmptySamples({ width, height, channels: 1 }).fill(value));
  return { width, height, channels: 1, frames: new Array<Frame>(count).fill(frame) };
}

export function createSolidImage({ width, height }: Size, colour: number, count: number): Raster {
  const frame = createByteFrame(Buffer.alloc(width * height * 3, Uint8Array.of(colour >> 16, colour >> 8, colour)));
  return { width, height, channels: 3, frames: new Array<Frame>(count).fill(frame) };
}

function toMask(image: Raster, readSample: (frame: Float32Array, offset: number) => number, tick: Tick): Raster {
  const { width, height } = image;
  return mapRows(
    image,
    { width, height, channels: 1 },
    ({ out, at, frame }) => {
      for (let i = at; i < at + width; i++) out[i] = readSample(frame, i * 3);
    },
    tick,
  );
}
