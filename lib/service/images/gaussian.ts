// Blur and sharpen, as in ComfyUI: sigma is relative to the radius, and edges are mirrored without repeating the edge.

import { createStages, mapRows, mapSamples, type Raster, type Tick } from "./raster";
import { sumRows } from "./scale";

export type GaussianKernel = { radius: number; sigma: number };

/** Mirrors an index beyond the edge into 0 … size - 1. */
function mirrorIndex(index: number, size: number): number {
  if (size === 1) return 0;
  const period = 2 * (size - 1);
  const periodicIndex = ((index % period) + period) % period;
  return periodicIndex < size ? periodicIndex : period - periodicIndex;
}

function kernelWeights({ radius, sigma }: GaussianKernel): Float64Array {
  const raw = Float64Array.from({ length: radius * 2 + 1 }, (_, i) => Math.exp(-((i / radius - 1) ** 2) / (2 * sigma * sigma)));
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  return raw.map((weight) => weight / total);
}

export function blurRaster(raster: Raster, kernel: GaussianKernel, tick: Tick): Raster {
  const weights = kernelWeights(kernel);
  const blur = (samples: Float32Array, part: Tick) => {
    const nextStage = createStages(part, 2);
    return blurColumns(blurRows(samples, raster, weights, nextStage()), raster, weights, nextStage());
  };
  return mapSamples(raster, raster, blur, tick);
}

/** Weighted sums along each row with mirrored edges. A shift by one pixel is the same row with an offset of one. */
function blurRows(samples: Float32Array, { width, height, channels }: Raster, weights: Float64Array, tick: Tick): Float32Array {
  const radius = (weights.length - 1) / 2;
  const length = width * channels;
  const sourceOffsets = Int32Array.from({ length: (width + 2 * radius) * channels }, (_, i) => {
    return mirrorIndex(Math.floor(i / channels) - radius, width) * channels + (i % channels);
  });
  const row = new Float32Array(sourceOffsets.length);
  const starts = Int32Array.from(weights, (_, i) => i * channels);
  const sums = new Float64Array(length);
  const out = new Float32Array(samples.length);
  for (let y = 0; y < height; y++) {
    for (let i = 0; i < row.length; i++) row[i] = samples[y * length + (sourceOffsets[i] ?? 0)] ?? 0;
    sumRows(row, starts, weights, sums);
    out.set(sums, y * length);
    tick((y + 1) / height);
  }
  return out;
}

function blurColumns(samples: Float32Array, { width, height, channels }: Raster, weights: Float64Array, tick: Tick): Float32Array {
  const radius = (weights.length - 1) / 2;
  const length = width * channels;
  const sums = new Float64Array(length);
  const out = new Float32Array(samples.length);
  for (let y = 0; y < height; y++) {
    const starts = Int32Array.from(weights, (_, i) => mirrorIndex(y + i - radius, height) * length);
    sumRows(samples, starts, weights, sums);
    out.set(sums, y * length);
    tick((y + 1) / height);
  }
  return out;
}

export function sharpenRaster(raster: Raster, kernel: GaussianKernel, amount: number, tick: Tick): Raster {
  const nextStage = createStages(tick, 2);
  const blurred = blurRaster(raster, kernel, nextStage());
  const gain = amount * 10;
  const row = raster.width * raster.channels;
  return mapRows(
    raster,
    raster,
    ({ out, at, frame, index }) => {
      const blurredSamples = blurred.frames[index]?.samples() ?? frame;
      for (let i = at; i < at + row; i++) {
        const value = frame[i] ?? 0;
        out[i] = Math.min(1, Math.max(0, value + gain * (value - (blurredSamples[i] ?? 0))));
      }
    },
    nextStage(),
  );
}
