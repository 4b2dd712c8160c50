// Between images and masks, and simple sums on single samples.

import { mapFrames, type Raster, type Size } from "./raster";
import { roundHalfEven } from "./numbers";

const none = () => undefined;

/** One mask frame for each image frame. */
export function channelOf(image: Raster, channel: 0 | 1 | 2): Raster {
  return toMask(image, (frame, at) => frame[at + channel] ?? 0);
}

/** 1 where the colour, in bytes, is exactly `colour` (0xRRGGBB); else 0. */
export function colourMask(image: Raster, colour: number): Raster {
  const byte = (value: number) => roundHalfEven(Math.fround(Math.min(1, Math.max(0, value)) * 255));
  return toMask(image, (frame, at) => {
    const found = (byte(frame[at] ?? 0) << 16) + (byte(frame[at + 1] ?? 0) << 8) + byte(frame[at + 2] ?? 0);
    return found === colour ? 1 : 0;
  });
}

export function maskToImage(mask: Raster): Raster {
  const image = mapFrames(
    mask,
    mask,
    (frame) => {
      const out = new Float32Array(frame.length * 3);
      for (let i = 0; i < frame.length; i++) out.fill(frame[i] ?? 0, i * 3, i * 3 + 3);
      return out;
    },
    none,
  );
  return { ...image, channels: 3 };
}

export function invertRaster(raster: Raster): Raster {
  return mapFrames(raster, raster, (frame) => frame.map((value) => 1 - value), none);
}

export function solidMask(size: Size, value: number): Raster {
  return { width: size.width, height: size.height, channels: 1, frames: [new Float32Array(size.width * size.height).fill(value)] };
}

/** `count` frames of one colour (0xRRGGBB), which share their samples. */
export function solidImage(size: Size, colour: number, count: number): Raster {
  const samples = [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255].map((byte) => byte / 255);
  const frame = new Float32Array(size.width * size.height * 3);
  for (let i = 0; i < frame.length; i += 3) frame.set(samples, i);
  return { width: size.width, height: size.height, channels: 3, frames: new Array<Float32Array>(count).fill(frame) };
}

function toMask(image: Raster, read: (frame: Float32Array, at: number) => number): Raster {
  const mask = mapFrames(
    image,
    image,
    (frame) => {
      const out = new Float32Array(frame.length / 3);
      for (let i = 0; i < out.length; i++) out[i] = read(frame, i * 3);
      return out;
    },
    none,
  );
  return { ...mask, channels: 1 };
}
