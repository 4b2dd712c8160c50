import { type Frame, frameOfPixel, roundHalfEven, type Tick } from "./frame";
import { mapFrames, mapRows, type Raster, type Size } from "./raster";

export function channelOf(image: Raster, channel: 0 | 1 | 2, tick: Tick): Raster {
  return toMask(image, (frame, at) => frame[at + channel] ?? 0, tick);
}

export function colourMask(image: Raster, colour: number, tick: Tick): Raster {
  const byte = (value: number) => roundHalfEven(Math.fround(Math.min(1, Math.max(0, value)) * 255));
  return toMask(
    image,
    (frame, at) => {
      const found = (byte(frame[at] ?? 0) << 16) + (byte(frame[at + 1] ?? 0) << 8) + byte(frame[at + 2] ?? 0);
      return found === colour ? 1 : 0;
    },
    tick,
  );
}

export function maskToImage(mask: Raster, tick: Tick): Raster {
  const { width, height } = mask;
  return mapRows(
    mask,
    { width, height, channels: 3 },
    ({ out, at, y, frame }) => {
      for (let x = 0, to = at; x < width; x++, to += 3) out.fill(frame[y * width + x] ?? 0, to, to + 3);
    },
    tick,
  );
}

export function invertRaster(raster: Raster, tick: Tick): Raster {
  return mapFrames(raster, raster, (frame, part) => frame.map((sample) => 1 - sample, part), tick);
}

export function solidMask(size: Size, value: number, count = 1): Raster {
  const frame = frameOfPixel(Float32Array.of(value), size.width * size.height);
  return { width: size.width, height: size.height, channels: 1, frames: new Array<Frame>(count).fill(frame) };
}

export function solidImage(size: Size, colour: number, count: number): Raster {
  const pixel = Float32Array.of(((colour >> 16) & 255) / 255, ((colour >> 8) & 255) / 255, (colour & 255) / 255);
  const frame = frameOfPixel(pixel, size.width * size.height);
  return { width: size.width, height: size.height, channels: 3, frames: new Array<Frame>(count).fill(frame) };
}

function toMask(image: Raster, read: (frame: Float32Array, at: number) => number, tick: Tick): Raster {
  const { width, height } = image;
  return mapRows(
    image,
    { width, height, channels: 1 },
    ({ out, at, frame }) => {
      for (let i = at; i < at + width; i++) out[i] = read(frame, i * 3);
    },
    tick,
  );
}
