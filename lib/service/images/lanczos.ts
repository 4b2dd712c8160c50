// Lanczos as Pillow does it: on bytes, with antialiasing, in fixed point, rows first and bytes again between the passes.
// The steps are Pillow's own (coefficients normalised, 22 bits of precision), so that the result is the same to the byte.

import { HALF, kernel, PRECISION, reserve, ROWS_AT_ONCE } from "./lanczos-kernel";
import { type Frame, frameOfBytes } from "./frame";
import { type Size } from "./raster";
import { type Tick } from "./tick";

const LOBES = 3;

/** `reach` weights for each place, those beyond its count 0. */
type Coefficients = { reach: number; firsts: Int32Array; counts: Int32Array; weights: Int32Array };

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

function lanczos(x: number): number {
  return x > -LOBES && x < LOBES ? sinc(x) * sinc(x / LOBES) : 0;
}

function coefficients(from: number, to: number): Coefficients {
  const scale = from / to;
  const stretch = Math.max(1, scale);
  const support = LOBES * stretch;
  const reach = Math.ceil((Math.ceil(support) * 2 + 1) / ROWS_AT_ONCE) * ROWS_AT_ONCE;
  const firsts = new Int32Array(to);
  const counts = new Int32Array(to);
  const weights = new Int32Array(to * reach);
  for (let place = 0; place < to; place++) {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const count = Math.min(from, Math.trunc(centre + support + 0.5)) - first;
    const raw = Array.from({ length: count }, (_, i) => lanczos((i + first - centre + 0.5) / stretch));
    const total = raw.reduce((sum, weight) => sum + weight, 0);
    firsts[place] = first;
    counts[place] = count;
    raw.forEach((weight, i) => {
      const exact = (total === 0 ? weight : weight / total) * 2 ** PRECISION;
      weights[place * reach + i] = Math.trunc(exact + (exact < 0 ? -0.5 : 0.5));
    });
  }
  return { reach, firsts, counts, weights };
}

function clipByte(sum: number): number {
  const value = sum >> PRECISION;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

function alongRows(bytes: Uint8Array, from: Size & { channels: number }, width: number, tick: Tick): Uint8Array {
  return from.channels === 3 ? alongRowsOfThree(bytes, from, width, tick) : alongRowsOfOne(bytes, from, width, tick);
}

function alongRowsOfThree(bytes: Uint8Array, from: Size, width: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, weights } = coefficients(from.width, width);
  const [stride, outStride] = [from.width * 3, width * 3];
  const { places, buffer } = reserve([stride, width * 8, weights.byteLength, outStride]);
  const [source = 0, table = 0, factors = 0, result = 0] = places;
  const memory = new Uint8Array(buffer);
  const entries = new Int32Array(buffer, table, width * 2);
  for (let x = 0; x < width; x++) entries.set([(firsts[x] ?? 0) * 3, counts[x] ?? 0], x * 2);
  new Int32Array(buffer, factors, weights.length).set(weights);
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

function downColumns(bytes: Uint8Array, from: Size & { channels: number }, height: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, weights } = coefficients(from.height, height);
  const stride = from.width * from.channels;
  const padded = Math.ceil(stride / 8) * 8;
  const { places, buffer } = reserve([padded * 4, padded * ROWS_AT_ONCE, ROWS_AT_ONCE * 4, padded]);
  const [sums = 0, rows = 0, factors = 0, result = 0] = places;
  const memory = new Uint8Array(buffer);
  const [allSums, allFactors] = [new Int32Array(buffer, sums, padded), new Int32Array(buffer, factors, ROWS_AT_ONCE)];
  const out = new Uint8Array(stride * height);
  for (let y = 0; y < height; y++) {
    allSums.fill(HALF);
    for (let i = 0; i < (counts[y] ?? 0); i += ROWS_AT_ONCE) {
      // The last four may have weights of 0: what lies in their place does not matter then.
      for (let row = 0; row < ROWS_AT_ONCE; row++) {
        const start = ((firsts[y] ?? 0) + i + row) * stride;
        memory.set(bytes.subarray(start, start + stride), rows + row * padded);
      }
      allFactors.set(weights.subarray(y * reach + i, y * reach + i + ROWS_AT_ONCE));
      kernel.addFourRows(sums, sums + padded * 4, rows, padded, factors);
    }
    kernel.clipRow(sums, sums + padded * 4, result);
    out.set(memory.subarray(result, result + stride), y * stride);
    tick((y + 1) / height);
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
