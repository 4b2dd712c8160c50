// The file extension in `<hash>.<ext>`, chosen by what the bytes are.
// Must never: give bytes the extension of another kind; readers choose the viewer by it.

import { own } from "@/lib/contract/json/own";

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
const taken = new Set([...Object.values(extensions), "jpeg", "tif", "htm", "xhtml", "js", "mjs", "css"]);

/** If the bytes do not reveal their kind (weights, meshes, tables), uses the name's own extension, unless that belongs to another kind. */
export function extensionOf(mediaType: string, name = ""): string {
  const known = own(extensions, mediaType);
  if (known) return known;
  const fallback = mediaType === "text/plain" ? "txt" : "bin";
  const ending = /\.([A-Za-z0-9]{1,12})$/.exec(name)?.[1]?.toLowerCase();
  return ending === undefined || taken.has(ending) ? fallback : ending;
}
