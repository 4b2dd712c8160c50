// The sums of Lanczos with vector instructions: whole numbers, so the result is that of any other order of adding, to the byte.

import { createKernel } from "./wasm-kernel";
import {
  addNumbers,
  constant,
  get,
  highNumbers,
  loadBytesAsWords,
  loadNumber,
  loadSplat,
  loadVector,
  lowNumbers,
  multiplyNumbers,
  pixelAsNumbers,
  plus,
  repeatWhileLess,
  set,
  shiftRight,
  splat,
  storeEightBytes,
  storeFourBytes,
  storeVector,
  times,
  toClampedBytes,
  type WasmFunction,
} from "./wasm-module";

export const PRECISION = 22;
export const HALF = 1 << (PRECISION - 1);
export const ROWS_AT_ONCE = 4;

const step = (local: number, bytes: number) => set(local, plus(get(local), constant(bytes)));

/**
 * Each pixel of three channels is one vector of four numbers, the fourth of which is overwritten by the next pixel. Four pixels and
 * their weights at a time: those that are too many have weights of 0.
 */
function rowOfThree(): WasmFunction {
  const [source, table, weights, out, outEnd, weightStep, at, weight, weightEnd, sum, pixels] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const weighed = (pixel: number) =>
    set(sum, addNumbers(get(sum), multiplyNumbers(pixelAsNumbers(get(pixels), pixel), loadSplat(get(weight), pixel * 4))));
  const body = repeatWhileLess(
    get(out),
    get(outEnd),
    set(sum, splat(constant(HALF))),
    set(at, plus(get(source), loadNumber(get(table)))),
    set(weight, get(weights)),
    set(weightEnd, plus(get(weights), times(loadNumber(get(table), 4), constant(4)))),
    repeatWhileLess(
      get(weight),
      get(weightEnd),
      set(pixels, loadVector(get(at))),
      ...[0, 1, 2, 3].map(weighed),
      step(at, 12),
      step(weight, 16),
    ),
    set(sum, shiftRight(get(sum), PRECISION)),
    storeFourBytes(get(out), toClampedBytes(get(sum), get(sum))),
    step(table, 8),
    set(weights, plus(get(weights), get(weightStep))),
    step(out, 3),
  );
  return { name: "rowOfThree", parameters: 6, numbers: 3, vectors: 2, body };
}

/** Adds four rows, each with its weight, to sums; eight columns at a time. */
function addFourRows(): WasmFunction {
  const [sums, sumsEnd, rows, stride, weights] = [0, 1, 2, 3, 4];
  const places = [rows, 5, 6, 7];
  const [words, low, high] = [8, 9, 10];
  const factors = [11, 12, 13, 14];
  const body = [
    ...factors.flatMap((factor, row) => set(factor, loadSplat(get(weights), row * 4))),
    ...places.slice(1).flatMap((place, row) => set(place, plus(get(places[row] ?? rows), get(stride)))),
    ...repeatWhileLess(
      get(sums),
      get(sumsEnd),
      set(low, loadVector(get(sums))),
      set(high, loadVector(get(sums), 16)),
      ...places.flatMap((place, row) => [
        set(words, loadBytesAsWords(get(place))),
        set(low, addNumbers(get(low), multiplyNumbers(lowNumbers(get(words)), get(factors[row] ?? 0)))),
        set(high, addNumbers(get(high), multiplyNumbers(highNumbers(get(words)), get(factors[row] ?? 0)))),
        step(place, 8),
      ]),
      storeVector(get(sums), get(low)),
      storeVector(get(sums), get(high), 16),
      step(sums, 32),
    ),
  ];
  return { name: "addFourRows", parameters: 5, numbers: 3, vectors: 7, body };
}

function clipRow(): WasmFunction {
  const [sums, sumsEnd, out] = [0, 1, 2];
  const shifted = (offset: number) => shiftRight(loadVector(get(sums), offset), PRECISION);
  const body = repeatWhileLess(
    get(sums),
    get(sumsEnd),
    storeEightBytes(get(out), toClampedBytes(shifted(0), shifted(16))),
    step(sums, 32),
    step(out, 8),
  );
  return { name: "clipRow", parameters: 3, numbers: 0, vectors: 0, body };
}

const { exported, reserve } = createKernel([rowOfThree(), addFourRows(), clipRow()]);

export { reserve };
export const kernel = { rowOfThree: exported("rowOfThree"), addFourRows: exported("addFourRows"), clipRow: exported("clipRow") };
