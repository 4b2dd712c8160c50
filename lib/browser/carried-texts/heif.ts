// The EXIF block of AVIF and HEIC pictures: in their meta box, `iinf` says which item it is and `iloc` where it is in the file.

import { type Bytes, type Found, latin1, part, Unreadable, viewOf } from "./bytes";
import { boxesIn, boxesOf } from "./films";
import { exifTexts } from "./pictures";

export async function heifTexts(bytes: Bytes, found: Found): Promise<void> {
  for await (const { type, from, to, isCut } of boxesOf(bytes, 0, bytes.size)) {
    if (type !== "meta") continue;
    if (isCut) throw new Unreadable("damaged");
    const meta = await bytes.at(from, to - from);
    const boxes = [...boxesIn(meta, 4, meta.length)];
    const contentOf = (wanted: string) => boxes.flatMap((box) => (box.type === wanted ? [meta.subarray(box.from, box.to)] : []));
    const exif = new Set(contentOf("iinf").flatMap(exifItems));
    for (const place of contentOf("iloc").flatMap(itemPlaces)) {
      if (!exif.has(place.id) || found.isDone()) continue;
      const block = await bytes.at(place.from, place.length);
      // The first number is how many bytes come before the directory.
      exifTexts(part(block, 4 + viewOf(block).getUint32(0), block.length), found);
    }
    return;
  }
}

function exifItems(content: Uint8Array<ArrayBuffer>): number[] {
  const countBytes = content[0] === 0 ? 2 : 4;
  return [...boxesIn(content, 4 + countBytes, content.length)].flatMap(({ from, to }) => {
    const item = content.subarray(from, to);
    // Version and flags, the item's number (longer since version 3), its protection, its type.
    const isLong = (item[0] ?? 0) >= 3;
    const typeAt = isLong ? 10 : 8;
    if (latin1(item.subarray(typeAt, typeAt + 4)) !== "Exif") return [];
    return [isLong ? viewOf(item).getUint32(4) : viewOf(item).getUint16(4)];
  });
}

/** The first part of each item of the file: an EXIF block has only one. */
function itemPlaces(content: Uint8Array<ArrayBuffer>): { id: number; from: number; length: number }[] {
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
  if ([offset, length, base, index].some((size) => ![0, 4, 8].includes(size))) throw new Unreadable("damaged");
  const numberBytes = version < 2 ? 2 : 4;
  const count = next(numberBytes);
  const places: { id: number; from: number; length: number }[] = [];
  for (let item = 0; item < count; item++) {
    const id = next(numberBytes);
    const how = version === 0 ? 0 : next(2) & 15;
    next(2);
    const start = next(base);
    const parts = next(2);
    const begin = at;
    next(index);
    const from = start + next(offset);
    // With another method the bytes are in this box, or in another item.
    if (how === 0 && parts > 0) places.push({ id, from, length: next(length) });
    at = begin + parts * (index + offset + length);
  }
  return places;
}
