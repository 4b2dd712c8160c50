// Encodes the mask as a black PNG with an alpha of 255 minus the painted amount. A canvas would not keep exact alpha values.
// For a photograph with an EXIF orientation, the mask is stored in the pixel order and orientation of the original. Programs that rotate both
// files, or neither, then get matching results. Rows are compressed in chunks to limit memory.

import { type Coverage, type Size } from "../drawing/coverage";

/** How to write a mask so that it matches the original's stored pixels and orientation. */
export type MaskEncoding = {
  orientation: number;
  /** Whether the mask was drawn over the rotated image, and must be rotated back. */
  isRotated: boolean;
};

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS = 4;
const RGBA_COLOR_TYPE = 6;
const CHUNK_BYTES = 1 << 20;

export async function encodeMask(
  coverage: Coverage,
  onProgress: (share: number) => void = () => undefined,
  encoding?: MaskEncoding,
): Promise<Blob> {
  const grid = getGrid(coverage, encoding?.isRotated ? encoding.orientation : 1);
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, grid.width);
  header.setUint32(4, grid.height);
  header.setUint8(8, 8);
  header.setUint8(9, RGBA_COLOR_TYPE);
  const parts: Uint8Array<ArrayBuffer>[] = [new Uint8Array(SIGNATURE), encodeChunk("IHDR", new Uint8Array(header.buffer))];
  if (encoding) parts.push(encodeChunk("eXIf", encodeExif(encoding.orientation)));
  const compressedStream = streamRows(coverage.data, grid, onProgress).pipeThrough(new CompressionStream("deflate"));
  for (const reader = compressedStream.getReader(); ;) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(encodeChunk("IDAT", value));
  }
  parts.push(encodeChunk("IEND", new Uint8Array(0)));
  return new Blob(parts, { type: "image/png" });
}

/** The order of the output pixels in the upright coverage: the first index, and the steps to the next column and row. */
type Grid = Size & { firstIndex: number; columnStep: number; rowStep: number };

/** The grid for an EXIF orientation. */
function getGrid({ width, height }: Size, orientation: number): Grid {
  const lastIndex = width * height - 1;
  const [right, bottom] = [width - 1, lastIndex - width + 1];
  const rotatedSize = { width: height, height: width };
  const uprightGrid = { width, height, firstIndex: 0, columnStep: 1, rowStep: width };
  const gridByOrientation: Readonly<Record<number, Grid>> = {
    2: { width, height, firstIndex: right, columnStep: -1, rowStep: width },
    3: { width, height, firstIndex: lastIndex, columnStep: -1, rowStep: -width },
    4: { width, height, firstIndex: bottom, columnStep: 1, rowStep: -width },
    5: { ...rotatedSize, firstIndex: 0, columnStep: width, rowStep: 1 },
    6: { ...rotatedSize, firstIndex: right, columnStep: width, rowStep: -1 },
    7: { ...rotatedSize, firstIndex: lastIndex, columnStep: -width, rowStep: -1 },
    8: { ...rotatedSize, firstIndex: bottom, columnStep: -width, rowStep: 1 },
  };
  return gridByOrientation[orientation] ?? uprightGrid;
}

/** Returns a minimal EXIF block with the orientation. */
function encodeExif(orientation: number): Uint8Array {
  const bigEndian = [0x4d, 0x4d, 0, 42, 0, 0, 0, 8];
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0];
  return Uint8Array.from([...bigEndian, 0, 1, ...entry, 0, 0, 0, 0]);
}

function streamRows(
  data: Uint8Array,
  { width, height, firstIndex, columnStep, rowStep }: Grid,
  onProgress: (share: number) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const stride = 1 + width * CHANNELS;
  const rowsPerChunk = Math.max(1, Math.floor(CHUNK_BYTES / stride));
  let nextRow = 0;
  return new ReadableStream({
    pull(controller) {
      const rowCount = Math.min(rowsPerChunk, height - nextRow);
      if (rowCount === 0) return controller.close();
      const bytes = new Uint8Array(rowCount * stride);
      for (let row = 0; row < rowCount; row += 1) {
        let sourceIndex = firstIndex + (nextRow + row) * rowStep;
        // The row's filter byte stays 0, because masks compress best without filters.
        let targetIndex = row * stride + CHANNELS;
        for (let column = 0; column < width; column += 1, sourceIndex += columnStep, targetIndex += CHANNELS)
          bytes[targetIndex] = 255 - (data[sourceIndex] ?? 0);
      }
      nextRow += rowCount;
      onProgress(nextRow / height);
      controller.enqueue(bytes);
    },
  });
}

function encodeChunk(name: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(body.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  for (let index = 0; index < 4; index += 1) bytes[4 + index] = name.charCodeAt(index);
  bytes.set(body, 8);
  view.setUint32(body.length + 8, computeCrc(bytes.subarray(4, body.length + 8)));
  return bytes;
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function computeCrc(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = (crcTable[(value ^ byte) & 255] ?? 0) ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
