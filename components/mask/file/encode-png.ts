// Encodes the mask as a black PNG with alpha 255 minus the painted amount. A canvas would not keep exact alpha values.
// For a photograph with an EXIF orientation, the mask is stored in the original's pixel order with the same orientation, so that programs that
// rotate both or neither get matching files. Rows are compressed in portions to limit memory.

import { type Coverage, type Size } from "../drawing/coverage";

/** How to write a mask so that it matches the original's stored pixels and orientation. */
export type MaskEncoding = {
  orientation: number;
  /** Whether the mask was drawn over the rotated picture, and must be rotated back. */
  isTurned: boolean;
};

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS = 4;
const RGBA_COLOR_TYPE = 6;
const PORTION_BYTES = 1 << 20;

export async function encodeMask(
  coverage: Coverage,
  onProgress: (share: number) => void = () => undefined,
  hold?: MaskEncoding,
): Promise<Blob> {
  const grid = getGrid(coverage, hold?.isTurned ? hold.orientation : 1);
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, grid.width);
  header.setUint32(4, grid.height);
  header.setUint8(8, 8);
  header.setUint8(9, RGBA_COLOR_TYPE);
  const parts: Uint8Array<ArrayBuffer>[] = [new Uint8Array(SIGNATURE), chunk("IHDR", new Uint8Array(header.buffer))];
  if (hold) parts.push(chunk("eXIf", encodeExif(hold.orientation)));
  const packed = streamRows(coverage.data, grid, onProgress).pipeThrough(new CompressionStream("deflate"));
  for (const reader = packed.getReader(); ;) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(chunk("IDAT", value));
  }
  parts.push(chunk("IEND", new Uint8Array(0)));
  return new Blob(parts, { type: "image/png" });
}

/** The order of the output pixels within the upright coverage: the first index, and the steps across and down. */
type Grid = Size & { first: number; across: number; down: number };

/** The grid for an EXIF orientation. */
function getGrid({ width, height }: Size, orientation: number): Grid {
  const last = width * height - 1;
  const [right, bottom] = [width - 1, last - width + 1];
  const rotated = { width: height, height: width };
  const upright = { width, height, first: 0, across: 1, down: width };
  const smallerGrids: Readonly<Record<number, Grid>> = {
    2: { width, height, first: right, across: -1, down: width },
    3: { width, height, first: last, across: -1, down: -width },
    4: { width, height, first: bottom, across: 1, down: -width },
    5: { ...rotated, first: 0, across: width, down: 1 },
    6: { ...rotated, first: right, across: width, down: -1 },
    7: { ...rotated, first: last, across: -width, down: -1 },
    8: { ...rotated, first: bottom, across: -width, down: 1 },
  };
  return smallerGrids[orientation] ?? upright;
}

/** The shortest EXIF block with an orientation. */
function encodeExif(orientation: number): Uint8Array {
  const bigEndian = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8];
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  return Uint8Array.from([...bigEndian, 0, 1, ...entry, 0, 0, 0, 0]);
}

function streamRows(
  data: Uint8Array,
  { width, height, first, across, down }: Grid,
  onProgress: (share: number) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const stride = 1 + width * CHANNELS;
  const perPortion = Math.max(1, Math.floor(PORTION_BYTES / stride));
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const rows = Math.min(perPortion, height - next);
      if (rows === 0) return controller.close();
      const bytes = new Uint8Array(rows * stride);
      for (let row = 0; row < rows; row += 1) {
        let from = first + (next + row) * down;
        // The row's filter byte is 0, since masks compress best unfiltered.
        let to = row * stride + CHANNELS;
        for (let column = 0; column < width; column += 1, from += across, to += CHANNELS) bytes[to] = 255 - (data[from] ?? 0);
      }
      next += rows;
      onProgress(next / height);
      controller.enqueue(bytes);
    },
  });
}

function chunk(name: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(body.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  for (let at = 0; at < 4; at += 1) bytes[4 + at] = name.charCodeAt(at);
  bytes.set(body, 8);
  view.setUint32(body.length + 8, crc(bytes.subarray(4, body.length + 8)));
  return bytes;
}

const table = Uint32Array.from({ length: 256 }, (_, start) => {
  let value = start;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (table[(value ^ byte) & 255] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
