// Kernels of vector instructions, ready to be called, with a memory of their own that rows are copied in and out of.
// The memory holds some rows, whatever the size of the picture, and what lies in it lives until the next `reserve`.

import { wasmModule, type WasmFunction } from "./wasm-module";

const PAGE = 65_536;

export function createKernel(functions: readonly WasmFunction[]) {
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasmModule(functions)), { env: { memory } });
  return {
    exported(name: string): (...numbers: number[]) => void {
      const found: unknown = exports[name];
      if (typeof found !== "function") throw new Error(`The kernel has no ${name}.`);
      return (...numbers) => void Reflect.apply(found, undefined, numbers);
    },

    /** Places for so many bytes each, sixteen to spare behind every one, and the memory that they lie in until the next call. */
    reserve(sizes: readonly number[]): { places: number[]; buffer: ArrayBuffer } {
      let end = 0;
      const places = sizes.map((size) => {
        const place = end;
        end = Math.ceil((end + size) / 16) * 16 + 16;
        return place;
      });
      const missing = end - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
      return { places, buffer: memory.buffer };
    },
  };
}
