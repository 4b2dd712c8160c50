// Sums of rows, each with its weight, with vector instructions: in double precision and in the order of the rows, so that the result is
// that of adding one by one, to the last bit.

import { createKernel } from "./wasm-kernel";
import {
  addDoubles,
  constant,
  get,
  loadNumber,
  loadSplatDouble,
  loadTwoFloatsAsDoubles,
  multiplyDoubles,
  noDoubles,
  plus,
  repeatWhileLess,
  set,
  storeTwoFloats,
  type WasmFunction,
} from "./wasm-module";

const SAMPLE = Float32Array.BYTES_PER_ELEMENT;
const AT_ONCE = 8;

const step = (local: number, bytes: number) => set(local, plus(get(local), constant(bytes)));

/** Eight samples at a time; `table` says how far from `out` each row lies. */
function sumRows(): WasmFunction {
  const [out, outEnd, table, tableEnd, weights, entry, weight, at, factor] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const sums = [9, 10, 11, 12];
  const body = repeatWhileLess(
    get(out),
    get(outEnd),
    ...sums.map((sum) => set(sum, noDoubles)),
    set(entry, get(table)),
    set(weight, get(weights)),
    repeatWhileLess(
      get(entry),
      get(tableEnd),
      set(at, plus(get(out), loadNumber(get(entry)))),
      set(factor, loadSplatDouble(get(weight))),
      ...sums.map((sum, pair) => set(sum, addDoubles(get(sum), multiplyDoubles(loadTwoFloatsAsDoubles(get(at), pair * 8), get(factor))))),
      step(entry, 4),
      step(weight, 8),
    ),
    ...sums.map((sum, pair) => storeTwoFloats(get(out), get(sum), pair * 8)),
    step(out, AT_ONCE * SAMPLE),
  );
  return { name: "sumRows", parameters: 5, numbers: 3, vectors: 5, body };
}

const { exported, reserve } = createKernel([sumRows()]);
const run = exported("sumRows");

export type RowSums = {
  /** Where samples of so many rows of `length` can be put, one after the other. */
  rows: Float32Array;
  /** Adds the `length` samples that begin at each of the places in `rows`, weighed in their order. What it answers lives until it is called again. */
  sum(places: ArrayLike<number>): Float32Array;
};

/** Until the next one is made. */
export function createRowSums(weights: Float64Array, room: { length: number; rowSamples: number }): RowSums {
  const padded = Math.ceil(room.length / AT_ONCE) * AT_ONCE;
  const { places, buffer } = reserve([weights.byteLength, weights.length * 4, padded * SAMPLE, (room.rowSamples + AT_ONCE) * SAMPLE]);
  const [factors = 0, table = 0, out = 0, source = 0] = places;
  new Float64Array(buffer, factors, weights.length).set(weights);
  const entries = new Int32Array(buffer, table, weights.length);
  const result = new Float32Array(buffer, out, room.length);
  return {
    rows: new Float32Array(buffer, source, room.rowSamples),
    sum(rowPlaces) {
      for (let i = 0; i < entries.length; i++) entries[i] = source - out + (rowPlaces[i] ?? 0) * SAMPLE;
      run(out, out + padded * SAMPLE, table, table + entries.byteLength, factors);
      return result;
    },
  };
}
