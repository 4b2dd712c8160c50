// Samples to bytes with vector instructions, and codes to what they stand for by a table. In float32, as the family computes it, so what
// comes out is what the same steps one by one give.

import { createKernel } from "./wasm-kernel";
import {
  constant,
  get,
  loadByte,
  loadNumber,
  loadVector,
  multiplyFloats,
  plus,
  repeatWhileLess,
  set,
  splatFloat,
  storeByte,
  storeEightBytes,
  storeNumber,
  times,
  toClampedBytes,
  truncateFloats,
  type WasmFunction,
} from "./wasm-module";

const AT_ONCE = 16_384;
const WIDE = Float32Array.BYTES_PER_ELEMENT;
const CODES = 256;

const step = (local: number, bytes: number) => set(local, plus(get(local), constant(bytes)));
const eight = [0, 1, 2, 3, 4, 5, 6, 7];

function truncate(): WasmFunction {
  const [samples, samplesEnd, out] = [0, 1, 2];
  const byte = (offset: number) => truncateFloats(multiplyFloats(loadVector(get(samples), offset), splatFloat(255)));
  const body = repeatWhileLess(
    get(samples),
    get(samplesEnd),
    storeEightBytes(get(out), toClampedBytes(byte(0), byte(16))),
    step(samples, 8 * WIDE),
    step(out, 8),
  );
  return { name: "truncate", parameters: 3, numbers: 0, vectors: 0, body };
}

function lookUp(): WasmFunction {
  const [codes, codesEnd, table, out] = [0, 1, 2, 3];
  const entry = (i: number) => loadNumber(plus(get(table), times(loadByte(get(codes), i), constant(WIDE))));
  const body = repeatWhileLess(
    get(codes),
    get(codesEnd),
    ...eight.map((i) => storeNumber(get(out), entry(i), i * WIDE)),
    step(codes, 8),
    step(out, 8 * WIDE),
  );
  return { name: "lookUp", parameters: 4, numbers: 0, vectors: 0, body };
}

function lookUpBytes(): WasmFunction {
  const [codes, codesEnd, table, out] = [0, 1, 2, 3];
  const body = repeatWhileLess(
    get(codes),
    get(codesEnd),
    ...eight.map((i) => storeByte(get(out), loadByte(plus(get(table), loadByte(get(codes), i))), i)),
    step(codes, 8),
    step(out, 8),
  );
  return { name: "lookUpBytes", parameters: 4, numbers: 0, vectors: 0, body };
}

const { exported, reserve } = createKernel([truncate(), lookUp(), lookUpBytes()]);
const kernel = { truncate: exported("truncate"), lookUp: exported("lookUp"), lookUpBytes: exported("lookUpBytes") };

/** What goes through the kernel's memory, one after the other. */
function* pieces(start: number, end: number): Generator<{ at: number; count: number }> {
  for (let at = start; at < end; at += AT_ONCE) yield { at, count: Math.min(AT_ONCE, end - at) };
}

/** Writes `bytes` from `start` to `end`: each the truncation of 255 x, clamped; what is no number becomes 0. */
export function truncateInto(bytes: Uint8Array, samples: Float32Array, start: number, end: number): void {
  const { places, buffer } = reserve([AT_ONCE * WIDE, AT_ONCE]);
  const [from = 0, to = 0] = places;
  const source = new Float32Array(buffer, from, AT_ONCE);
  for (const { at, count } of pieces(start, end)) {
    source.set(samples.subarray(at, at + count));
    kernel.truncate(from, from + count * WIDE, to);
    bytes.set(new Uint8Array(buffer, to, count), at);
  }
}

/** Writes `samples` from `start` to `end`: the entry of the table for each code. */
export function lookUpInto(samples: Float32Array, codes: Uint8Array, table: Float32Array, start: number, end: number): void {
  const { places, buffer } = reserve([AT_ONCE, CODES * WIDE, AT_ONCE * WIDE]);
  const [from = 0, entries = 0, to = 0] = places;
  new Float32Array(buffer, entries, CODES).set(table);
  const source = new Uint8Array(buffer, from, AT_ONCE);
  for (const { at, count } of pieces(start, end)) {
    source.set(codes.subarray(at, at + count));
    kernel.lookUp(from, from + count, entries, to);
    samples.set(new Float32Array(buffer, to, count), at);
  }
}

/** The same for a table of bytes. */
export function lookUpBytesInto(bytes: Uint8Array, codes: Uint8Array, table: Uint8Array, start: number, end: number): void {
  const { places, buffer } = reserve([AT_ONCE, CODES, AT_ONCE]);
  const [from = 0, entries = 0, to = 0] = places;
  new Uint8Array(buffer, entries, CODES).set(table);
  const source = new Uint8Array(buffer, from, AT_ONCE);
  for (const { at, count } of pieces(start, end)) {
    source.set(codes.subarray(at, at + count));
    kernel.lookUpBytes(from, from + count, entries, to);
    bytes.set(new Uint8Array(buffer, to, count), at);
  }
}
