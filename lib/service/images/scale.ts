// Scales rasters with five methods. Matches torch, including where sums are rounded to float32.

import { cropRaster } from "./geometry";
import { resizeLanczos } from "./lanczos";
import { createStages, mapFrames, mapSamples, type Raster, roundHalfEven, sameSize, type Size, type Tick } from "./raster";

type Taps = {
  reach: number;
  indexes: Int32Array;
  weights: Float64Array;
};

type TapMethod = "nearest-exact" | "bilinear" | "bicubic";

type Rule = (index: number, from: number, to: number) => { first: number; weights: readonly number[] };

const f = Math.fround;

/** The source coordinate of a result's centre. The product is not rounded before the subtraction. */
const getCentre = (index: number, from: number, to: number) => f(f(from / to) * (index + 0.5) - 0.5);

const CUBIC = -0.75;
const near = (x: number) => f(f(f(f(f((CUBIC + 2) * x) - (CUBIC + 3)) * x) * x) + 1);
const far = (x: number) => f(f(f(f(f(CUBIC * x) - 5 * CUBIC) * x + 8 * CUBIC) * x) - 4 * CUBIC);

const rules: Record<TapMethod, Rule> = {
  "nearest-exact": (index, from, to) => ({ first: Math.floor(f((index + 0.5) * f(from / to))), weights: [1] }),
  bilinear: (index, from, to) => {
    const centre = Math.max(0, getCentre(index, from, to));
    const first = Math.floor(centre);
    const share = f(centre - first);
    return { first, weights: [f(1 - share), share] };
  },
  bicubic: (index, from, to) => {
    const centre = getCentre(index, from, to);
    const t = f(centre - Math.floor(centre));
    const rest = f(1 - t);
    return { first: Math.floor(centre) - 1, weights: [far(f(t + 1)), near(t), near(rest), far(f(rest + 1))] };
  },
};

function createTaps(method: TapMethod, from: number, to: number): Taps {
  const sampleRules = Array.from({ length: to }, (_, index) => rules[method](index, from, to));
  const reach = sampleRules.reduce((maxReach, { weights }) => Math.max(maxReach, weights.length), 1);
  const indexes = new Int32Array(to * reach);
  const weights = new Float64Array(to * reach);
  sampleRules.forEach((tap, index) => {
    for (let i = 0; i < reach; i++) {
      indexes[index * reach + i] = Math.min(from - 1, Math.max(0, tap.first + Math.min(i, tap.weights.length - 1)));
      weights[index * reach + i] = tap.weights[i] ?? 0;
    }
  });
  return { reach, indexes, weights };
}

type Axes = { across: Taps; down: Taps };

function applyTaps(frame: Float32Array, from: Size & { channels: number }, to: Size, axes: Axes, tick: Tick): Float32Array {
  const rows = scaleRows(frame, from, to.width, axes.across, (done) => tick(done / 2));
  return scaleColumns(rows, { ...from, width: to.width }, to.height, axes.down, (done) => tick(0.5 + done / 2));
}

function scaleRows(frame: Float32Array, from: Size & { channels: number }, width: number, taps: Taps, tick: Tick): Float32Array {
  const { channels, height } = from;
  const { reach, indexes, weights } = taps;
  const out = new Float32Array(width * height * channels);
  const offsets = indexes.map((index) => index * channels);
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

function scaleColumns(frame: Float32Array, from: Size & { channels: number }, height: number, taps: Taps, tick: Tick): Float32Array {
  const { reach, indexes, weights } = taps;
  const stride = from.width * from.channels;
  const starts = indexes.map((index) => index * stride);
  const out = new Float32Array(stride * height);
  for (let y = 0; y < height; y++) {
    const [begin, end] = [y * reach, (y + 1) * reach];
    sumStepwise(frame, starts.subarray(begin, end), weights.subarray(begin, end), out.subarray(y * stride, (y + 1) * stride));
    tick((y + 1) / height);
  }
  return out;
}

/** Each result is the mean of the block of samples that it covers, summed row by row in float32. */
function averageBlocks(frame: Float32Array, from: Size & { channels: number }, to: Size, tick: Tick): Float32Array {
  const { channels } = from;
  const out = new Float32Array(to.width * to.height * channels);
  const [columns, rows] = [createBlocks(from.width, to.width), createBlocks(from.height, to.height)];
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

function createBlocks(from: number, to: number): { first: number; end: number }[] {
  return Array.from({ length: to }, (_, index) => ({ first: Math.floor((index * from) / to), end: Math.ceil(((index + 1) * from) / to) }));
}

/** Sums like torch: a product is added unrounded, except the second one, which is rounded first. */
function sumStepwise(source: Float32Array, starts: Int32Array, weights: Float64Array, out: Float32Array): void {
  const [a = 0, b = a, ...more] = starts;
  const [ofA = 0, ofB = 0] = weights;
  for (let x = 0; x < out.length; x++) {
    let sum = f((source[a + x] ?? 0) * ofA + f((source[b + x] ?? 0) * ofB));
    for (let i = 0; i < more.length; i++) sum = f((source[(more[i] ?? 0) + x] ?? 0) * (weights[i + 2] ?? 0) + sum);
    out[x] = sum;
  }
}

/** Adds weighted rows to `sums` in order, four at a time for speed. Missing rows repeat the first with weight 0, because 0 × NaN is NaN. */
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

export const scaleMethods = ["nearest-exact", "bilinear", "area", "bicubic", "lanczos"] as const;
type ScaleMethod = TapMethod | "area" | "lanczos";

export function cropToShape(raster: Raster, to: Size, tick: Tick): Raster {
  const { width, height } = raster;
  const shape = width / height;
  const aspectRatio = to.width / to.height;
  const x = shape > aspectRatio ? roundHalfEven((width - width * (aspectRatio / shape)) / 2) : 0;
  const y = shape < aspectRatio ? roundHalfEven((height - height * (shape / aspectRatio)) / 2) : 0;
  if (x === 0 && y === 0) return raster;
  return cropRaster(raster, { x, y, width: Math.max(1, width - 2 * x), height: Math.max(1, height - 2 * y) }, tick);
}

export function fitRaster(raster: Raster, to: Size, method: ScaleMethod, tick: Tick): Raster {
  if (sameSize(raster, to)) return raster;
  const nextStage = createStages(tick, 2);
  return scaleRaster(cropToShape(raster, to, nextStage()), to, method, nextStage());
}

export function scaleRaster(raster: Raster, to: Size, method: ScaleMethod, tick: Tick): Raster {
  if (method === "lanczos") return mapFrames(raster, to, (frame, part) => resizeLanczos(frame, raster, to, part), tick);
  if (sameSize(raster, to)) return raster;
  if (method === "area") return mapSamples(raster, to, (frame, part) => averageBlocks(frame, raster, to, part), tick);
  const axes = { across: createTaps(method, raster.width, to.width), down: createTaps(method, raster.height, to.height) };
  return mapSamples(raster, to, (frame, part) => applyTaps(frame, raster, to, axes, part), tick);
}
