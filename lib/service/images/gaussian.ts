// Blur and sharpen. The bell is measured over the kernel's own square from -1 to 1 (so sigma is relative to the radius),
// and the edges are mirrored without repeating the edge itself, as the family does it.

import { createRowSums } from "./blur-kernel";
import { mapRows, mapSamples, type Raster } from "./raster";
import { stages, type Tick } from "./tick";

export type Bell = { radius: number; sigma: number };

/** The place inside 0 … size - 1 that a place beyond the edge mirrors to. */
function mirrored(place: number, size: number): number {
  if (size === 1) return 0;
  const period = 2 * (size - 1);
  const inside = ((place % period) + period) % period;
  return inside < size ? inside : period - inside;
}

function bellWeights({ radius, sigma }: Bell): Float64Array {
  const raw = Float64Array.from({ length: radius * 2 + 1 }, (_, i) => Math.exp(-((i / radius - 1) ** 2) / (2 * sigma * sigma)));
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  return raw.map((weight) => weight / total);
}

export function blurRaster(raster: Raster, bell: Bell, tick: Tick): Raster {
  const blur = (samples: Float32Array, part: Tick) => {
    const nextStage = stages(part, 2);
    return downColumns(alongRows(samples, raster, bell, nextStage()), raster, bell, nextStage());
  };
  return mapSamples(raster, raster, blur, tick);
}

/** Every row with its mirrored edges: what lies a pixel further is the same row, begun a pixel later. */
function alongRows(samples: Float32Array, { width, height, channels }: Raster, bell: Bell, tick: Tick): Float32Array {
  const weights = bellWeights(bell);
  const length = width * channels;
  const edges = [
    ...Array.from({ length: bell.radius }, (_, i) => i),
    ...Array.from({ length: bell.radius }, (_, i) => bell.radius + width + i),
  ];
  const { rows, sum } = createRowSums(weights, { length, rowSamples: length + 2 * bell.radius * channels });
  const places = Int32Array.from(weights, (_, i) => i * channels);
  const out = new Float32Array(samples.length);
  for (let y = 0; y < height; y++) {
    const row = samples.subarray(y * length, (y + 1) * length);
    rows.set(row, bell.radius * channels);
    for (const edge of edges) {
      const from = mirrored(edge - bell.radius, width) * channels;
      for (let c = 0; c < channels; c++) rows[edge * channels + c] = row[from + c] ?? 0;
    }
    out.set(sum(places), y * length);
    tick((y + 1) / height);
  }
  return out;
}

/** The rows that the bell reaches are kept, each in a place of its own, and replaced as it moves down. */
function downColumns(samples: Float32Array, { width, height, channels }: Raster, bell: Bell, tick: Tick): Float32Array {
  const weights = bellWeights(bell);
  const length = width * channels;
  const kept = Math.min(height, weights.length);
  const { rows, sum } = createRowSums(weights, { length, rowSamples: length * kept });
  const keptRow = new Int32Array(kept).fill(-1);
  const out = new Float32Array(samples.length);
  for (let y = 0; y < height; y++) {
    const places = Int32Array.from(weights, (_, i) => {
      const row = mirrored(y + i - bell.radius, height);
      const place = row % kept;
      if (keptRow[place] !== row) rows.set(samples.subarray(row * length, (row + 1) * length), place * length);
      keptRow[place] = row;
      return place * length;
    });
    out.set(sum(places), y * length);
    tick((y + 1) / height);
  }
  return out;
}

/** Adds `amount` times ten of what the blur took away, and clamps. */
export function sharpenRaster(raster: Raster, bell: Bell, amount: number, tick: Tick): Raster {
  const nextStage = stages(tick, 2);
  const blurred = blurRaster(raster, bell, nextStage());
  const gain = amount * 10;
  const row = raster.width * raster.channels;
  return mapRows(
    raster,
    raster,
    ({ out, at, frame, index }) => {
      const soft = blurred.frames[index]?.samples() ?? frame;
      for (let i = at; i < at + row; i++) {
        const value = frame[i] ?? 0;
        out[i] = Math.min(1, Math.max(0, value + gain * (value - (soft[i] ?? 0))));
      }
    },
    nextStage(),
  );
}
