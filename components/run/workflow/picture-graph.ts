// The workflow inside a picture: in text chunks of a PNG, in the EXIF block of a WebP ("keyword:JSON" in texts of its main directory).
// Guarantees: never throws; reads headers and texts only, never the pixels; bounded in chunks, bytes and what is unpacked.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, parseJson } from "@/lib/contract/json/json";

// The texts of an EXIF block's main directory, whatever their tags: which one holds a workflow differs between writers.
// Guarantees: never throws on a damaged block; bounded by the block itself.
const ENTRY_BYTES = 12;
/** BYTE, ASCII and UNDEFINED: one byte a letter. */
const textTypes = new Set([1, 2, 7]);

function exifTexts(block: Uint8Array): string[] {
  // Some writers put the marker of JPEG files in front.
  const tiff = new TextDecoder("latin1").decode(block.subarray(0, 6)) === "Exif\0\0" ? block.subarray(6) : block;
  if (tiff.length < 8) return [];
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const isLittle = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, isLittle);
  if (directory + 2 > tiff.length) return [];
  const count = Math.min(view.getUint16(directory, isLittle), Math.floor((tiff.length - directory - 2) / ENTRY_BYTES));
  return Array.from({ length: count }, (_, index) => directory + 2 + index * ENTRY_BYTES).flatMap((entry) => {
    const length = view.getUint32(entry + 4, isLittle);
    if (!textTypes.has(view.getUint16(entry + 2, isLittle)) || length <= 4) return [];
    const from = view.getUint32(entry + 8, isLittle);
    return from + length > tiff.length ? [] : [new TextDecoder().decode(tiff.subarray(from, from + length)).replace(/\0+$/, "")];
  });
}

const MOST_BYTES = 12_000_000;
const MOST_CHUNKS = 50_000;
const PNG = "89504e470d0a1a0a";
const wanted = new Set(["prompt", "workflow"]);

export type PictureTexts = { prompt?: string; workflow?: string };

/** Undefined for what is no PNG or WebP, or carries neither text. */
export async function pictureTexts(file: Blob): Promise<PictureTexts | undefined> {
  try {
    const head = await bytesOf(file, 0, 12);
    const texts =
      hexOf(head.subarray(0, 8)) === PNG ? await pngTexts(file) : isWebp(head) ? await webpTexts(file) : new Map<string, string>();
    const [prompt, workflow] = [texts.get("prompt"), texts.get("workflow")];
    if (prompt === undefined && workflow === undefined) return undefined;
    return { ...(prompt !== undefined && { prompt }), ...(workflow !== undefined && { workflow }) };
  } catch {
    // Cut off, moved or packed wrongly: it carries nothing that can be read.
    return undefined;
  }
}

/** As a file that `readWorkflow` knows: the graph, and the editor's drawing with what comes with it. */
export function textOfPicture({ prompt, workflow }: PictureTexts): string {
  const graph = parseJson(withoutNaN(prompt ?? ""));
  const drawing = parseJson(withoutNaN(workflow ?? ""));
  if (!isObject(graph)) return workflow ?? prompt ?? "";
  return writeExactJson({ prompt: graph, extra_data: { extra_pnginfo: { ...(isObject(drawing) && { workflow: drawing }) } } });
}

/** Writers of the family let numbers through that JSON does not know. */
function withoutNaN(text: string): string {
  return parseJson(text) === undefined ? text.replace(/([:[,]\s*)-?(?:NaN|Infinity)(?=\s*[,\]}])/g, "$1null") : text;
}

async function pngTexts(file: Blob): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (let at = 8, chunk = 0; at + 12 <= file.size && chunk < MOST_CHUNKS; chunk += 1) {
    const head = await bytesOf(file, at, 8);
    const length = viewOf(head).getUint32(0);
    const type = latin1(head.subarray(4));
    if (type === "IEND") break;
    if (/^(tEXt|iTXt|zTXt)$/.test(type) && length <= MOST_BYTES) {
      const found = await pngText(type, await bytesOf(file, at + 8, length));
      if (found) texts.set(...found);
    }
    at += length + 12;
  }
  return texts;
}

async function pngText(type: string, content: Uint8Array<ArrayBuffer>): Promise<[string, string] | undefined> {
  const end = content.indexOf(0);
  const keyword = latin1(content.subarray(0, Math.max(end, 0))).toLowerCase();
  if (!wanted.has(keyword)) return undefined;
  if (type === "tEXt") return [keyword, textOf(content.subarray(end + 1))];
  if (type === "zTXt") return [keyword, textOf(await unpacked(content.subarray(end + 2)))];
  // iTXt: packed or not, method, language, translated keyword, text.
  const isPacked = content[end + 1] === 1;
  const text = content.subarray(content.indexOf(0, content.indexOf(0, end + 3) + 1) + 1);
  return [keyword, textOf(isPacked ? await unpacked(text) : text)];
}

async function webpTexts(file: Blob): Promise<Map<string, string>> {
  for (let at = 12, chunk = 0; at + 8 <= file.size && chunk < MOST_CHUNKS; chunk += 1) {
    const head = await bytesOf(file, at, 8);
    const length = viewOf(head).getUint32(4, true);
    if (latin1(head.subarray(0, 4)) === "EXIF" && length <= MOST_BYTES) {
      const named = exifTexts(await bytesOf(file, at + 8, length)).flatMap((text) => {
        const [, keyword = "", value = ""] = /^(\w+)\s*:([^]*)$/.exec(text) ?? [];
        return wanted.has(keyword.toLowerCase()) ? [[keyword.toLowerCase(), value] as const] : [];
      });
      return new Map(named);
    }
    at += 8 + length + (length % 2);
  }
  return new Map();
}

function isWebp(head: Uint8Array): boolean {
  return latin1(head.subarray(0, 4)) === "RIFF" && latin1(head.subarray(8, 12)) === "WEBP";
}

async function bytesOf(file: Blob, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.slice(from, from + length).arrayBuffer());
}

async function unpacked(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new Error("a text that unpacks to more than any workflow");
    }
    parts.push(part.value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** By the specification Latin-1, by many writers UTF-8. */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return latin1(bytes);
  }
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
