// Image files to samples. sharp only decodes: no colour profile is applied and nothing is resampled.
// The header is read first, so that a caller can refuse a size before a pixel exists.
// It must never guess: a file that cannot be read is a DecodeError that says why.

import sharp from "sharp";
import { toUnit } from "./numbers";
import { type Raster, type Size } from "./raster";

class DecodeError extends Error {
  override name = "DecodeError";
}

export type Decoded = {
  /** Three channels, alpha dropped without mixing it in. */
  image: Raster;
  /** Where the file has alpha: one channel, a frame for each frame. */
  alpha?: Raster;
};

type Claim = (size: Size, frames: number) => void;

/** `claim` hears the size before the pixels are decoded and may throw. */
export async function decodeImage(path: string, claim: Claim): Promise<Decoded> {
  const header = await reading(() => sharp(path, { limitInputPixels: false }).metadata());
  const pages = header.pages ?? 1;
  claim({ width: header.width, height: header.pageHeight ?? header.height }, pages);
  const hasAlpha = header.hasAlpha === true;
  const { data, info } = await reading(() => {
    const file = sharp(path, { pages: pages > 1 ? -1 : 1, limitInputPixels: false, ignoreIcc: true, failOn: "truncated" });
    // Turning by EXIF works on single pictures; animations carry no orientation.
    const upright = pages > 1 ? file : file.autoOrient();
    const coloured = upright.toColourspace("srgb");
    return (hasAlpha ? coloured.ensureAlpha() : coloured.removeAlpha()).raw({ depth: "uchar" }).toBuffer({ resolveWithObject: true });
  });
  const size = { width: info.width, height: Math.floor(info.height / pages) };
  const samples = Array.from({ length: pages }, (_, page) => {
    const length = size.width * size.height * info.channels;
    return data.subarray(page * length, (page + 1) * length);
  });
  const image: Raster = {
    ...size,
    channels: 3,
    frames: samples.map((bytes) => toUnit(pick(bytes, info.channels, colours(info.channels)))),
  };
  if (!hasAlpha) return { image };
  const alpha: Raster = { ...size, channels: 1, frames: samples.map((bytes) => toUnit(pick(bytes, info.channels, [info.channels - 1]))) };
  return { image, alpha };
}

/** The file's channels that make red, green and blue; grey serves for all three. */
function colours(channels: number): readonly number[] {
  return channels >= 3 ? [0, 1, 2] : [0, 0, 0];
}

function pick(bytes: Uint8Array, channels: number, wanted: readonly number[]): Uint8Array {
  const pixels = bytes.length / channels;
  const out = new Uint8Array(pixels * wanted.length);
  let at = 0;
  for (let pixel = 0; pixel < pixels; pixel++) {
    for (const channel of wanted) out[at++] = bytes[pixel * channels + channel] ?? 0;
  }
  return out;
}

async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new DecodeError(cause instanceof Error ? cause.message.split("\n")[0] : "The file cannot be read.", { cause });
  }
}
