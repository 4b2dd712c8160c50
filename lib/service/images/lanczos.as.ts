// The sums of Lanczos in AssemblyScript, for the vector instructions that JavaScript lacks: `bin/build/bundle.mjs` compiles this to
// dist/lanczos.wasm, and lanczos.ts says where everything lies in the memory.
// Sums are integers in fixed point, so the order of the additions makes no difference, to the byte.
// Must never: read or write more than 16 bytes beyond what it is given.

/** The same value as in lanczos-weights.ts. */
const PRECISION = 22;

/** `reach` weights for each pixel of the new row, of which `counts` are used, for the pixels of the old row from `firsts` on. */
export function resizeRow(
  row: usize,
  channels: usize,
  firsts: usize,
  counts: usize,
  weights: usize,
  reach: usize,
  out: usize,
  outEnd: usize,
): void {
  while (out < outEnd) {
    let at = row + <usize>load<u32>(firsts) * channels;
    const weightsEnd = weights + ((<usize>load<u32>(counts)) << 2);
    // Four channels at once: those that a pixel does not have belong to its neighbour, which overwrites them in `out`.
    let sums = i32x4.splat(1 << (PRECISION - 1));
    for (let weight = weights; weight < weightsEnd; weight += 4) {
      const pixel = i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(at)));
      sums = i32x4.add(sums, i32x4.mul(pixel, v128.load32_splat(weight)));
      at += channels;
    }
    v128.store32_lane(out, clamped(sums, sums, sums, sums), 0);
    firsts += 4;
    counts += 4;
    weights += reach << 2;
    out += channels;
  }
}

/** Makes one new row from as many rows as there are weights; the rows are kept in a ring, and `first` is the first of them. */
export function sumRows(
  ring: usize,
  ringEnd: usize,
  first: usize,
  stride: usize,
  weights: usize,
  weightsEnd: usize,
  out: usize,
  outEnd: usize,
): void {
  while (out < outEnd) {
    let at = first;
    let a = i32x4.splat(1 << (PRECISION - 1));
    let b = a;
    let c = a;
    let d = a;
    for (let weight = weights; weight < weightsEnd; weight += 4) {
      const bytes = v128.load(at);
      const low = i16x8.extend_low_i8x16_u(bytes);
      const high = i16x8.extend_high_i8x16_u(bytes);
      const factor = v128.load32_splat(weight);
      a = i32x4.add(a, i32x4.mul(i32x4.extend_low_i16x8_u(low), factor));
      b = i32x4.add(b, i32x4.mul(i32x4.extend_high_i16x8_u(low), factor));
      c = i32x4.add(c, i32x4.mul(i32x4.extend_low_i16x8_u(high), factor));
      d = i32x4.add(d, i32x4.mul(i32x4.extend_high_i16x8_u(high), factor));
      at += stride;
      if (at >= ringEnd) at -= ringEnd - ring;
    }
    v128.store(out, clamped(a, b, c, d));
    first += 16;
    out += 16;
  }
}

/** Sixteen sums as bytes from 0 to 255. */
function clamped(a: v128, b: v128, c: v128, d: v128): v128 {
  return i8x16.narrow_i16x8_u(
    i16x8.narrow_i32x4_s(i32x4.shr_s(a, PRECISION), i32x4.shr_s(b, PRECISION)),
    i16x8.narrow_i32x4_s(i32x4.shr_s(c, PRECISION), i32x4.shr_s(d, PRECISION)),
  );
}
