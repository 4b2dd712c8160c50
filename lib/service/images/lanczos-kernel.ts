// The sums of Lanczos with vector instructions: whole numbers, so the result is that of any other order of adding, to the byte.
// Instructions that multiply words of 16 bits do two products at once. A weight has more bits than that: its low and its high part are
// summed apart and put together at the end.

import { createKernel } from "./wasm-kernel";
import {
  addNumbers,
  constant,
  get,
  highPairs,
  loadBytesAsWords,
  loadNumber,
  loadSplat,
  loadVector,
  lowPairs,
  multiplyPairs,
  pixelsAsPairs,
  plus,
  repeatWhileLess,
  set,
  shiftLeft,
  shiftRight,
  splat,
  storeEightBytes,
  storeFourBytes,
  toClampedBytes,
  type WasmFunction,
} from "./wasm-module";

export const PRECISION = 22;
export const HALF = 1 << (PRECISION - 1);
/** Weights that are added at once along a row. */
export const AT_ONCE = 4;

const LOW_BITS = 15;
const PAIR = 2 * Int32Array.BYTES_PER_ELEMENT;

/** For each two weights their low parts in one number, and their high parts in the next. */
export function toPairs(weights: Int32Array): Int32Array {
  const pairs = new Int32Array(weights.length);
  const lowMask = (1 << LOW_BITS) - 1;
  for (let i = 0; i < weights.length; i += 2) {
    const [first, second] = [weights[i] ?? 0, weights[i + 1] ?? 0];
    pairs[i] = (first & lowMask) | ((second & lowMask) << 16);
    pairs[i + 1] = ((first >> LOW_BITS) & 0xffff) | ((second >> LOW_BITS) << 16);
  }
  return pairs;
}

const step = (local: number, bytes: number) => set(local, plus(get(local), constant(bytes)));
const clear = (sum: number) => set(sum, splat(constant(0)));
const whole = (low: number, high: number) =>
  shiftRight(addNumbers(addNumbers(get(low), splat(constant(HALF))), shiftLeft(get(high), LOW_BITS)), PRECISION);

/** Two products of words with the pair of weights at `weight`. */
const addPair = (words: number, weight: number, offset: number, low: number, high: number) => [
  set(low, addNumbers(get(low), multiplyPairs(get(words), loadSplat(get(weight), offset)))),
  set(high, addNumbers(get(high), multiplyPairs(get(words), loadSplat(get(weight), offset + PAIR / 2)))),
];

/**
 * Each pixel of three channels is one vector of four numbers, the fourth of which is overwritten by the next pixel. Four pixels and
 * their weights at a time: those that are too many have weights of 0.
 */
function rowOfThree(): WasmFunction {
  const [source, table, weights, out, outEnd, weightStep, at, weight, weightEnd] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const [pixels, words, low, high] = [9, 10, 11, 12];
  const body = repeatWhileLess(
    get(out),
    get(outEnd),
    clear(low),
    clear(high),
    set(at, plus(get(source), loadNumber(get(table)))),
    set(weight, get(weights)),
    set(weightEnd, plus(get(weights), loadNumber(get(table), 4))),
    repeatWhileLess(
      get(weight),
      get(weightEnd),
      set(pixels, loadVector(get(at))),
      ...[0, 2].flatMap((pixel) => [
        set(words, pixelsAsPairs(get(pixels), pixel)),
        ...addPair(words, weight, (pixel / 2) * PAIR, low, high),
      ]),
      step(at, 3 * AT_ONCE),
      step(weight, 2 * PAIR),
    ),
    set(low, whole(low, high)),
    storeFourBytes(get(out), toClampedBytes(get(low), get(low))),
    step(table, 8),
    set(weights, plus(get(weights), get(weightStep))),
    step(out, 3),
  );
  return { name: "rowOfThree", parameters: 6, numbers: 3, vectors: 4, body };
}

/** Of rows that lie `stride` apart, each with its weight, one row; eight columns at a time. */
function sumOfRows(): WasmFunction {
  const [rows, stride, weights, weightsEnd, out, outEnd, at, weight] = [0, 1, 2, 3, 4, 5, 6, 7];
  const [upper, lower, words, low, high, nextLow, nextHigh] = [8, 9, 10, 11, 12, 13, 14];
  const nextRow = (words: number) => [set(words, loadBytesAsWords(get(at))), set(at, plus(get(at), get(stride)))];
  const body = repeatWhileLess(
    get(out),
    get(outEnd),
    ...[low, high, nextLow, nextHigh].map(clear),
    set(at, get(rows)),
    set(weight, get(weights)),
    repeatWhileLess(
      get(weight),
      get(weightsEnd),
      ...nextRow(upper),
      ...nextRow(lower),
      set(words, lowPairs(get(upper), get(lower))),
      ...addPair(words, weight, 0, low, high),
      set(words, highPairs(get(upper), get(lower))),
      ...addPair(words, weight, 0, nextLow, nextHigh),
      step(weight, PAIR),
    ),
    storeEightBytes(get(out), toClampedBytes(whole(low, high), whole(nextLow, nextHigh))),
    step(rows, 8),
    step(out, 8),
  );
  return { name: "sumOfRows", parameters: 6, numbers: 2, vectors: 7, body };
}

const { exported, reserve } = createKernel([rowOfThree(), sumOfRows()]);

export { reserve };
export const kernel = { rowOfThree: exported("rowOfThree"), sumOfRows: exported("sumOfRows") };
