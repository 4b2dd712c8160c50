// The mask as PNG: black, with alpha 255 minus what is painted. Written by hand, since a canvas multiplies colours with alpha and rounds.
// Guarantees: every alpha byte is exact; rows pass through the compressor in portions, so that memory stays near the size of the file.

import { type Coverage } from "../drawing/coverage";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
const CHANNELS = 4;
const RGBA = 6;
const PORTION = 1 << 20;

export async function encodeMask(coverage: Coverage, onProgress: (share: number) => void = () => undefined): Promise<Blob> {
  const header = new DataView(new ArrayBuffer(13));
  header.setUint32(0, coverage.width);
  header.setUint32(4, coverage.height);
  header.setUint8(8, 8);
  header.setUint8(9, RGBA);
  const parts: Uint8Array<ArrayBuffer>[] = [new Uint8Array(SIGNATURE), chunk("IHDR", new Uint8Array(header.buffer))];
  const packed = rowsOf(coverage, onProgress).pipeThrough(new CompressionStream("deflate"));
  for (const reader = packed.getReader(); ;) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(chunk("IDAT", value));
  }
  parts.push(chunk("IEND", new Uint8Array(0)));
  return new Blob(parts, { type: "image/png" });
}

function rowsOf({ width, height, data }: Coverage, onProgress: (share: number) => void): ReadableStream<Uint8Array<ArrayBuffer>> {
  const stride = 1 + width * CHANNELS;
  const perPortion = Math.max(1, Math.floor(PORTION / stride));
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const rows = Math.min(perPortion, height - next);
      if (rows === 0) return controller.close();
      const bytes = new Uint8Array(rows * stride);
      for (let row = 0; row < rows; row += 1) {
        const from = (next + row) * width;
        // The row's filter byte stays 0: masks are long runs, which pack best as they are.
        let to = row * stride + CHANNELS;
        for (let at = from; at < from + width; at += 1, to += CHANNELS) bytes[to] = 255 - (data[at] ?? 0);
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
