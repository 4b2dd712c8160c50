// Applies taps to a frame, first along the rows, then down the columns: this is resampling.
// Sums are computed in double precision and stored as float32.

import { type Size } from "./raster";
import { type Tick } from "./tick";
import { type Taps } from "./taps";

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
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let i = 0; i < reach; i++) sum += (frame[row + (offsets[first + i] ?? 0) + c] ?? 0) * (weights[first + i] ?? 0);
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
  const sums = new Float64Array(stride);
  for (let y = 0; y < height; y++) {
    const [begin, end] = [y * reach, (y + 1) * reach];
    sumRows(frame, starts.subarray(begin, end), weights.subarray(begin, end), sums);
    out.set(sums, y * stride);
    tick((y + 1) / height);
  }
  return out;
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
