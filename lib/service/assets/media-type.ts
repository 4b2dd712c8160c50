// What bytes are, judged by the bytes whatever the name says, and how they may be served.
// Must never let markup or script be shown inline: it would run with the rights of the page's origin.

import { fileTypeFromBuffer } from "file-type";

/** As many bytes as the recognisers look at. */
export const HEAD_BYTES = 4100;
const OCTETS = "application/octet-stream";

export async function sniffMediaType(head: Buffer): Promise<string> {
  const known = await fileTypeFromBuffer(head);
  if (known && known.mime !== "application/xml") return known.mime;
  return isText(head) ? sniffText(head.toString("utf8")) : OCTETS;
}

function sniffText(text: string): string {
  const start = text
    .replace(/^\uFEFF/, "")
    .trimStart()
    .slice(0, 2000)
    .toLowerCase();
  if (/<svg[\s>]/.test(start)) return "image/svg+xml";
  if (/^<!doctype html|<(html|head|body|script|iframe|style)[\s>]/.test(start)) return "text/html";
  if (start.startsWith("<?xml")) return "application/xml";
  if (/^[[{]/.test(start)) return "application/json";
  return "text/plain";
}

function isText(head: Buffer): boolean {
  if (head.length === 0 || head.includes(0)) return false;
  try {
    // The head may end in the middle of a letter: `stream` forgives that and nothing else.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

export function isImage(mediaType: string): boolean {
  return mediaType.startsWith("image/") && mediaType !== "image/svg+xml";
}

/** Shown in a page; everything else is handed over as a file. */
export function isServedInline(mediaType: string): boolean {
  return isImage(mediaType) || /^(video|audio)\//.test(mediaType) || mediaType === "text/plain" || mediaType === "application/json";
}

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/apng": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
  "image/avif": "avif",
  "image/tiff": "tiff",
  "image/bmp": "bmp",
  "image/svg+xml": "svg",
  "video/mp4": "mp4",
  "video/webm": "webm",
  "video/quicktime": "mov",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/ogg": "ogg",
  "application/json": "json",
  "application/zip": "zip",
  "application/pdf": "pdf",
  "text/plain": "txt",
  "text/html": "html",
  "application/xml": "xml",
};

/** For `<hash>.<ext>`; where the bytes say nothing, the name's own ending if it is a plain one. */
export function extensionOf(mediaType: string, name = ""): string {
  const known = extensions[mediaType];
  if (known) return known;
  const ending = /\.([A-Za-z0-9]{1,12})$/.exec(name)?.[1]?.toLowerCase();
  return ending ?? "bin";
}
