// Encodes samples as image files. sharp only encodes: the bytes are made here, by the family's truncation.

import sharp from "sharp";
import { toAsciiJson, withPngText } from "./png-text";
import { frameAt, type Raster } from "./raster";
import { stages, type Tick } from "./tick";

// The graph inside a WEBP, which has no text chunks. Like the family, this keeps it in EXIF as "keyword:JSON" in texts of the main
// directory: the prompt as the camera's model, the others as its make and the tags before that.
// Must never: cut a text. An EXIF block ends at 64 KiB, and a text that does not fit as a whole is left out.
const MOST_BYTES = 60_000;
const OTHERS = ["Make", "ImageDescription", "DocumentName"] as const;

/** Tags of the main directory (IFD0) by their EXIF names. */
function exifTexts(texts: Record<string, string>): Record<string, string> {
  const { prompt, ...others } = texts;
  const wished: [string, string, string | undefined][] = [
    ["Model", "prompt", prompt],
    ...Object.entries(others)
      .slice(0, OTHERS.length)
      .map(([keyword, value], index): [string, string, string] => [OTHERS[index] ?? "", keyword, value]),
  ];
  const tags: [string, string][] = [];
  let left = MOST_BYTES;
  for (const [tag, keyword, value] of wished) {
    const text = value === undefined ? undefined : `${keyword}:${toAsciiJson(value)}`;
    if (text === undefined || text.length > left) continue;
    tags.push([tag, text]);
    left -= text.length;
  }
  return Object.fromEntries(tags);
}

export type PngOptions = { compressionLevel: number; texts: Record<string, string> };

/** `tick` is called while the bytes are made, not by the encoder, which runs by itself. */
export async function encodePng(raster: Raster, index: number, options: PngOptions, tick: Tick): Promise<Buffer> {
  const { width, height, channels } = raster;
  const bytes = frameAt(raster, index).bytes(tick);
  const png = await sharp(bytes, { raw: { width, height, channels }, limitInputPixels: false })
    .png({ compressionLevel: options.compressionLevel })
    .toBuffer();
  return withPngText(png, options.texts);
}

export type AnimationOptions = { delayMs: number; lossless: boolean; quality: number; effort: number; texts: Record<string, string> };

/** All frames, one after the other, in an endless loop. */
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
