// Decodes image files to samples, without color profiles or resampling. 16-bit files are converted to bytes as Pillow 9.4 does.
// Never reads SVG, which could reference other files.

import sharp, { type Metadata } from "sharp";
import { requireDecodable } from "@/lib/shared/decode-image";
import { createByteFrame, createStages, type Raster, type Size, type Tick } from "./raster";

class DecodeError extends Error {
  override name = "DecodeError";
}

export type DecodedImage = {
  /** Three channels. Alpha is dropped without blending. */
  image: Raster;
  alpha?: Raster;
};

export type Claim = (size: Size, frames: number) => void;

export type FilePixels = {
  data: Buffer;
  channels: number;
  size: Size;
  pages: number;
  hasAlpha: boolean;
  is16Bit: boolean;
  isGrey: boolean;
  isCmyk: boolean;
};

/** Decodes off this thread. `claim` is called with the size before the pixels are decoded, and may throw. */
export async function readPixels(path: string, claim: Claim): Promise<FilePixels> {
  const header = await withDecodeError(() => requireDecodable(path));
  const pages = header.pages ?? 1;
  const is16Bit = header.depth === "ushort";
  const isCmyk = header.space === "cmyk" && !is16Bit;
  // As in Pillow, CMYK has no alpha.
  const hasAlpha = !isCmyk && hasAlphaChannel(header);
  claim({ width: header.width, height: header.pageHeight ?? header.height }, countFrames({ hasAlpha, pages }));
  const { data, info } = await withDecodeError(() => {
    const file = sharp(path, { pages: pages > 1 ? -1 : 1, limitInputPixels: false, ignoreIcc: true, failOn: "truncated" });
    // Rotating by EXIF works on single images only. Animations have no orientation.
    const uprightImage = pages > 1 ? file : file.autoOrient();
    if (isCmyk)
      return uprightImage.pipelineColourspace("cmyk").toColourspace("cmyk").removeAlpha().raw().toBuffer({ resolveWithObject: true });
    const colourImage = uprightImage.toColourspace(is16Bit ? "rgb16" : "srgb");
    const channelImage = hasAlpha ? colourImage.ensureAlpha() : colourImage.removeAlpha();
    return channelImage.raw({ depth: is16Bit ? "ushort" : "uchar" }).toBuffer({ resolveWithObject: true });
  });
  const size = { width: info.width, height: Math.floor(info.height / pages) };
  return { data, channels: info.channels, size, pages, hasAlpha, is16Bit, isGrey: header.channels === 1, isCmyk };
}

function countFrames({ hasAlpha, pages }: Pick<FilePixels, "hasAlpha" | "pages">): number {
  return hasAlpha ? 2 * pages : pages;
}

export function toDecodedImage(pixels: FilePixels, tick: Tick): DecodedImage {
  const { data, size, pages, hasAlpha, is16Bit, isGrey, isCmyk } = pixels;
  const bytes = isCmyk ? cmykToRgb(data) : data;
  const values = is16Bit ? toBytes(new Uint16Array(data.buffer, data.byteOffset, data.length / 2), isGrey) : bytes;
  const file = { values, channels: isCmyk ? 3 : pixels.channels, size, pages };
  const nextStage = createStages(tick, hasAlpha ? 2 : 1);
  const image = pickChannels(file, getColourChannels(file.channels), nextStage());
  if (!hasAlpha) return { image };
  return { image, alpha: pickChannels(file, [file.channels - 1], nextStage()) };
}

/** In ComfyUI, a palette and every GIF count as having alpha, so that the mask has the size of the image. */
function hasAlphaChannel({ hasAlpha, format, isPalette }: Metadata): boolean {
  return hasAlpha || format === "gif" || (format === "png" && isPalette);
}

function getColourChannels(channels: number): readonly number[] {
  return channels >= 3 ? [0, 1, 2] : [0, 0, 0];
}

/** The two conversions differ: 0xff00 is 255 in both, 0x00ff is 0 as a colour and 1 as grey. */
function toBytes(words: Uint16Array, isGrey: boolean): Uint8Array {
  const bytes = new Uint8Array(words.length);
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    bytes[i] = isGrey ? Math.min(255, Math.floor(word / 255)) : word >> 8;
  }
  return bytes;
}

type DecodedFile = { values: Uint8Array; channels: number; size: Size; pages: number };

function pickChannels({ values, channels, size, pages }: DecodedFile, channelIndexes: readonly number[], tick: Tick): Raster {
  const { width, height } = size;
  const length = width * height * channels;
  const frames = Array.from({ length: pages }, (_, page) => {
    const pageTick: Tick = (progress) => tick((page + progress) / pages);
    const pageValues = values.subarray(page * length, (page + 1) * length);
    if (channelIndexes.length === channels) {
      pageTick(1);
      return createByteFrame(pageValues);
    }
    const bytes = new Uint8Array(width * height * channelIndexes.length);
    copyChannels(pageValues, bytes, channels, { size, channelIndexes, tick: pageTick });
    return createByteFrame(bytes);
  });
  return { width, height, channels: channelIndexes.length === 3 ? 3 : 1, frames };
}

type PixelSelection = { size: Size; channelIndexes: readonly number[]; tick: Tick };

function copyChannels(source: Uint8Array, target: Uint8Array, channels: number, selection: PixelSelection): void {
  const { size, channelIndexes, tick } = selection;
  for (const [offset, channel] of channelIndexes.entries()) {
    for (let y = 0, sourceIndex = channel, targetIndex = offset; y < size.height; y++) {
      for (let x = 0; x < size.width; x++, sourceIndex += channels, targetIndex += channelIndexes.length)
        target[targetIndex] = source[sourceIndex] ?? 0;
      tick((offset + (y + 1) / size.height) / channelIndexes.length);
    }
  }
}

async function withDecodeError<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new DecodeError(cause instanceof Error ? cause.message.split("\n")[0] : "The file cannot be read.", { cause });
  }
}

/** Computes a * b / 255, rounded, with integers. */
function multiplyBytes(a: number, b: number): number {
  const product = a * b + 128;
  return ((product >> 8) + product) >> 8;
}

/** Converts CMYK to RGB as Pillow does, without a color profile. */
function cmykToRgb(inks: Uint8Array): Uint8Array {
  const colours = new Uint8Array((inks.length / 4) * 3);
  for (let sourceIndex = 0, targetIndex = 0; sourceIndex < inks.length; sourceIndex += 4) {
    const light = 255 - (inks[sourceIndex + 3] ?? 0);
    for (let ink = 0; ink < 3; ink++) colours[targetIndex++] = Math.max(0, light - multiplyBytes(inks[sourceIndex + ink] ?? 0, light));
  }
  return colours;
}
