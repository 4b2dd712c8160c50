// Reads the workflow embedded in an image, video, audio file or 3D model. The first bytes determine the format.

import { asObject, isObject } from "@/lib/contract/json/json";
import { parseJson, parseLenient, TooManyExactNumbersError } from "@/lib/contract/json/parse-json";
import { type ByteSource } from "../files/byte-source";
import { listBoxes, readBoxes, readFlacTexts, readId3Texts, readMatroskaTexts, readMovieTexts, readOggTexts } from "./audio-video";
import {
  addTextsFromObject,
  type ByteReader,
  createByteReader,
  createTextCollector,
  createView,
  decodeBytes,
  decodeLatin1,
  decompress,
  sliceOrThrow,
  type TextCollector,
  UnreadableFileError,
} from "./byte-reader";

export type EmbeddedWorkflow =
  { kind: "workflow"; text: string } | { kind: "none"; isPicture: boolean } | { kind: "damaged" | "too_much" } | { kind: "unknown" };

type FileFormat = {
  isPicture?: true;
  matches: (head: string) => boolean;
  read: (reader: ByteReader, texts: TextCollector) => Promise<void>;
};

const fileFormats: readonly FileFormat[] = [
  { isPicture: true, matches: (head) => head.startsWith("\x89PNG\r\n\x1a\n"), read: readPngTexts },
  { isPicture: true, matches: (head) => head.startsWith("\xff\xd8\xff"), read: readJpegTexts },
  { isPicture: true, matches: (head) => head.startsWith("RIFF") && head.slice(8, 12) === "WEBP", read: readWebpTexts },
  { isPicture: true, matches: (head) => /^(\ufeff|ï»¿)?\s*<(\?xml[^]*<svg\b|svg\b)/.test(head), read: readSvgTexts },
  // The brand distinguishes AVIF and HEIC from videos.
  {
    isPicture: true,
    matches: (head) => /^ftyp(avi[fs]|hei[cxms]|hev[cxms]|mif1|msf1)$/.test(head.slice(4, 12)),
    read: readHeifTexts,
  },
  { matches: (head) => /^(ftyp|moov|mdat|wide|free|skip)$/.test(head.slice(4, 8)), read: readMovieTexts },
  { matches: (head) => head.startsWith("\x1aE\xdf\xa3"), read: readMatroskaTexts },
  { matches: (head) => head.startsWith("fLaC"), read: readFlacTexts },
  { matches: (head) => head.startsWith("OggS"), read: readOggTexts },
  { matches: (head) => head.startsWith("ID3"), read: readId3Texts },
  { matches: (head) => head.startsWith("glTF"), read: readGlbTexts },
  // Safetensors: the length of the JSON header (below 4 GiB), then the header.
  { matches: (head) => head.slice(4, 9) === "\0\0\0\0{", read: readSafetensorsTexts },
];

const HEAD_BYTES = 512;

export async function readEmbeddedWorkflow(source: ByteSource): Promise<EmbeddedWorkflow> {
  const reader = createByteReader(source);
  const head = toLatin1(await source.read(0, Math.min(HEAD_BYTES, source.size)));
  const format = fileFormats.find(({ matches }) => matches(head));
  if (!format) return { kind: "unknown" };
  const texts = createTextCollector();
  let reason: UnreadableFileError["reason"] | undefined;
  try {
    await format.read(reader, texts);
  } catch (cause) {
    if (cause instanceof UnreadableFileError) reason = cause.reason;
    else if (cause instanceof RangeError) reason = "damaged";
    else throw cause;
  }
  const text = combineTexts(texts);
  if (text !== undefined) return { kind: "workflow", text };
  return reason ? { kind: reason } : { kind: "none", isPicture: format.isPicture === true };
}

/** Combines the graph and its editor file into JSON for `readWorkflow`, which reports invalid JSON. */
function combineTexts({ prompt: graph, workflow: editorFile }: TextCollector): string | undefined {
  if (!graph || !isJsonObject(graph)) return editorFile ?? graph;
  const extra = editorFile && isJsonObject(editorFile) ? `,"extra_data":{"extra_pnginfo":{"workflow":${editorFile}}}` : "";
  return `{"prompt":${graph}${extra}}`;
}

/** Returns true for JSON with too many numbers that need exact parsing, so that `readWorkflow` reports that error. */
function isJsonObject(text: string): boolean {
  try {
    return isObject(parseLenient(text));
  } catch (error) {
    return error instanceof TooManyExactNumbersError;
  }
}

