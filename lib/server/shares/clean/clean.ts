// Removes the metadata of a file of a known format, recognised by its first bytes, whatever its name.
// Guarantees: the result has no text, EXIF, XMP, tag, comment or creation time; it says what it cannot clean, and never passes a file that
// it did not understand to its end. Must never: decode or recompress.

import "server-only";
import { cleanGif } from "./gif";
import { cleanJpeg } from "./jpeg";
import { cleanMatroska } from "./matroska";
import { cleanMp4 } from "./mp4";
import { createPieces, NotCleanable, type Piece, type Pieces, type Reading } from "./pieces";
import { cleanPng } from "./png";
import { cleanFlac, cleanMp3, cleanWave, isFrame } from "./sounds";
import { cleanWebp } from "./webp";

/** Raised whenever the removed things change: files cleaned by an older version are then cleaned again. */
export const CLEANING = 5;

type Clean = (file: Reading, out: Pieces) => Promise<void>;

/** Kinds of files that can be cleaned, judged only by name and type: the bytes are read when the file is first opened. */
const endings = /\.(png|apng|jpe?g|webp|gif|bmp|mp4|m4v|m4a|mov|webm|mkv|mp3|flac|wav|txt|md|csv|srt|vtt)$/i;
const types =
  /^(image\/(png|apng|jpeg|webp|gif|bmp)|video\/(mp4|quicktime|webm|x-matroska)|audio\/(mpeg|mp4|flac|x-flac|wav|x-wav)|text\/(plain|markdown|csv))$/i;

export function isCleanable(name: string, type: string | undefined): boolean {
  return endings.test(name) || (type !== undefined && types.test(type));
}

/** Undefined if the file cannot be cleaned. */
export async function cleanPieces(file: Reading): Promise<Piece[] | undefined> {
  const clean = cleanerOf(await file.read(0, 4096));
  if (!clean) return undefined;
  const out = createPieces();
  try {
    await clean(file, out);
  } catch (error) {
    if (error instanceof NotCleanable) return undefined;
    throw error;
  }
  return out.pieces;
}

/** AVIF and HEIF store pictures in the boxes of an MP4, with metadata among the pixels. */
const heif = /^(avi[fs]|hei[cmsx]|hev[cmx]|mif1|msf1|mif2)/;

function cleanerOf(head: Buffer): Clean | undefined {
  const text = head.toString("latin1", 0, 16);
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return cleanPng;
  if (text.startsWith("\xff\xd8\xff")) return cleanJpeg;
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return cleanGif;
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return cleanWebp;
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WAVE") return cleanWave;
  if (text.slice(4, 8) === "ftyp") return heif.test(text.slice(8)) ? undefined : cleanMp4;
  if (text.startsWith("\x1a\x45\xdf\xa3")) return cleanMatroska;
  if (text.startsWith("fLaC")) return cleanFlac;
  if (text.startsWith("ID3")) return cleanTagged;
  if (head[0] === 0xff) return isFrame(head) ? cleanMp3 : undefined;
  // These formats have no metadata.
  if (text.startsWith("BM") || isText(head)) return asItIs;
  return undefined;
}

/** Some programs put an MP3's tag before a FLAC. */
async function cleanTagged(file: Reading, out: Pieces): Promise<void> {
  const tried = createPieces();
  const isFlac = await cleanFlac(file, tried).then(
    () => true,
    (error: unknown) => {
      if (error instanceof NotCleanable) return false;
      throw error;
    },
  );
  return isFlac ? void out.pieces.push(...tried.pieces) : cleanMp3(file, out);
}

async function asItIs({ size }: Reading, out: Pieces): Promise<void> {
  out.keep(0, size);
}

/** Plain text only: markup may hold anything. */
function isText(head: Buffer): boolean {
  return !/[\0\x01-\x08\x0e-\x1f<{]/.test(head.toString("latin1"));
}
