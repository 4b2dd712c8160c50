// Scales rasters with five methods. Matches torch, including where sums are rounded to float32.

import { type Claim } from "./decode";
import { cropRaster } from "./geometry";
import { resizeLanczos } from "./lanczos";
import { createStages, hasSameSize, mapFrames, mapSamples, type Raster, roundHalfEven, type Size, type Tick } from "./raster";

type Taps = {
  tapCount: number;
  indexes: Int32Array;
  weights: Float64Array;
};

type TapMethod = "nearest-exact" | "bilinear" | "bicubic";

type TapRule = (index: number, sourceLength: number, targetLength: number) => { first: number; weights: readonly number[] };

const fround = Math.fround;

/** The source coordinate of a result's centre. The product is not rounded before the subtraction. */
const getCentre = (index: number, sourceLength: number, targetLength: number) =>
  fround(fround(sourceLength / targetLength) * (index + 0.5) - 0.5);

const CUBIC_COEFFICIENT = -0.75;
const getNearWeight = (x: number) =>
  fround(fround(fround(fround(fround((CUBIC_COEFFICIENT + 2) * x) - (CUBIC_COEFFICIENT + 3)) * x) * x) + 1);
const getFarWeight = (x: number) =>
  fround(
    fround(fround(fround(fround(CUBIC_COEFFICIENT * x) - 5 * CUBIC_COEFFICIENT) * x + 8 * CUBIC_COEFFICIENT) * x) - 4 * CUBIC_COEFFICIENT,
  );

const rules: Record<TapMethod, TapRule> = {
  "nearest-exact": (index, sourceLength, targetLength) => ({
    first: Math.floor(fround((index + 0.5) * fround(sourceLength / targetLength))),
    weights: [1],
  }),
  bilinear: (index, sourceLength, targetLength) => {
    const centre = Math.max(0, getCentre(index, sourceLength, targetLength));
    const first = Math.floor(centre);
    const fraction = fround(centre - first);
    return { first, weights: [fround(1 - fraction), fraction] };
  },
  bicubic: (index, sourceLength, targetLength) => {
    const centre = getCentre(index, sourceLength, targetLength);
    const t = fround(centre - Math.floor(centre));
    const complement = fround(1 - t);
    return {
      first: Math.floor(centre) - 1,
      weights: [getFarWeight(fround(t + 1)), getNearWeight(t), getNearWeight(complement), getFarWeight(fround(complement + 1))],
    };
  },
};

function createTaps(method: TapMethod, sourceLength: number, targetLength: number): Taps {
  const sampleRules = Array.from({ length: targetLength }, (_, index) => rules[method](index, sourceLength, targetLength));
  const tapCount = sampleRules.reduce((maxCount, { weights }) => Math.max(maxCount, weights.length), 1);
  const indexes = new Int32Array(targetLength * tapCount);
  const weights = new Float64Array(targetLength * tapCount);
  sampleRules.forEach((tap, index) => {
    for (let i = 0; i < tapCount; i++) {
      indexes[index * tapCount + i] = Math.min(sourceLength - 1, Math.max(0, tap.first + Math.min(i, tap.weights.length - 1)));
      weights[index * tapCount + i] = tap.weights[i] ?? 0;
    }
  });
  return { tapCount, indexes, weights };
}

type Axes = { horizontal: Taps; vertical: Taps };

function applyTaps(frame: Float32Array, source: Size & { channels: number }, target: Size, axes: Axes, tick: Tick): Float32Array {
  const rows = scaleRows(frame, source, target.width, axes.horizontal, (progress) => tick(progress / 2));
  return scaleColumns(rows, { ...source, width: target.width }, target.height, axes.vertical, (progress) => tick(0.5 + progress / 2));
}

function scaleRows(frame: Float32Array, source: Size & { channels: number }, width: number, taps: Taps, tick: Tick): Float32Array {
  const { channels, height } = source;
  const { tapCount, indexes, weights } = taps;
  const out = new Float32Array(width * height * channels);
  const offsets = indexes.map((index) => index * channels);
  for (let y = 0; y < height; y++) {
    const row = y * source.width * channels;
    let outIndex = y * width * channels;
    for (let x = 0; x < width; x++) {
      const first = x * tapCount;
      const a = row + (offsets[first] ?? 0);
      const b = tapCount > 1 ? row + (offsets[first + 1] ?? 0) : a;
      const [weightA, weightB] = [weights[first] ?? 0, tapCount > 1 ? (weights[first + 1] ?? 0) : 0];
      for (let c = 0; c < channels; c++) {
        let sum = fround((frame[a + c] ?? 0) * weightA + fround((frame[b + c] ?? 0) * weightB));
        for (let i = first + 2; i < first + tapCount; i++)
          sum = fround((frame[row + (offsets[i] ?? 0) + c] ?? 0) * (weights[i] ?? 0) + sum);
        out[outIndex++] = sum;
      }
    }
    tick((y + 1) / height);
  }
  return out;
}

function scaleColumns(frame: Float32Array, source: Size & { channels: number }, height: number, taps: Taps, tick: Tick): Float32Array {
  const { tapCount, indexes, weights } = taps;
  const stride = source.width * source.channels;
  const starts = indexes.map((index) => index * stride);
  const out = new Float32Array(stride * height);
  for (let y = 0; y < height; y++) {
    const [start, end] = [y * tapCount, (y + 1) * tapCount];
    sumStepwise(frame, starts.subarray(start, end), weights.subarray(start, end), out.subarray(y * stride, (y + 1) * stride));
    tick((y + 1) / height);
  }
  return out;
}

