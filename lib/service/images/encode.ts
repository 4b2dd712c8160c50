// Samples to image files. sharp only encodes: the bytes are made here, by the family's truncation.

import sharp from "sharp";
import { exifTexts } from "./exif-text";
import { withPngText } from "./png-text";
import { frameAt, type Raster } from "./raster";
import { stages, type Tick } from "./tick";

export type PngOptions = { compressionLevel: number; texts: Record<string, unknown> };

/** `tick` hears of the bytes that are made, not of the encoder, which goes on by itself. */
export async function encodePng(raster: Raster, index: number, options: PngOptions, tick: Tick): Promise<Buffer> {
  const { width, height, channels } = raster;
  const bytes = frameAt(raster, index).bytes(tick);
  const png = await sharp(bytes, { raw: { width, height, channels }, limitInputPixels: false })
    .png({ compressionLevel: options.compressionLevel })
    .toBuffer();
  return withPngText(png, options.texts);
}

export type AnimationOptions = { delayMs: number; lossless: boolean; quality: number; effort: number; texts: Record<string, unknown> };

/** All frames, one after the other, for ever. */
export async function encodeAnimatedWebp(raster: Raster, options: AnimationOptions, tick: Tick): Promise<Buffer> {
  const { width, height, channels, frames } = raster;
  const nextStage = stages(tick, frames.length);
  const tall = Buffer.concat(frames.map((frame) => frame.bytes(nextStage())));
  const { delayMs, lossless, quality, effort, texts } = options;
  const raw = { width, height: height * frames.length, channels, ...(frames.length > 1 ? { pageHeight: height } : {}) };
  const delay = frames.map(() => delayMs);
  return sharp(tall, { raw, limitInputPixels: false })
    .withExif({ IFD0: exifTexts(texts) })
    .webp({ lossless, quality, effort, delay, loop: 0 })
    .toBuffer();
}
