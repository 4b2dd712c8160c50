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
export function resizeLanczos(frame: Frame, source: Size & { channels: number }, target: Size, tick: Tick): Frame {
  const bytes = frame.bytes(() => tick(0));
  const stepCount = source.height + target.height;
  const rows = resizeRows(bytes, source, target.width, (y) => tick(y / stepCount));
  const length = target.width * source.channels;
  const rowCoefficients = getCoefficients(source.height, target.height);
  const outputRow = new Int32Array(rows.wordsPerRow);
  const lineBytes = new Uint8Array(outputRow.buffer, 0, length);
  const out = new Uint8Array(length * target.height);
  for (let y = 0; y < target.height; y++) {
    const firstWord = (rowCoefficients.firstIndexes[y] ?? 0) * rows.wordsPerRow;
    for (let x = 0; x < outputRow.length; x++) outputRow[x] = sumWords(rows.words, firstWord + x, rows.wordsPerRow, rowCoefficients, y);
    out.set(lineBytes, y * length);
    tick((source.height + y + 1) / stepCount);
  }
  return createByteFrame(out);
}

type Rows = { words: Int32Array; wordsPerRow: number };

/** Resizes four rows at a time. A word contains the same sample of each row. */
function resizeRows(bytes: Uint8Array, source: Size & { channels: number }, width: number, tick: (y: number) => void): Rows {
  const { channels, height } = source;
  const columnCoefficients = getCoefficients(source.width, width);
  const length = source.width * channels;
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
    let outIndex = y * stride;
    for (let pixel = 0; pixel < width; pixel++) {
      const firstIndex = (columnCoefficients.firstIndexes[pixel] ?? 0) * channels;
      for (let channel = 0; channel < channels; channel++, outIndex++) {
        const sums = sumWords(packedRows, firstIndex + channel, channels, columnCoefficients, pixel);
        out[outIndex] = sums;
        out[outIndex + stride] = sums >> 8;
        out[outIndex + 2 * stride] = sums >> 16;
        out[outIndex + 3 * stride] = sums >> 24;
      }
    }
    tick(Math.min(y + 4, height));
  }
  return { words, wordsPerRow };
}

/** Weighted sum of every `step`th word from `wordIndex`, per byte. Higher bytes are subtracted afterwards, modulo 2^32. */
function sumWords(words: Int32Array, wordIndex: number, step: number, { tapCount, counts, weights }: Coefficients, index: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const start = index * tapCount;
  const end = start + (counts[index] ?? 0);
  for (let i = start; i < end; i++, wordIndex += step) {
    const word = words[wordIndex] ?? 0;
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

function getCoefficients(sourceLength: number, targetLength: number): Coefficients {
  const key = `${sourceLength}:${targetLength}`;
  const cachedValue = cachedCoefficients.get(key);
  if (cachedValue) return cachedValue;
  const coefficients = computeCoefficients(sourceLength, targetLength);
  if (coefficients.weights.length <= MAX_CACHED_WEIGHTS) cachedCoefficients.set(key, coefficients);
  return coefficients;
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

function lanczos(x: number): number {
  return x > -LOBES && x < LOBES ? sinc(x) * sinc(x / LOBES) : 0;
}

function computeCoefficients(sourceLength: number, targetLength: number): Coefficients {
  const scale = sourceLength / targetLength;
  const stretch = Math.max(1, scale);
  const support = LOBES * stretch;
  const tapCount = Math.ceil(support) * 2 + 1;
  const firstIndexes = new Int32Array(targetLength);
  const counts = new Int32Array(targetLength);
  const weights = new Int32Array(targetLength * tapCount);
  const rawWeights = new Float64Array(tapCount);
  for (let index = 0; index < targetLength; index++) {
    const centre = (index + 0.5) * scale;
    const firstIndex = Math.max(0, Math.trunc(centre - support + 0.5));
    const count = Math.min(sourceLength, Math.trunc(centre + support + 0.5)) - firstIndex;
    let total = 0;
    for (let i = 0; i < count; i++) total += rawWeights[i] = lanczos((i + firstIndex - centre + 0.5) / stretch);
    for (let i = 0; i < count; i++) {
      const weight = rawWeights[i] ?? 0;
      const exactWeight = (total === 0 ? weight : weight / total) * 2 ** PRECISION_BITS;
      weights[index * tapCount + i] = Math.trunc(exactWeight + (exactWeight < 0 ? -0.5 : 0.5));
    }
    firstIndexes[index] = firstIndex;
    counts[index] = count;
  }
  return { tapCount, firstIndexes, counts, weights };
}
