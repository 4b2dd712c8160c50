// Removes text, EXIF, XMP, tags, comments and times from files of known formats, recognized by their first bytes. Never recompresses.
// Files that can't be parsed to the end are rejected.

import "server-only";
import { cleanGif } from "./gif";
import { cleanJpeg } from "./jpeg";
import { cleanMatroska } from "./matroska";
import { cleanMp4 } from "./mp4";
import { createPieces, type MediaReader, NotCleanableError, type Piece, type Pieces } from "./pieces";
import { cleanPng } from "./png";
import { cleanFlac, cleanMp3, isFrame } from "./sounds";
import { cleanWebp } from "./webp";

/** Increase it whenever more is removed, so that files cleaned by an older version are cleaned again. */
export const CLEANING_VERSION = 6;

type Clean = (file: MediaReader, out: Pieces) => Promise<void>;

/** Files that can be cleaned, judged only by name and type. The bytes are read when the file is first opened. */
const cleanableNames = /\.(png|apng|jpe?g|webp|gif|mp4|m4v|m4a|mov|webm|mkv|mp3|flac|txt|md|csv|srt|vtt)$/i;
const cleanableTypes =
  /^(image\/(png|apng|jpeg|webp|gif)|video\/(mp4|quicktime|webm|x-matroska)|audio\/(mpeg|mp4|flac|x-flac)|text\/(plain|markdown|csv))$/i;

export function isCleanable(name: string, type: string | undefined): boolean {
  return cleanableNames.test(name) || (type !== undefined && cleanableTypes.test(type));
}

export async function cleanFile(file: MediaReader): Promise<Piece[] | undefined> {
  const clean = findCleaner(await file.read(0, 4096));
  if (!clean) return undefined;
  const out = createPieces();
  try {
    await clean(file, out);
  } catch (error) {
    if (error instanceof NotCleanableError) return undefined;
    throw error;
  }
  return out.pieces;
}

/** AVIF and HEIF store pictures in the boxes of an MP4, with metadata among the pixels. */
const heif = /^(avi[fs]|hei[cmsx]|hev[cmx]|mif1|msf1|mif2)/;

function findCleaner(head: Buffer): Clean | undefined {
  const text = head.toString("latin1", 0, 16);
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return cleanPng;
  if (text.startsWith("\xff\xd8\xff")) return cleanJpeg;
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return cleanGif;
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return cleanWebp;
  if (text.slice(4, 8) === "ftyp") return heif.test(text.slice(8)) ? undefined : cleanMp4;
  if (text.startsWith("\x1a\x45\xdf\xa3")) return cleanMatroska;
  if (text.startsWith("fLaC")) return cleanFlac;
  if (text.startsWith("ID3")) return cleanMp3;
  if (head[0] === 0xff) return isFrame(head) ? cleanMp3 : undefined;
  return isText(head) ? keepAll : undefined;
}

async function keepAll({ size }: MediaReader, out: Pieces): Promise<void> {
  out.keep(0, size);
}

/** Plain text only, because markup may contain anything. */
function isText(head: Buffer): boolean {
  return !/[\0\x01-\x08\x0e-\x1f<{]/.test(head.toString("latin1"));
}
