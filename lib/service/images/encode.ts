import { crc32 } from "node:zlib";
import sharp from "sharp";
import { createStages, getFrame, type Raster, type Tick } from "./raster";

const SIGNATURE_BYTES = 8;
const HEADER_BYTES = 25;

function toAsciiJson(text: string): string {
  return text.replace(/[\u007f-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The PNG specification, 11.3.4.2: 1 to 79 printable Latin-1 characters without spaces at the ends. */
function isPngKeyword(keyword: string): boolean {
  return /^[\x21-\x7e\xa1-\xff]([\x20-\x7e\xa1-\xff]{0,77}[\x21-\x7e\xa1-\xff])?$/.test(keyword);
}

/** `png` must be a complete PNG. Invalid keywords are omitted. */
function addPngText(png: Buffer, texts: Record<string, string>): Buffer {
  const chunks = Object.entries(texts)
    .filter(([keyword]) => isPngKeyword(keyword))
    .map(([keyword, text]) => toChunk(Buffer.from(`${keyword}\0${toAsciiJson(text)}`, "latin1")));
  const header = SIGNATURE_BYTES + HEADER_BYTES;
  return Buffer.concat([png.subarray(0, header), ...chunks, png.subarray(header)]);
}

function toChunk(content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from("tEXt", "latin1"), content]);
  const chunk = Buffer.alloc(body.length + 8);
  chunk.writeUInt32BE(content.length, 0);
  body.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(body), body.length + 4);
  return chunk;
}

// WebP has no text chunks, so the graph is stored in EXIF, as ComfyUI does: the prompt as Model, others as Make and earlier tags.
// Text that doesn't fit into the 64 KiB of an EXIF block is omitted.
const MAX_EXIF_BYTES = 60_000;
const OTHER_TAGS = ["Make", "ImageDescription", "DocumentName"] as const;

function toExifTags(texts: Record<string, string>): Record<string, string> {
  const { prompt, ...otherTexts } = texts;
  const candidates: [string, string, string | undefined][] = [
    ["Model", "prompt", prompt],
    ...Object.entries(otherTexts)
      .slice(0, OTHER_TAGS.length)
      .map(([keyword, value], index): [string, string, string] => [OTHER_TAGS[index] ?? "", keyword, value]),
  ];
  const tags: [string, string][] = [];
  let remainingBytes = MAX_EXIF_BYTES;
  for (const [tag, keyword, value] of candidates) {
    const text = value === undefined ? undefined : `${keyword}:${toAsciiJson(value)}`;
    if (text === undefined || text.length > remainingBytes) continue;
    tags.push([tag, text]);
    remainingBytes -= text.length;
  }
  return Object.fromEntries(tags);
}

type PngOptions = { compressionLevel: number; texts: Record<string, string> };

export async function encodePng(raster: Raster, index: number, options: PngOptions, tick: Tick): Promise<Buffer> {
  const { width, height, channels } = raster;
  const bytes = getFrame(raster, index).bytes(tick);
  const png = await sharp(bytes, { raw: { width, height, channels }, limitInputPixels: false })
    .png({ compressionLevel: options.compressionLevel })
    .toBuffer();
  return addPngText(png, options.texts);
}

type AnimationOptions = { delayMs: number; lossless: boolean; quality: number; effort: number; texts: Record<string, string> };

export async function encodeAnimatedWebp(raster: Raster, options: AnimationOptions, tick: Tick): Promise<Buffer> {
  const { width, height, channels, frames } = raster;
  const nextStage = createStages(tick, frames.length);
  const stackedFrames = Buffer.concat(frames.map((frame) => frame.bytes(nextStage())));
  const { delayMs, lossless, quality, effort, texts } = options;
  const raw = { width, height: height * frames.length, channels, ...(frames.length > 1 ? { pageHeight: height } : {}) };
  const delay = frames.map(() => delayMs);
  return sharp(stackedFrames, { raw, limitInputPixels: false })
    .withExif({ IFD0: toExifTags(texts) })
    .webp({ lossless, quality, effort, delay, loop: 0 })
    .toBuffer();
}
