import { boxesIn, boxesOf } from "./audio-video";
import { type Bytes, inflate, latin1, part, type TextCollector, textOf, UnreadableFile, viewOf } from "./bytes";

const MAX_KEYWORD = 80;

export async function pngTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let at = 8; at + 12 <= bytes.size && !texts.isDone();) {
    const head = await bytes.at(at, 8);
    const length = viewOf(head).getUint32(0);
    const type = latin1(head.subarray(4));
    if (type === "IEND") return;
    if (/^(tEXt|iTXt|zTXt|comf)$/.test(type)) {
      const start = await bytes.at(at + 8, Math.min(length, MAX_KEYWORD));
      const keyword = latin1(start.subarray(0, Math.max(start.indexOf(0), 0)));
      if (texts.wants(keyword)) texts.add(keyword, textOf(await pngText(type, await bytes.at(at + 8, length))));
    }
    at += length + 12;
  }
}

async function pngText(type: string, content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const end = content.indexOf(0);
  if (type === "zTXt") return inflate(content.subarray(end + 2));
  if (type !== "iTXt") return content.subarray(end + 1);
  // Compression flag, method, language, translated keyword, text.
  const text = content.subarray(content.indexOf(0, content.indexOf(0, end + 3) + 1) + 1);
  return content[end + 1] === 1 ? inflate(text) : text;
}

export async function webpTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let at = 12; at + 8 <= bytes.size;) {
    const head = await bytes.at(at, 8);
    const length = viewOf(head).getUint32(4, true);
    if (latin1(head.subarray(0, 4)) === "EXIF") return exifTexts(await bytes.at(at + 8, length), texts);
    at += 8 + length + (length % 2);
  }
}

const EXIF_MARK = "Exif\0\0";

export async function jpegTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for (let at = 2; at + 4 <= bytes.size && !texts.isDone();) {
    const head = viewOf(await bytes.at(at, 4));
    const marker = head.getUint16(0);
    // Image data follows, or an invalid segment.
    if (marker < 0xff00 || marker === 0xffda || marker === 0xffd9) return;
    const length = head.getUint16(2);
    if (length < 2) throw new UnreadableFile("damaged");
    if (marker === 0xffe1) {
      const content = await bytes.at(at + 4, length - 2);
      if (latin1(content.subarray(0, 6)) === EXIF_MARK) exifTexts(content, texts);
    }
    at += 2 + length;
  }
}

const ENTRY_BYTES = 12;
/** BYTE, ASCII and UNDEFINED have one byte per character. */
const textTypes = new Set([1, 2, 7]);

/** Finds "keyword:JSON" in texts of the main directory, whatever their tags: writers differ in the tag they use for a workflow. */
function exifTexts(block: Uint8Array<ArrayBuffer>, texts: TextCollector): void {
  const tiff = latin1(block.subarray(0, 6)) === EXIF_MARK ? block.subarray(6) : block;
  if (tiff.length < 8) return;
  const view = viewOf(tiff);
  const isLittle = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, isLittle);
  if (directory + 2 > tiff.length) throw new UnreadableFile("damaged");
  const count = Math.min(view.getUint16(directory, isLittle), Math.floor((tiff.length - directory - 2) / ENTRY_BYTES));
  for (let entry = directory + 2; entry < directory + 2 + count * ENTRY_BYTES; entry += ENTRY_BYTES) {
    const [length, from] = [view.getUint32(entry + 4, isLittle), view.getUint32(entry + 8, isLittle)];
    if (!textTypes.has(view.getUint16(entry + 2, isLittle)) || length <= 4) continue;
    // Entries may overlap, so only each entry's keyword is read.
    const [start = "", keyword = ""] = /^(\w+)\s*:/.exec(latin1(tiff.subarray(from, from + MAX_KEYWORD))) ?? [];
    if (start === "" || !texts.wants(keyword)) continue;
    let end = from + length;
    while (end > from && end <= tiff.length && tiff[end - 1] === 0) end -= 1;
    texts.add(keyword, textOf(part(tiff, from + start.length, end)));
  }
}

export async function heifTexts(bytes: Bytes, texts: TextCollector): Promise<void> {
  for await (const { type, from, to, isCut } of boxesOf(bytes, 0, bytes.size)) {
    if (type !== "meta") continue;
    if (isCut) throw new UnreadableFile("damaged");
    const meta = await bytes.at(from, to - from);
    const boxes = [...boxesIn(meta, 4, meta.length)];
    const contentOf = (boxType: string) => boxes.flatMap((box) => (box.type === boxType ? [meta.subarray(box.from, box.to)] : []));
    const exif = new Set(contentOf("iinf").flatMap(exifItems));
    for (const location of contentOf("iloc").flatMap(itemLocations)) {
      if (!exif.has(location.id) || texts.isDone()) continue;
      const block = await bytes.at(location.from, location.length);
      exifTexts(part(block, 4 + viewOf(block).getUint32(0), block.length), texts);
    }
    return;
  }
}

function exifItems(content: Uint8Array<ArrayBuffer>): number[] {
  const countBytes = content[0] === 0 ? 2 : 4;
  return [...boxesIn(content, 4 + countBytes, content.length)].flatMap(({ from, to }) => {
    const item = content.subarray(from, to);
    // Version and flags, item id (32-bit from version 3), protection index, type.
    const isLong = (item[0] ?? 0) >= 3;
    const typeAt = isLong ? 10 : 8;
    if (latin1(item.subarray(typeAt, typeAt + 4)) !== "Exif") return [];
    return [isLong ? viewOf(item).getUint32(4) : viewOf(item).getUint16(4)];
  });
}

/** The first extent of each item: EXIF items have only one. */
function itemLocations(content: Uint8Array<ArrayBuffer>): { id: number; from: number; length: number }[] {
  const view = viewOf(content);
  let at = 4;
  const next = (size: number) => {
    const value = size === 0 ? 0 : size === 2 ? view.getUint16(at) : size === 4 ? view.getUint32(at) : Number(view.getBigUint64(at));
    at += size;
    return value;
  };
  const version = view.getUint8(0);
  const sizes = next(2);
  const [offset, length, base, index] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15, version === 0 ? 0 : sizes & 15];
  if ([offset, length, base, index].some((size) => ![0, 4, 8].includes(size))) throw new UnreadableFile("damaged");
  const numberBytes = version < 2 ? 2 : 4;
  const count = next(numberBytes);
  const places: { id: number; from: number; length: number }[] = [];
  for (let item = 0; item < count; item++) {
    const id = next(numberBytes);
    const constructionMethod = version === 0 ? 0 : next(2) & 15;
    next(2);
    const start = next(base);
    const parts = next(2);
    const begin = at;
    next(index);
    const from = start + next(offset);
    if (constructionMethod === 0 && parts > 0) places.push({ id, from, length: next(length) });
    at = begin + parts * (index + offset + length);
  }
  return places;
}
