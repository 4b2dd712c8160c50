// Lanczos as Pillow does it: on bytes, with antialiasing, in fixed point, rows first, and bytes again between the passes.
// The steps are Pillow's own (coefficients normalised, 22 bits of precision), so that the result is the same to the byte.
// The kernel's memory holds only those rows of the picture that one new row is made of.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Frame, frameOfBytes } from "./frame";
import { coefficients } from "./lanczos-weights";
import { type Size } from "./raster";
import { type Tick } from "./tick";

const PAGE_BYTES = 65_536;
/** A kernel's memory never shrinks: a kernel that needs more than this is made for one picture only. */
const MOST_KEPT_BYTES = 16 << 20;

/** lanczos.as.ts, compiled. */
export const readKernel = () => readFileSync(join(process.cwd(), "dist", "lanczos.wasm"));

type Kernel = { memory: WebAssembly.Memory; resizeRow: CallableFunction; sumRows: CallableFunction };

let compiled: WebAssembly.Module | undefined;
let kept: Kernel | undefined;

function createKernel(): Kernel {
  compiled ??= new WebAssembly.Module(readKernel());
  const { memory, resizeRow, sumRows } = new WebAssembly.Instance(compiled).exports;
  if (!(memory instanceof WebAssembly.Memory) || typeof resizeRow !== "function" || typeof sumRows !== "function")
    throw new Error("dist/lanczos.wasm is not what lanczos.as.ts exports.");
  return { memory, resizeRow, sumRows };
}

function kernelOf(bytes: number): Kernel {
  const kernel = bytes > MOST_KEPT_BYTES ? createKernel() : (kept ??= createKernel());
  const missing = bytes - kernel.memory.buffer.byteLength;
  if (missing > 0) kernel.memory.grow(Math.ceil(missing / PAGE_BYTES));
  return kernel;
}

/** With sixteen spare bytes, which a kernel may read and write beyond what it is given. */
const padded = (bytes: number) => Math.ceil(bytes / 16) * 16 + 16;

export function resizeLanczos(frame: Frame, from: Size & { channels: number }, to: Size, tick: Tick): Frame {
  const bytes = frame.bytes(() => tick(0));
  const across = coefficients(from.width, to.width);
  const down = coefficients(from.height, to.height);
  const { channels } = from;
  const [length, newLength] = [from.width * channels, to.width * channels];
  const stride = padded(newLength);
  const ringBytes = Math.min(from.height, down.reach) * stride;

  let end = 0;
  const place = (size: number) => (end += padded(size)) - padded(size);
  const tables = [across.firsts, across.counts, across.weights, down.weights];
  const [firsts = 0, counts = 0, acrossWeights = 0, downWeights = 0] = tables.map(({ byteLength }) => place(byteLength));
  const [row, newRow, ring] = [place(length), place(newLength), place(ringBytes)];
  const { memory, resizeRow, sumRows } = kernelOf(end);
  [firsts, counts, acrossWeights, downWeights].forEach((at, i) => new Int32Array(memory.buffer, at).set(tables[i] ?? []));
  const memoryBytes = new Uint8Array(memory.buffer);
  /** The last resized rows are held; each takes the place of one that no new row needs any more. */
  const placeOf = (y: number) => ring + ((y * stride) % ringBytes);

  const out = new Uint8Array(newLength * to.height);
  let resized = 0;
  for (let y = 0; y < to.height; y++) {
    const first = down.firsts[y] ?? 0;
    const count = down.counts[y] ?? 0;
    for (; resized < first + count; resized++) {
      memoryBytes.set(bytes.subarray(resized * length, (resized + 1) * length), row);
      const at = placeOf(resized);
      resizeRow(row, channels, firsts, counts, acrossWeights, across.reach, at, at + newLength);
      tick((resized + y) / (from.height + to.height));
    }
    const weights = downWeights + y * down.reach * Int32Array.BYTES_PER_ELEMENT;
    const weightsEnd = weights + count * Int32Array.BYTES_PER_ELEMENT;
    sumRows(ring, ring + ringBytes, placeOf(first), stride, weights, weightsEnd, newRow, newRow + newLength);
    out.set(memoryBytes.subarray(newRow, newRow + newLength), y * newLength);
    tick((resized + y + 1) / (from.height + to.height));
  }
  return frameOfBytes(out);
}
