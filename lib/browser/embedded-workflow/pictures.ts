import { listBoxes, readBoxes } from "./audio-video";
import { type Bytes, createView, decodeBytes, decodeLatin1, decompress, takePart, type TextCollector, UnreadableFile } from "./bytes";

const MAX_KEYWORD_LENGTH = 80;

export async function readPngTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let offset = 8; offset + 12 <= bytes.size && !texts.isDone();) {
    const head = await bytes.at(offset, 8);
    const length = createView(head).getUint32(0);
    const type = decodeLatin1(head.subarray(4));
    if (type === "IEND") return;
    if (/^(tEXt|iTXt|zTXt|comf)$/.test(type)) {
      const start = await bytes.at(offset + 8, Math.min(length, MAX_KEYWORD_LENGTH));
      const keyword = decodeLatin1(start.subarray(0, Math.max(start.indexOf(0), 0)));
      if (texts.wants(keyword)) texts.add(keyword, decodeBytes(await decodePngText(type, await bytes.at(offset + 8, length))));
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

export async function readWebpTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let offset = 12; offset + 8 <= bytes.size;) {
    const head = await bytes.at(offset, 8);
    const length = createView(head).getUint32(4, true);
    if (decodeLatin1(head.subarray(0, 4)) === "EXIF") return readExifTexts(await bytes.at(offset + 8, length), texts);
    offset += 8 + length + (length % 2);
  }
}

const EXIF_PREFIX = "Exif\0\0";

export async function readJpegTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let offset = 2; offset + 4 <= bytes.size && !texts.isDone();) {
    const head = createView(await bytes.at(offset, 4));
    const marker = head.getUint16(0);
    // Image data follows, or an invalid segment.
    if (marker < 0xff00 || marker === 0xffda || marker === 0xffd9) return;
    const length = head.getUint16(2);
    if (length < 2) throw new UnreadableFile("damaged");
    if (marker === 0xffe1) {
      const content = await bytes.at(offset + 4, length - 2);
      if (decodeLatin1(content.subarray(0, 6)) === EXIF_PREFIX) readExifTexts(content, texts);
    }
    offset += 2 + length;
  }
}

const ENTRY_BYTES = 12;
/** BYTE, ASCII and UNDEFINED have one byte per character. */
const textTypes = new Set([1, 2, 7]);

/** Finds "keyword:JSON" in all texts of the main directory, because programs use different tags for a workflow. */
function readExifTexts(block: Uint8Array<ArrayBuffer>, texts: TextCollector): void {
  const tiff = decodeLatin1(block.subarray(0, 6)) === EXIF_PREFIX ? block.subarray(6) : block;
  if (tiff.length < 8) return;
  const view = createView(tiff);
  const isLittleEndian = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, isLittleEndian);
  if (directory + 2 > tiff.length) throw new UnreadableFile("damaged");
  const count = Math.min(view.getUint16(directory, isLittleEndian), Math.floor((tiff.length - directory - 2) / ENTRY_BYTES));
  for (let entry = directory + 2; entry < directory + 2 + count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const [length, from] = [view.getUint32(entry + 4, isLittleEndian), view.getUint32(entry + 8, isLittleEndian)];
    if (!textTypes.has(view.getUint16(entry + 2, isLittleEndian)) || length <= 4) continue;
    // Entries may overlap, so only each entry's keyword is read.
    const [start = "", keyword = ""] = /^(\w+)\s*:/.exec(decodeLatin1(tiff.subarray(from, from + MAX_KEYWORD_LENGTH))) ?? [];
    if (start === "" || !texts.wants(keyword)) continue;
    let end = from + length;
    while (end > from && end <= tiff.length && tiff[end - 1] === 0) end -= 1;
    texts.add(keyword, decodeBytes(takePart(tiff, from + start.length, end)));
  }
}

export async function readHeifTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for await (const { type, from, to, isCut } of readBoxes(bytes, 0, bytes.size)) {
    if (type !== "meta") continue;
    if (isCut) throw new UnreadableFile("damaged");
    const meta = await bytes.at(from, to - from);
    const boxes = [...listBoxes(meta, 4, meta.length)];
    const getContents = (boxType: string) => boxes.flatMap((box) => (box.type === boxType ? [meta.subarray(box.from, box.to)] : []));
    const exif = new Set(getContents("iinf").flatMap(listExifItems));
    for (const location of getContents("iloc").flatMap(listItemLocations)) {
      if (!exif.has(location.id) || texts.isDone()) continue;
      const block = await bytes.at(location.from, location.length);
      readExifTexts(takePart(block, 4 + createView(block).getUint32(0), block.length), texts);
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

/** The first extent of each item, because EXIF items have only one. */
function listItemLocations(content: Uint8Array<ArrayBuffer>): { id: number; from: number; length: number }[] {
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
  const [offset, length, base, index] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15, version === 0 ? 0 : sizes & 15];
  if ([offset, length, base, index].some((size) => ![0, 4, 8].includes(size))) throw new UnreadableFile("damaged");
  const numberBytes = version < 2 ? 2 : 4;
  const count = readNumber(numberBytes);
  const locations: { id: number; from: number; length: number }[] = [];
  for (let item = 0; item < count; item++) {
    const id = readNumber(numberBytes);
    const constructionMethod = version === 0 ? 0 : readNumber(2) & 15;
    readNumber(2);
    const start = readNumber(base);
    const parts = readNumber(2);
    const extentsStart = position;
    readNumber(index);
    const from = start + readNumber(offset);
    if (constructionMethod === 0 && parts > 0) locations.push({ id, from, length: readNumber(length) });
    position = extentsStart + parts * (index + offset + length);
  }
  return locations;
}
