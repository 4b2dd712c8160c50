// Lanczos as Pillow does it: on bytes, with antialiasing, in fixed point, rows first and bytes again between the passes.
// The steps are Pillow's own (coefficients normalised, 22 bits of precision), so that the result is the same to the byte.

import { HALF, kernel, PRECISION, reserve } from "./lanczos-kernel";
import { coefficients } from "./lanczos-weights";
import { type Frame, frameOfBytes } from "./frame";
import { type Size } from "./raster";
import { type Tick } from "./tick";

function clipByte(sum: number): number {
  const value = sum >> PRECISION;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

function alongRows(bytes: Uint8Array, from: Size & { channels: number }, width: number, tick: Tick): Uint8Array {
  return from.channels === 3 ? alongRowsOfThree(bytes, from, width, tick) : alongRowsOfOne(bytes, from, width, tick);
}

function alongRowsOfThree(bytes: Uint8Array, from: Size, width: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, pairs } = coefficients(from.width, width);
  const [stride, outStride] = [from.width * 3, width * 3];
  const { places, buffer } = reserve([stride, width * 8, pairs.byteLength, outStride]);
  const [source = 0, table = 0, factors = 0, result = 0] = places;
  const memory = new Uint8Array(buffer);
  const entries = new Int32Array(buffer, table, width * 2);
  for (let x = 0; x < width; x++) {
    entries[x * 2] = (firsts[x] ?? 0) * 3;
    entries[x * 2 + 1] = (counts[x] ?? 0) * Int32Array.BYTES_PER_ELEMENT;
  }
  new Int32Array(buffer, factors, pairs.length).set(pairs);
  const out = new Uint8Array(outStride * from.height);
  for (let y = 0; y < from.height; y++) {
    memory.set(bytes.subarray(y * stride, (y + 1) * stride), source);
    kernel.rowOfThree(source, table, factors, result, result + outStride, reach * 4);
    out.set(memory.subarray(result, result + outStride), y * outStride);
    tick((y + 1) / from.height);
  }
  return out;
}

function alongRowsOfOne(bytes: Uint8Array, from: Size, width: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, weights } = coefficients(from.width, width);
  const out = new Uint8Array(width * from.height);
  let to = 0;
  for (let y = 0; y < from.height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * from.width + (firsts[x] ?? 0) - x * reach;
      const end = x * reach + (counts[x] ?? 0);
      let sum = HALF;
      for (let i = x * reach; i < end; i++) sum = (sum + Math.imul(bytes[at + i] ?? 0, weights[i] ?? 0)) | 0;
      out[to++] = clipByte(sum);
    }
    tick((y + 1) / from.height);
  }
  return out;
}

/** What of a picture lies in the kernel's memory at once. */
const STRIP_BYTES = 1 << 20;

/** Strip after strip of columns: all rows of one are in the memory while rows are made of them. */
function downColumns(bytes: Uint8Array, from: Size & { channels: number }, height: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, pairs } = coefficients(from.height, height);
  const stride = from.width * from.channels;
  const strip = Math.min(Math.ceil(stride / 8) * 8, Math.max(8, Math.floor(STRIP_BYTES / from.height / 8) * 8));
  // One row more: the last weight of a pair may be a 0 for a row that is not there.
  const { places, buffer } = reserve([strip * (from.height + 1), pairs.byteLength, strip]);
  const [rows = 0, factors = 0, result = 0] = places;
  const memory = new Uint8Array(buffer);
  new Int32Array(buffer, factors, pairs.length).set(pairs);
  const out = new Uint8Array(stride * height);
  for (let left = 0; left < stride; left += strip) {
    const wide = Math.min(strip, stride - left);
    for (let y = 0; y < from.height; y++) memory.set(bytes.subarray(y * stride + left, y * stride + left + wide), rows + y * strip);
    for (let y = 0; y < height; y++) {
      const weightsAt = factors + y * reach * Int32Array.BYTES_PER_ELEMENT;
      const weightsEnd = weightsAt + (counts[y] ?? 0) * Int32Array.BYTES_PER_ELEMENT;
      kernel.sumOfRows(rows + (firsts[y] ?? 0) * strip, strip, weightsAt, weightsEnd, result, result + wide);
      out.set(memory.subarray(result, result + wide), y * stride + left);
      tick((left + (wide * (y + 1)) / height) / stride);
    }
  }
  return out;
}

export function resizeLanczos(frame: Frame, from: Size & { channels: number }, to: Size, tick: Tick): Frame {
  let bytes = frame.bytes(() => tick(0));
  let size = from;
  if (to.width !== from.width) {
    bytes = alongRows(bytes, size, to.width, (done) => tick(done / 2));
    size = { ...size, width: to.width };
  }
  if (to.height !== from.height) bytes = downColumns(bytes, size, to.height, (done) => tick(0.5 + done / 2));
  tick(1);
  return frameOfBytes(bytes);
}
