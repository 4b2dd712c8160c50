// Image files to samples. sharp only decodes: no colour profile is applied and nothing is resampled.
// The header is read first, so that a caller can refuse a size before a pixel exists. Files of 16 bits keep their precision.
// It must never guess: a file that cannot be read is a DecodeError that says why.

import sharp, { type Metadata } from "sharp";
import { unitOfByte } from "./numbers";
import { emptyFrame, type Raster, type Size, stages, type Tick } from "./raster";

class DecodeError extends Error {
  override name = "DecodeError";
}

export type Decoded = {
  /** Three channels, alpha dropped without mixing it in. */
  image: Raster;
  /** Where the file has alpha, or a kind of file has always: one channel, a frame for each frame. */
  alpha?: Raster;
};

type Claim = (size: Size, frames: number) => void;

/** `claim` hears the size before the pixels are decoded and may throw; so may `tick`. */
export async function decodeImage(path: string, claim: Claim, tick: Tick): Promise<Decoded> {
  const header = await reading(() => sharp(path, { limitInputPixels: false }).metadata());
  const pages = header.pages ?? 1;
  const hasAlpha = carriesAlpha(header);
  claim({ width: header.width, height: header.pageHeight ?? header.height }, hasAlpha ? 2 * pages : pages);
  const isDeep = header.depth === "ushort";
  const { data, info } = await reading(() => {
    const file = sharp(path, { pages: pages > 1 ? -1 : 1, limitInputPixels: false, ignoreIcc: true, failOn: "truncated" });
    // Turning by EXIF works on single pictures; animations carry no orientation.
    const upright = pages > 1 ? file : file.autoOrient();
    const coloured = upright.toColourspace(isDeep ? "rgb16" : "srgb");
    const banded = hasAlpha ? coloured.ensureAlpha() : coloured.removeAlpha();
    return banded.raw({ depth: isDeep ? "ushort" : "uchar" }).toBuffer({ resolveWithObject: true });
  });
  const size = { width: info.width, height: Math.floor(info.height / pages) };
  const values = isDeep ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data;
  const file = { values, channels: info.channels, size, pages, unit: isDeep ? unitOfWord : (value: number) => unitOfByte[value] ?? 0 };
  const nextStage = stages(tick, hasAlpha ? 2 : 1);
  const image = pick(file, colours(info.channels), nextStage());
  if (!hasAlpha) return { image };
  return { image, alpha: pick(file, [info.channels - 1], nextStage()) };
}

/** A palette, and every GIF, counts as having alpha in the family: the mask then has the size of the picture. */
function carriesAlpha({ hasAlpha, format, isPalette }: Metadata): boolean {
  return hasAlpha || format === "gif" || (format === "png" && isPalette);
}

/** The file's channels that make red, green and blue; grey serves for all three. */
function colours(channels: number): readonly number[] {
  return channels >= 3 ? [0, 1, 2] : [0, 0, 0];
}

const unitOfWord = (value: number) => value / 65535;

type DecodedFile = {
  values: Uint8Array | Uint16Array;
  channels: number;
  size: Size;
  pages: number;
  unit: (value: number) => number;
};

/** A raster of some of the file's channels, one frame for each page. */
function pick({ values, channels, size, pages, unit }: DecodedFile, wanted: readonly number[], tick: Tick): Raster {
  const { width, height } = size;
  const made = { width, height, channels: wanted.length === 3 ? 3 : 1 } as const;
  let from = 0;
  const frames = Array.from({ length: pages }, (_, page) => {
    const out = emptyFrame(made);
    let to = 0;
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++, from += channels) {
        for (const channel of wanted) out[to++] = unit(values[from + channel] ?? 0);
      }
      tick((page + (y + 1) / height) / pages);
    }
    return out;
  });
  return { ...made, frames };
}

async function reading<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new DecodeError(cause instanceof Error ? cause.message.split("\n")[0] : "The file cannot be read.", { cause });
  }
}
