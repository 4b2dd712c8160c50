import { fileTypeFromBuffer } from "file-type";
import { getOwn } from "@/lib/contract/json/json";

export const HEAD_BYTES = 4100;
/** The limit for images that the service decodes. */
export const MAX_PIXELS = 67_108_864;
const BINARY_TYPE = "application/octet-stream";
const textFormatPattern = /^(text\/.+|application\/(rtf|pdf|postscript))$/;

export async function sniffMediaType(head: Buffer): Promise<string> {
  // file-type misdetects two formats: safetensors, whose length may look like "BM", and UTF-16 ("MPEG layer 1").
  if (isSafetensors(head) || isUtf16(head)) return BINARY_TYPE;
  const text = isText(head) ? head.toString("utf8") : undefined;
  const fileType = await fileTypeFromBuffer(head);
  // Text may happen to begin like a program, archive or image. For XML, the content determines the type.
  if (fileType && fileType.mime !== "application/xml" && (text === undefined || textFormatPattern.test(fileType.mime)))
    return fileType.mime;
  return text === undefined ? BINARY_TYPE : sniffText(text, head.length < HEAD_BYTES);
}

function sniffText(text: string, isComplete: boolean): string {
  const body = text.replace(/^\uFEFF/, "").trimStart();
  if (isJson(body, isComplete)) return "application/json";
  const start = body.slice(0, 2000).toLowerCase();
  if (/<svg[\s>/]/.test(start)) return "image/svg+xml";
  if (/^<!doctype html|<(html|head|body|script|iframe|style)[\s>/]/.test(start)) return "text/html";
  if (start.startsWith("<?xml")) return "application/xml";
  return "text/plain";
}

function isJson(body: string, isComplete: boolean): boolean {
  if (!/^(\{\s*["}]|\[\s*([[\]{"\d-]|true|false|null))/.test(body)) return false;
  if (!isComplete) return true;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false; // begins like JSON but is plain text
  }
}

function isText(head: Buffer): boolean {
  if (head.length === 0 || head.includes(0)) return false;
  try {
    // The head may end in the middle of a character, which `stream` accepts.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false; // not UTF-8
  }
}

function isUtf16(head: Buffer): boolean {
  const byteOrderMark = head.length >= 4 ? head.readUInt16BE(0) : 0;
  return (byteOrderMark === 0xfffe && head[3] === 0) || (byteOrderMark === 0xfeff && head[2] === 0);
}

function isSafetensors(head: Buffer): boolean {
  return head.length > 10 && head[8] === 0x7b && head.readBigUInt64LE(0) < 100_000_000n && head.readBigUInt64LE(0) > 1n;
}

export function isImage(mediaType: string): boolean {
  return mediaType.startsWith("image/") && !/[+/]xml$/.test(mediaType);
}

/** Types that the image library decodes. Other images are ordinary files. */
export const rasterTypes = ["image/png", "image/apng", "image/jpeg", "image/webp", "image/gif", "image/avif", "image/tiff"] as const;
const rasters: ReadonlySet<string> = new Set(rasterTypes);

export function isRaster(mediaType: string): boolean {
  return rasters.has(mediaType);
}

/** Names of files that a browser may execute when they are opened. Their bytes look like any other text. */
const activeNamePattern = /\.(html?|xhtml?|xht|shtml|svgz?|xml|xslt?|js|mjs|cjs|jsx|ts|css|hta|mht(ml)?|swf|vbs|wasm)$/i;

/** True if browsers may display it. Everything else is sent as a download. */
export function canServeInline(mediaType: string, name: string): boolean {
  if (isImage(mediaType) || /^(video|audio)\/(?!.*[+/]xml$)/.test(mediaType)) return true;
  return (mediaType === "text/plain" || mediaType === "application/json") && !activeNamePattern.test(name);
}

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/apng": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "image/gif": "gif",
  "image/avif": "avif",
  "image/heic": "heic",
  "image/tiff": "tiff",
  "image/bmp": "bmp",
  "image/svg+xml": "svg",
  "image/jxl": "jxl",
  "image/vnd.adobe.photoshop": "psd",
  "image/x-icon": "ico",
  "image/x-exr": "exr",
  "video/mp4": "mp4",
  "video/x-m4v": "m4v",
  "video/webm": "webm",
  "video/matroska": "mkv",
  "video/x-matroska": "mkv",
  "video/quicktime": "mov",
  "video/vnd.avi": "avi",
  "video/x-msvideo": "avi",
  "video/mpeg": "mpg",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "audio/x-wav": "wav",
  "audio/flac": "flac",
  "audio/x-flac": "flac",
  "audio/ogg": "ogg",
  "audio/opus": "opus",
  "audio/aac": "aac",
  "audio/mp4": "m4a",
  "audio/x-m4a": "m4a",
  "audio/aiff": "aiff",
  "model/gltf-binary": "glb",
  "application/json": "json",
  "application/zip": "zip",
  "application/gzip": "gz",
  "application/pdf": "pdf",
  "application/rtf": "rtf",
  "application/xml": "xml",
  "text/html": "html",
};
const knownExtensions = new Set([...Object.values(extensions), "jpeg", "tif", "htm", "xhtml", "js", "mjs", "css"]);

/** If the type is unknown (weights, meshes, tables), returns the name's extension unless it belongs to a known type. */
export function getExtension(mediaType: string, name = ""): string {
  const extension = getOwn(extensions, mediaType);
  if (extension) return extension;
  const fallback = mediaType === "text/plain" ? "txt" : "bin";
  const nameExtension = /\.([A-Za-z0-9]{1,12})$/.exec(name)?.[1]?.toLowerCase();
  return nameExtension === undefined || knownExtensions.has(nameExtension) ? fallback : nameExtension;
}

export type PreviewKind = "image" | "video" | "audio" | "model" | "other";

const meshExtensionPattern = /^(glb|gltf|obj|fbx|stl|ply|usdz)$/;

export function getPreviewKind(mediaType: string, fileName: string): PreviewKind {
  if (isRaster(mediaType)) return "image";
  if (mediaType.startsWith("video/")) return "video";
  if (mediaType.startsWith("audio/")) return "audio";
  return mediaType.startsWith("model/") || meshExtensionPattern.test(fileName.split(".").at(-1) ?? "") ? "model" : "other";
}
