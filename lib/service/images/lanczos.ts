// Lanczos as Pillow does it: on bytes, with antialiasing, in fixed point, rows first and bytes again between the passes.
// The steps are Pillow's own (coefficients normalised, 22 bits of precision), so that the result is the same to the byte.

import { toBytes, toUnit } from "./numbers";
import { type Size, type Tick } from "./raster";

const PRECISION = 22;
const HALF = 1 << (PRECISION - 1);
const LOBES = 3;
const ROWS_AT_ONCE = 4;

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

/** Whole-number sums in any order are the same sum, so what follows is written for speed: three channels at once, four rows at once. */
function alongRows(bytes: Uint8Array, from: Size & { channels: number }, width: number, tick: Tick): Uint8Array {
  const taps = coefficients(from.width, width);
  const { channels, height } = from;
  const out = new Uint8Array(width * height * channels);
  const alongRow = channels === 3 ? alongRowOfThree : alongRowOfOne;
  for (let y = 0; y < height; y++) {
    alongRow(bytes, y * from.width * channels, taps, out, y * width * channels);
    tick((y + 1) / height);
  }
  return out;
}

function alongRowOfThree(
  bytes: Uint8Array,
  row: number,
  { reach, firsts, counts, weights }: Coefficients,
  out: Uint8Array,
  to: number,
): void {
  for (let x = 0; x < firsts.length; x++) {
    let at = row + (firsts[x] ?? 0) * 3;
    let first = HALF;
    let second = HALF;
    let third = HALF;
    const end = x * reach + (counts[x] ?? 0);
    for (let i = x * reach; i < end; i++) {
      const weight = weights[i] ?? 0;
      first = (first + Math.imul(bytes[at] ?? 0, weight)) | 0;
      second = (second + Math.imul(bytes[at + 1] ?? 0, weight)) | 0;
      third = (third + Math.imul(bytes[at + 2] ?? 0, weight)) | 0;
      at += 3;
    }
    out[to] = clipByte(first);
    out[to + 1] = clipByte(second);
    out[to + 2] = clipByte(third);
    to += 3;
  }
}

function alongRowOfOne(
  bytes: Uint8Array,
  row: number,
  { reach, firsts, counts, weights }: Coefficients,
  out: Uint8Array,
  to: number,
): void {
  for (let x = 0; x < firsts.length; x++) {
    const at = row + (firsts[x] ?? 0) - x * reach;
    let sum = HALF;
    const end = x * reach + (counts[x] ?? 0);
    for (let i = x * reach; i < end; i++) sum = (sum + Math.imul(bytes[at + i] ?? 0, weights[i] ?? 0)) | 0;
    out[to++] = clipByte(sum);
  }
}

function downColumns(bytes: Uint8Array, from: Size & { channels: number }, height: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, weights } = coefficients(from.height, height);
  const stride = from.width * from.channels;
  const out = new Uint8Array(stride * height);
  const sums = new Int32Array(stride);
  for (let y = 0; y < height; y++) {
    sums.fill(HALF);
    // The last four may hold weights of 0: they read the last row of the picture, for nothing.
    for (let i = 0; i < (counts[y] ?? 0); i += ROWS_AT_ONCE) {
      const rows = firstRows((firsts[y] ?? 0) + i, from.height, stride);
      addRows(sums, bytes, rows, weights.subarray(y * reach + i, y * reach + i + ROWS_AT_ONCE));
    }
    for (let x = 0; x < stride; x++) out[y * stride + x] = clipByte(sums[x] ?? 0);
    tick((y + 1) / height);
  }
  return out;
}

/** Where four rows begin, none beyond the last one. */
function firstRows(first: number, height: number, stride: number): readonly [number, number, number, number] {
  const begin = (row: number) => Math.min(row, height - 1) * stride;
  return [begin(first), begin(first + 1), begin(first + 2), begin(first + 3)];
}

function addRows(sums: Int32Array, bytes: Uint8Array, [a, b, c, d]: readonly [number, number, number, number], weights: Int32Array): void {
  const [wa = 0, wb = 0, wc = 0, wd = 0] = weights;
  for (let x = 0; x < sums.length; x++) {
    const upper = Math.imul(bytes[a + x] ?? 0, wa) + Math.imul(bytes[b + x] ?? 0, wb);
    const lower = Math.imul(bytes[c + x] ?? 0, wc) + Math.imul(bytes[d + x] ?? 0, wd);
    sums[x] = ((sums[x] ?? 0) + upper + lower) | 0;
  }
}

export function resizeLanczos(frame: Float32Array, from: Size & { channels: number }, to: Size, tick: Tick): Float32Array {
  let bytes = toBytes(frame, () => tick(0));
  let size = from;
  if (to.width !== from.width) {
    bytes = alongRows(bytes, size, to.width, (done) => tick(done / 2));
    size = { ...size, width: to.width };
  }
  if (to.height !== from.height) bytes = downColumns(bytes, size, to.height, (done) => tick(0.5 + done / 2));
  return toUnit(bytes, () => tick(1));
}
