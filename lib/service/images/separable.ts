// Applies taps to a frame, first along the rows, then down the columns: this is resampling.
// Sums are rounded to float32 where torch rounds them: saving truncates, so a different last bit would change a byte.

import { type Size } from "./raster";
import { type Taps } from "./taps";
import { type Tick } from "./tick";

const f = Math.fround;

type Axes = { across: Taps; down: Taps };

export function applyTaps(frame: Float32Array, from: Size & { channels: number }, to: Size, axes: Axes, tick: Tick): Float32Array {
  const rows = alongRows(frame, from, to.width, axes.across, (done) => tick(done / 2));
  return downColumns(rows, { ...from, width: to.width }, to.height, axes.down, (done) => tick(0.5 + done / 2));
}

function alongRows(frame: Float32Array, from: Size & { channels: number }, width: number, taps: Taps, tick: Tick): Float32Array {
  const { channels, height } = from;
  const { reach, places, weights } = taps;
  const out = new Float32Array(width * height * channels);
  const offsets = places.map((place) => place * channels);
  for (let y = 0; y < height; y++) {
    const row = y * from.width * channels;
    let to = y * width * channels;
    for (let x = 0; x < width; x++) {
      const first = x * reach;
      const a = row + (offsets[first] ?? 0);
      const b = reach > 1 ? row + (offsets[first + 1] ?? 0) : a;
      const [ofA, ofB] = [weights[first] ?? 0, reach > 1 ? (weights[first + 1] ?? 0) : 0];
      for (let c = 0; c < channels; c++) {
        let sum = f((frame[a + c] ?? 0) * ofA + f((frame[b + c] ?? 0) * ofB));
        for (let i = first + 2; i < first + reach; i++) sum = f((frame[row + (offsets[i] ?? 0) + c] ?? 0) * (weights[i] ?? 0) + sum);
        out[to++] = sum;
      }
    }
    tick((y + 1) / height);
  }
  return out;
}

function downColumns(frame: Float32Array, from: Size & { channels: number }, height: number, taps: Taps, tick: Tick): Float32Array {
  const { reach, places, weights } = taps;
  const stride = from.width * from.channels;
  const starts = places.map((place) => place * stride);
  const out = new Float32Array(stride * height);
  for (let y = 0; y < height; y++) {
    const [begin, end] = [y * reach, (y + 1) * reach];
    sumStepwise(frame, starts.subarray(begin, end), weights.subarray(begin, end), out.subarray(y * stride, (y + 1) * stride));
    tick((y + 1) / height);
  }
  return out;
}

/** Each result is the mean of the block of samples that it covers, summed row by row in float32. */
export function averageBlocks(frame: Float32Array, from: Size & { channels: number }, to: Size, tick: Tick): Float32Array {
  const { channels } = from;
  const out = new Float32Array(to.width * to.height * channels);
  const [columns, rows] = [blocks(from.width, to.width), blocks(from.height, to.height)];
  let at = 0;
  for (const [y, { first: top, end: bottom }] of rows.entries()) {
    for (const { first: left, end: right } of columns) {
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let row = top; row < bottom; row++)
          for (let column = left; column < right; column++) sum = f(sum + (frame[(row * from.width + column) * channels + c] ?? 0));
        out[at++] = f(sum / (bottom - top)) / (right - left);
      }
    }
    tick((y + 1) / to.height);
  }
  return out;
}

function blocks(from: number, to: number): { first: number; end: number }[] {
  return Array.from({ length: to }, (_, place) => ({ first: Math.floor((place * from) / to), end: Math.ceil(((place + 1) * from) / to) }));
}

/** Writes the sums as torch computes them, as above: a product joins the sum unrounded, except the second, which is rounded first. */
function sumStepwise(source: Float32Array, starts: Int32Array, weights: Float64Array, out: Float32Array): void {
  const [a = 0, b = a, ...more] = starts;
  const [ofA = 0, ofB = 0] = weights;
  for (let x = 0; x < out.length; x++) {
    let sum = f((source[a + x] ?? 0) * ofA + f((source[b + x] ?? 0) * ofB));
    for (let i = 0; i < more.length; i++) sum = f((source[(more[i] ?? 0) + x] ?? 0) * (weights[i + 2] ?? 0) + sum);
    out[x] = sum;
  }
}

/**
 * Adds up in `sums` the rows that begin at `starts`, each times its weight, in order. Four rows at a time take half the time. If fewer are
 * left, the first of them fills the gaps with weight 0: in some other row, 0 times a sample could be NaN.
 */
export function sumRows(source: Float32Array, starts: Int32Array, weights: Float64Array, sums: Float64Array): void {
  sums.fill(0);
  for (let i = 0; i < starts.length; i += 4) {
    const [a = 0, b = a, c = a, d = a] = starts.subarray(i, i + 4);
    const [ofA = 0, ofB = 0, ofC = 0, ofD = 0] = weights.subarray(i, i + 4);
    for (let x = 0; x < sums.length; x++)
      sums[x] =
        (sums[x] ?? 0) + (source[a + x] ?? 0) * ofA + (source[b + x] ?? 0) * ofB + (source[c + x] ?? 0) * ofC + (source[d + x] ?? 0) * ofD;
  }
}