/** The first chunk is JSON, and custom data is in `asset.extras`. */
async function readGlbTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  const head = createView(await reader.read(12, 8));
  if (head.getUint32(4) !== 0x4a534f4e) throw new UnreadableFileError("damaged");
  const scene = parseJson(new TextDecoder().decode(await reader.read(20, head.getUint32(0, true))));
  if (!isObject(scene)) throw new UnreadableFileError("damaged");
  addTextsFromObject(texts, asObject(scene.asset)?.extras);
}

async function readSafetensorsTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  const header = parseJson(new TextDecoder().decode(await reader.read(8, createView(await reader.read(0, 8)).getUint32(0, true))));
  if (!isObject(header)) throw new UnreadableFileError("damaged");
  addTextsFromObject(texts, header.__metadata__);
}

async function readSvgTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  const text = new TextDecoder().decode(await reader.read(0, reader.size));
  const [cdataStart, cdataEnd] = ["<![CDATA[", "]]>"];
  const jsonStart = text.indexOf(cdataStart, text.indexOf("<metadata"));
  const jsonEnd = text.indexOf(cdataEnd, jsonStart);
  if (jsonStart >= 0 && jsonEnd >= 0) addTextsFromObject(texts, parseJson(text.slice(jsonStart + cdataStart.length, jsonEnd)));
}

/** TextDecoder's "latin1" is windows-1252, which differs from 128 to 159. */
function toLatin1(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

const MAX_KEYWORD_LENGTH = 80;

async function readPngTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  for (let offset = 8; offset + 12 <= reader.size && !texts.isDone();) {
    const head = await reader.read(offset, 8);
    const length = createView(head).getUint32(0);
    const type = decodeLatin1(head.subarray(4));
    if (type === "IEND") return;
    if (/^(tEXt|iTXt|zTXt|comf)$/.test(type)) {
      const keywordBytes = await reader.read(offset + 8, Math.min(length, MAX_KEYWORD_LENGTH));
      const keyword = decodeLatin1(keywordBytes.subarray(0, Math.max(keywordBytes.indexOf(0), 0)));
      if (texts.shouldRead(keyword)) texts.add(keyword, decodeBytes(await decodePngText(type, await reader.read(offset + 8, length))));
    }
    offset += length + 12;
  }
}

async function decodePngText(type: string, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const end = content.indexOf(0);
  if (type === "zTXt") return decompress(content.subarray(end + 2));
  if (type !== "iTXt") return content.subarray(end + 1);
  // Compression flag, method, language, translated keyword, text.
  const text = content.subarray(content.indexOf(0, content.indexOf(0, end + 3) + 1) + 1);
  return content[end + 1] === 1 ? decompress(text) : text;
}

async function readWebpTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  for (let offset = 12; offset + 8 <= reader.size;) {
    const head = await reader.read(offset, 8);
    const length = createView(head).getUint32(4, true);
    if (decodeLatin1(head.subarray(0, 4)) === "EXIF") return readExifTexts(await reader.read(offset + 8, length), texts);
    offset += 8 + length + (length % 2);
  }
}

const EXIF_PREFIX = "Exif\0\0";

async function readJpegTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  for (let offset = 2; offset + 4 <= reader.size && !texts.isDone();) {
    const head = createView(await reader.read(offset, 4));
    const marker = head.getUint16(0);
    // The image data starts here, or the segment is invalid.
    if (marker < 0xff00 || marker === 0xffda || marker === 0xffd9) return;
    const length = head.getUint16(2);
    if (length < 2) throw new UnreadableFileError("damaged");
    if (marker === 0xffe1) {
      const content = await reader.read(offset + 4, length - 2);
      if (decodeLatin1(content.subarray(0, 6)) === EXIF_PREFIX) readExifTexts(content, texts);
    }
    offset += 2 + length;
  }
}

const ENTRY_BYTES = 12;
/** BYTE, ASCII and UNDEFINED have one byte per character. */
const textTypes = new Set([1, 2, 7]);

