// Removes everything but pixels and orientation from JPEG. Application segments are rewritten from the fields that decoding needs.
// Every other kept segment has exactly the length that its content requires.

import "server-only";
import { parseOrientation } from "@/lib/shared/image-size";
import { type MediaReader, NotCleanableError, type Pieces, readExactly, writeOrientationExif } from "./pieces";

const EXIF = "Exif\0\0";
const NAME_BYTES = 14;

export async function cleanJpeg(file: MediaReader, out: Pieces): Promise<void> {
  const writtenTables = new Set<string>();
  const addOnce = (name: string, content: () => Buffer) => {
    if (!writtenTables.has(name)) out.add(content());
    writtenTables.add(name);
  };
  const definedTables = new Set<string>();
  out.keep(0, 2);
  for await (const { marker, content, start, end, scanEnd } of readSegments(file)) {
    const name = content.toString("latin1", 0, NAME_BYTES);
    if (marker === 0xe0 && name.startsWith("JFIF\0")) addOnce("JFIF", () => writeSegment(0xe0, "JFIF\0\x01\x01\0\0\x01\0\x01\0\0"));
    else if (marker === 0xee && name.startsWith("Adobe") && content.length >= 12)
      addOnce("Adobe", () => writeSegment(0xee, `Adobe\0d\0\0\0\0${String.fromCharCode(Math.min(2, content[11] ?? 0))}`));
    else if (marker === 0xe1 && name.startsWith(EXIF)) {
      const orientation = parseOrientation(content.subarray(EXIF.length));
      if (orientation !== 1)
        addOnce("Exif", () => writeSegment(0xe1, Buffer.concat([Buffer.from(EXIF, "latin1"), writeOrientationExif(orientation)])));
    } else if (marker < 0xe0 || marker === 0xda) {
      if (end > start + 2 && !hasExactLength(marker, content)) throw new NotCleanableError("segment with an invalid length");
      for (const definition of listDefinitions(marker, content)) {
        if (definedTables.has(definition)) throw new NotCleanableError("a table is defined twice before a scan");
        definedTables.add(definition);
      }
      // A later scan may define new tables.
      if (marker === 0xda) for (const definition of definedTables) if (definition !== "frame") definedTables.delete(definition);
      out.keep(start, scanEnd);
    }
  }
}

/** `scanEnd` includes the bytes between a scan's header and the next marker. For other segments, it equals `end`. */
type Segment = { marker: number; content: Buffer; start: number; end: number; scanEnd: number };

/** Yields the segments up to the end of the image. */
async function* readSegments(file: MediaReader): AsyncGenerator<Segment> {
  for (let start = 2; ;) {
    const [prefix = 0, marker = 0] = await readExactly(file, start, 2);
    if (prefix !== 0xff) throw new NotCleanableError("a marker is missing");
    if (marker === 0xff) {
      start += 1;
      continue;
    }
    if (marker === 0xd9) return yield { marker, content: Buffer.alloc(0), start, end: start + 2, scanEnd: start + 2 };
    if (marker < 0xc0 || (marker >= 0xd0 && marker <= 0xd8)) throw new NotCleanableError("unsupported standalone marker");
    const end = start + 2 + (await readExactly(file, start + 2, 2)).readUInt16BE();
    if (end < start + 4 || end > file.size) throw new NotCleanableError("a segment is longer than the file");
    const content = await readExactly(file, start + 4, end - start - 4);
    const scanEnd = marker === 0xda ? await findScanEnd(file, end) : end;
    yield { marker, content, start, end, scanEnd };
    start = scanEnd;
  }
}

/** For frames, tables, restart intervals and scans, whose first bytes determine their length. */
function hasExactLength(marker: number, content: Buffer): boolean {
  const getByte = (index: number) => content[index] ?? 0;
  if (marker === 0xda) return content.length === 4 + 2 * getByte(0);
  if (marker === 0xdd) return content.length === 2;
  if (marker === 0xdb || marker === 0xc4) {
    return walkTables(marker, content, () => undefined) === content.length;
  }
  // Baseline, extended and progressive. Common decoders support no others.
  return marker <= 0xc2 && content.length === 6 + 3 * getByte(5);
}

/** Calls `onTable` with the id of each table, and returns the end of the last one. */
function walkTables(marker: number, content: Buffer, onTable: (id: number) => void): number {
  let offset = 0;
  while (offset < content.length) {
    onTable(content[offset] ?? 0);
    if (marker === 0xdb) offset += (content[offset] ?? 0) >> 4 ? 129 : 65;
    else offset += 17 + content.subarray(offset + 1, offset + 17).reduce((sum, count) => sum + count, 0);
  }
  return offset;
}

/** Lists what a segment defines for the next scan. A redefinition would leave unused bytes in the first one. */
function listDefinitions(marker: number, content: Buffer): string[] {
  const definitions: string[] = [];
  if (marker === 0xdb) walkTables(marker, content, (id) => definitions.push(`quantization ${id & 15}`));
  else if (marker === 0xc4) walkTables(marker, content, (id) => definitions.push(`codes ${id}`));
  else if (marker === 0xdd) definitions.push("restarts");
  else if (marker <= 0xc2) definitions.push("frame");
  return definitions;
}

function writeSegment(marker: number, content: Buffer | string): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content, "latin1") : content;
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(bytes.length + 2, 2);
  return Buffer.concat([head, bytes]);
}

/** Finds the next marker that does not belong to the scan itself. */
async function findScanEnd(file: MediaReader, from: number): Promise<number> {
  const CHUNK_BYTES = 64 * 1024;
  for (let offset = from; ;) {
    const bytes = await file.read(offset, CHUNK_BYTES);
    if (bytes.length < 2) throw new NotCleanableError("the image has no end");
    for (let index = bytes.indexOf(0xff); index >= 0 && index + 1 < bytes.length; index = bytes.indexOf(0xff, index + 1)) {
      const marker = bytes[index + 1] ?? 0;
      if (marker !== 0 && marker !== 0xff && (marker < 0xd0 || marker > 0xd7)) return offset + index;
    }
    offset += bytes.length - 1;
  }
}