/** Each result is the mean of the block of samples that it covers, summed row by row in float32. */
function averageBlocks(frame: Float32Array, source: Size & { channels: number }, target: Size, tick: Tick): Float32Array {
  const { channels } = source;
  const out = new Float32Array(target.width * target.height * channels);
  const [columns, rows] = [createBlocks(source.width, target.width), createBlocks(source.height, target.height)];
  let outIndex = 0;
  for (const [y, { first: top, end: bottom }] of rows.entries()) {
    for (const { first: left, end: right } of columns) {
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let row = top; row < bottom; row++)
          for (let column = left; column < right; column++) sum = fround(sum + (frame[(row * source.width + column) * channels + c] ?? 0));
        out[outIndex++] = fround(sum / (bottom - top)) / (right - left);
      }
    }
    tick((y + 1) / target.height);
  }
  return out;
}

function createBlocks(sourceLength: number, targetLength: number): { first: number; end: number }[] {
  return Array.from({ length: targetLength }, (_, index) => ({
    first: Math.floor((index * sourceLength) / targetLength),
    end: Math.ceil(((index + 1) * sourceLength) / targetLength),
  }));
}

/** Sums like torch: a product is added unrounded, except the second one, which is rounded first. */
function sumStepwise(source: Float32Array, starts: Int32Array, weights: Float64Array, out: Float32Array): void {
  const [a = 0, b = a, ...otherStarts] = starts;
  const [weightA = 0, weightB = 0] = weights;
  for (let x = 0; x < out.length; x++) {
    let sum = fround((source[a + x] ?? 0) * weightA + fround((source[b + x] ?? 0) * weightB));
    for (let i = 0; i < otherStarts.length; i++) sum = fround((source[(otherStarts[i] ?? 0) + x] ?? 0) * (weights[i + 2] ?? 0) + sum);
    out[x] = sum;
  }
}

/** Adds weighted rows to `sums` in order, four at a time for speed. Missing rows repeat the first with weight 0, because 0 × NaN is NaN. */
export function sumRows(source: Float32Array, starts: Int32Array, weights: Float64Array, sums: Float64Array): void {
  sums.fill(0);
  for (let i = 0; i < starts.length; i += 4) {
    const [a = 0, b = a, c = a, d = a] = starts.subarray(i, i + 4);
    const [weightA = 0, weightB = 0, weightC = 0, weightD = 0] = weights.subarray(i, i + 4);
    for (let x = 0; x < sums.length; x++)
      sums[x] =
        (sums[x] ?? 0) +
        (source[a + x] ?? 0) * weightA +
        (source[b + x] ?? 0) * weightB +
        (source[c + x] ?? 0) * weightC +
        (source[d + x] ?? 0) * weightD;
  }
}

export const scaleMethods = ["nearest-exact", "bilinear", "area", "bicubic", "lanczos"] as const;
type ScaleMethod = TapMethod | "area" | "lanczos";

export function cropToShape(raster: Raster, target: Size, tick: Tick): Raster {
  const { width, height } = raster;
  const sourceRatio = width / height;
  const targetRatio = target.width / target.height;
  const x = sourceRatio > targetRatio ? roundHalfEven((width - width * (targetRatio / sourceRatio)) / 2) : 0;
  const y = sourceRatio < targetRatio ? roundHalfEven((height - height * (sourceRatio / targetRatio)) / 2) : 0;
  if (x === 0 && y === 0) return raster;
  return cropRaster(raster, { x, y, width: Math.max(1, width - 2 * x), height: Math.max(1, height - 2 * y) }, tick);
}

export function fitRaster(raster: Raster, target: Size, method: ScaleMethod, tick: Tick): Raster {
  if (hasSameSize(raster, target)) return raster;
  const nextStage = createStages(tick, 2);
  return scaleRaster(cropToShape(raster, target, nextStage()), target, method, nextStage());
}

/** Claims the pixels of `scaleRaster`'s result and of one frame's intermediate rows, which are scaled before its columns. */
export function claimScaledPixels(claim: Claim, raster: Raster, target: Size, method: ScaleMethod): void {
  claim(target, raster.frames.length);
  const hasRowPass = method === "lanczos" || (method !== "area" && !hasSameSize(raster, target));
  if (hasRowPass) claim({ width: target.width, height: raster.height }, 1);
}

export function scaleRaster(raster: Raster, target: Size, method: ScaleMethod, tick: Tick): Raster {
  if (method === "lanczos") return mapFrames(raster, target, (frame, frameTick) => resizeLanczos(frame, raster, target, frameTick), tick);
  if (hasSameSize(raster, target)) return raster;
  if (method === "area") return mapSamples(raster, target, (frame, frameTick) => averageBlocks(frame, raster, target, frameTick), tick);
  const axes = { horizontal: createTaps(method, raster.width, target.width), vertical: createTaps(method, raster.height, target.height) };
  return mapSamples(raster, target, (frame, frameTick) => applyTaps(frame, raster, target, axes, frameTick), tick);
}