/** Finds "keyword:JSON" in all text entries of the main directory (IFD0), because programs use different tags for a workflow. */
function readExifTexts(block: Uint8Array<ArrayBuffer>, texts: TextCollector): void {
  const tiff = decodeLatin1(block.subarray(0, 6)) === EXIF_PREFIX ? block.subarray(6) : block;
  if (tiff.length < 8) return;
  const view = createView(tiff);
  const isLittleEndian = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, isLittleEndian);
  if (directory + 2 > tiff.length) throw new UnreadableFileError("damaged");
  const count = Math.min(view.getUint16(directory, isLittleEndian), Math.floor((tiff.length - directory - 2) / ENTRY_BYTES));
  for (let entry = directory + 2; entry < directory + 2 + count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const [length, start] = [view.getUint32(entry + 4, isLittleEndian), view.getUint32(entry + 8, isLittleEndian)];
    if (!textTypes.has(view.getUint16(entry + 2, isLittleEndian)) || length <= 4) continue;
    // Entries may overlap. Only the keyword is decoded first, so that a small file can't cause large reads.
    const [prefix = "", keyword = ""] = /^(\w+)\s*:/.exec(decodeLatin1(tiff.subarray(start, start + MAX_KEYWORD_LENGTH))) ?? [];
    if (prefix === "" || !texts.shouldRead(keyword)) continue;
    let end = start + length;
    while (end > start && end <= tiff.length && tiff[end - 1] === 0) end -= 1;
    texts.add(keyword, decodeBytes(sliceOrThrow(tiff, start + prefix.length, end)));
  }
}

async function readHeifTexts(reader: ByteReader, texts: TextCollector): Promise<void> {
  for await (const { type, from, to, isTruncated } of readBoxes(reader, 0, reader.size)) {
    if (type !== "meta") continue;
    if (isTruncated) throw new UnreadableFileError("damaged");
    const meta = await reader.read(from, to - from);
    const boxes = [...listBoxes(meta, 4, meta.length)];
    const getContents = (boxType: string) => boxes.flatMap((box) => (box.type === boxType ? [meta.subarray(box.from, box.to)] : []));
    const exifIds = new Set(getContents("iinf").flatMap(listExifItems));
    for (const itemLocation of getContents("iloc").flatMap(listItemLocations)) {
      if (!exifIds.has(itemLocation.id) || texts.isDone()) continue;
      const block = await reader.read(itemLocation.start, itemLocation.length);
      readExifTexts(sliceOrThrow(block, 4 + createView(block).getUint32(0), block.length), texts);
    }
    return;
  }
}

function listExifItems(content: Uint8Array<ArrayBuffer>): number[] {
  const countBytes = content[0] === 0 ? 2 : 4;
  return [...listBoxes(content, 4 + countBytes, content.length)].flatMap(({ from, to }) => {
    const item = content.subarray(from, to);
    // Version and flags, item id (32-bit from version 3), protection index, type.
    const has32BitId = (item[0] ?? 0) >= 3;
    const typeOffset = has32BitId ? 10 : 8;
    if (decodeLatin1(item.subarray(typeOffset, typeOffset + 4)) !== "Exif") return [];
    return [has32BitId ? createView(item).getUint32(4) : createView(item).getUint16(4)];
  });
}

/** Lists the first extent of each item, because EXIF items have only one. */
function listItemLocations(content: Uint8Array<ArrayBuffer>): { id: number; start: number; length: number }[] {
  const view = createView(content);
  let position = 4;
  const readNumber = (size: number) => {
    const value =
      size === 0 ? 0 : size === 2 ? view.getUint16(position) : size === 4 ? view.getUint32(position) : Number(view.getBigUint64(position));
    position += size;
    return value;
  };
  const version = view.getUint8(0);
  const sizes = readNumber(2);
  const [offsetBytes, lengthBytes, baseBytes, indexBytes] = [
    sizes >> 12,
    (sizes >> 8) & 15,
    (sizes >> 4) & 15,
    version === 0 ? 0 : sizes & 15,
  ];
  if ([offsetBytes, lengthBytes, baseBytes, indexBytes].some((size) => ![0, 4, 8].includes(size))) throw new UnreadableFileError("damaged");
  const numberBytes = version < 2 ? 2 : 4;
  const count = readNumber(numberBytes);
  const locations: { id: number; start: number; length: number }[] = [];
  for (let item = 0; item < count; item++) {
    const id = readNumber(numberBytes);
    const constructionMethod = version === 0 ? 0 : readNumber(2) & 15;
    readNumber(2);
    const baseOffset = readNumber(baseBytes);
    const extentCount = readNumber(2);
    const extentsStart = position;
    readNumber(indexBytes);
    const start = baseOffset + readNumber(offsetBytes);
    if (constructionMethod === 0 && extentCount > 0) locations.push({ id, start, length: readNumber(lengthBytes) });
    position = extentsStart + extentCount * (indexBytes + offsetBytes + lengthBytes);
  }
  return locations;
}
