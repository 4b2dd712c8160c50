// Lanczos as Pillow does it: on bytes, with antialiasing, in fixed point, rows first and bytes again between the passes.
// The steps are Pillow's own (coefficients normalised, 22 bits of precision), so that the result is the same to the byte.

import { toBytes, toUnit } from "./numbers";
import { type Size, type Tick } from "./raster";

const PRECISION = 22;
const LOBES = 3;

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
  const reach = Math.ceil(support) * 2 + 1;
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
  const { reach, firsts, counts, weights } = coefficients(from.width, width);
  const { channels, height } = from;
  const out = new Uint8Array(width * height * channels);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const start = (y * from.width + (firsts[x] ?? 0)) * channels;
      const count = counts[x] ?? 0;
      for (let c = 0; c < channels; c++) {
        let sum = 1 << (PRECISION - 1);
        for (let i = 0; i < count; i++) sum += (bytes[start + i * channels + c] ?? 0) * (weights[x * reach + i] ?? 0);
        out[at++] = clipByte(sum);
      }
    }
    tick((y + 1) / height);
  }
  return out;
}

function downColumns(bytes: Uint8Array, from: Size & { channels: number }, height: number, tick: Tick): Uint8Array {
  const { reach, firsts, counts, weights } = coefficients(from.height, height);
  const stride = from.width * from.channels;
  const out = new Uint8Array(stride * height);
  const sums = new Int32Array(stride);
  for (let y = 0; y < height; y++) {
    sums.fill(1 << (PRECISION - 1));
    for (let i = 0; i < (counts[y] ?? 0); i++) {
      const weight = weights[y * reach + i] ?? 0;
      const row = ((firsts[y] ?? 0) + i) * stride;
      for (let x = 0; x < stride; x++) sums[x] = (sums[x] ?? 0) + (bytes[row + x] ?? 0) * weight;
    }
    for (let x = 0; x < stride; x++) out[y * stride + x] = clipByte(sums[x] ?? 0);
    tick((y + 1) / height);
  }
  return out;
}

export function resizeLanczos(frame: Float32Array, from: Size & { channels: number }, to: Size, tick: Tick): Float32Array {
  let bytes = toBytes(frame);
  let size = from;
  if (to.width !== from.width) {
    bytes = alongRows(bytes, size, to.width, (done) => tick(done / 2));
    size = { ...size, width: to.width };
  }
  if (to.height !== from.height) bytes = downColumns(bytes, size, to.height, (done) => tick(0.5 + done / 2));
  return toUnit(bytes);
}
