// Pillow's Lanczos resize: 22-bit fixed-point weights and integer sums, so that results are byte-identical.

import { createLru } from "@/lib/shared/lru";
import { createByteFrame, type Frame, type Size, type Tick } from "./raster";

const PRECISION_BITS = 22;
const ROUNDING = 1 << (PRECISION_BITS - 1);
const LOBES = 3;

type Coefficients = { tapCount: number; firstIndexes: Int32Array; counts: Int32Array; weights: Int32Array };

const MAX_CACHED_WEIGHTS = 1 << 18;
/** Frames of a batch share weights, and the next job usually needs the same ones. */
const cachedCoefficients = createLru<string, Coefficients>({ max: 8 });

/** Both passes sum the four bytes of a word at once, because reads of typed arrays are slower than additions. */
export function resizeLanczos(frame: Frame, from: Size & { channels: number }, to: Size, tick: Tick): Frame {
  const bytes = frame.bytes(() => tick(0));
  const steps = from.height + to.height;
  const rows = resizeRows(bytes, from, to.width, (y) => tick(y / steps));
  const length = to.width * from.channels;
  const rowCoefficients = getCoefficients(from.height, to.height);
  const outputRow = new Int32Array(rows.wordsPerRow);
  const lineBytes = new Uint8Array(outputRow.buffer, 0, length);
  const out = new Uint8Array(length * to.height);
  for (let y = 0; y < to.height; y++) {
    const first = (rowCoefficients.firstIndexes[y] ?? 0) * rows.wordsPerRow;
    for (let x = 0; x < outputRow.length; x++) outputRow[x] = sumWords(rows.words, first + x, rows.wordsPerRow, rowCoefficients, y);
    out.set(lineBytes, y * length);
    tick((from.height + y + 1) / steps);
  }
  return createByteFrame(out);
}

type Rows = { words: Int32Array; wordsPerRow: number };

/** Resizes four rows at a time. A word contains the same sample of each row. */
function resizeRows(bytes: Uint8Array, from: Size & { channels: number }, width: number, tick: (y: number) => void): Rows {
  const { channels, height } = from;
  const columnCoefficients = getCoefficients(from.width, width);
  const length = from.width * channels;
  const wordsPerRow = Math.ceil((width * channels) / 4);
  const stride = wordsPerRow * 4;
  const words = new Int32Array(wordsPerRow * Math.ceil(height / 4) * 4);
  const out = new Uint8Array(words.buffer);
  const packedRows = new Int32Array(length);
  const getRowStart = (y: number) => Math.min(y, height - 1) * length;
  for (let y = 0; y < height; y += 4) {
    const a = y * length;
    const b = getRowStart(y + 1);
    const c = getRowStart(y + 2);
    const d = getRowStart(y + 3);
    for (let i = 0; i < length; i++)
      packedRows[i] = (bytes[a + i] ?? 0) | ((bytes[b + i] ?? 0) << 8) | ((bytes[c + i] ?? 0) << 16) | ((bytes[d + i] ?? 0) << 24);
    let at = y * stride;
    for (let pixel = 0; pixel < width; pixel++) {
      const first = (columnCoefficients.firstIndexes[pixel] ?? 0) * channels;
      for (let channel = 0; channel < channels; channel++, at++) {
        const sums = sumWords(packedRows, first + channel, channels, columnCoefficients, pixel);
        out[at] = sums;
        out[at + stride] = sums >> 8;
        out[at + 2 * stride] = sums >> 16;
        out[at + 3 * stride] = sums >> 24;
      }
    }
    tick(Math.min(y + 4, height));
  }
  return { words, wordsPerRow };
}

/** Weighted sum of every `step`th word from `at`, per byte. Higher bytes are subtracted afterwards, modulo 2^32. */
function sumWords(words: Int32Array, at: number, step: number, { tapCount, counts, weights }: Coefficients, index: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const start = index * tapCount;
  const end = start + (counts[index] ?? 0);
  for (let i = start; i < end; i++, at += step) {
    const word = words[at] ?? 0;
    const weight = weights[i] ?? 0;
    a = (a + Math.imul(word, weight)) | 0;
    b = (b + Math.imul(word >>> 8, weight)) | 0;
    c = (c + Math.imul(word >>> 16, weight)) | 0;
    d = (d + Math.imul(word >>> 24, weight)) | 0;
  }
  return toByte(a - (b << 8)) | (toByte(b - (c << 8)) << 8) | (toByte(c - (d << 8)) << 16) | (toByte(d) << 24);
}

function toByte(sum: number): number {
  const value = (sum + ROUNDING) >> PRECISION_BITS;
  return value < 0 ? 0 : value > 255 ? 255 : value;
}

function getCoefficients(from: number, to: number): Coefficients {
  const key = `${from}:${to}`;
  const cached = cachedCoefficients.get(key);
  if (cached) return cached;
  const computed = computeCoefficients(from, to);
  if (computed.weights.length <= MAX_CACHED_WEIGHTS) cachedCoefficients.set(key, computed);
  return computed;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

function lanczos(x: number): number {
  return x > -LOBES && x < LOBES ? sinc(x) * sinc(x / LOBES) : 0;
}

function computeCoefficients(from: number, to: number): Coefficients {
  const scale = from / to;
  const stretch = Math.max(1, scale);
  const support = LOBES * stretch;
  const tapCount = Math.ceil(support) * 2 + 1;
  const firstIndexes = new Int32Array(to);
  const counts = new Int32Array(to);
  const weights = new Int32Array(to * tapCount);
  const raw = new Float64Array(tapCount);
  for (let index = 0; index < to; index++) {
    const centre = (index + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - support + 0.5));
    const count = Math.min(from, Math.trunc(centre + support + 0.5)) - first;
    let total = 0;
    for (let i = 0; i < count; i++) total += raw[i] = lanczos((i + first - centre + 0.5) / stretch);
    for (let i = 0; i < count; i++) {
      const weight = raw[i] ?? 0;
      const exact = (total === 0 ? weight : weight / total) * 2 ** PRECISION_BITS;
      weights[index * tapCount + i] = Math.trunc(exact + (exact < 0 ? -0.5 : 0.5));
    }
    firstIndexes[index] = first;
    counts[index] = count;
  }
  return { tapCount, firstIndexes, counts, weights };
}
