// Blur and sharpen. The bell is measured over the kernel's own square from -1 to 1 (so sigma is relative to the radius),
// and the edges are mirrored without repeating the edge itself, as the family does it.

import { mapRows, mapSamples, type Raster } from "./raster";
import { stages, type Tick } from "./tick";
import { applyTaps } from "./separable";
import { type Taps } from "./taps";

export type Bell = { radius: number; sigma: number };

/** The place inside 0 … size - 1 that a place beyond the edge mirrors to. */
function mirrored(place: number, size: number): number {
  if (size === 1) return 0;
  const period = 2 * (size - 1);
  const inside = ((place % period) + period) % period;
  return inside < size ? inside : period - inside;
}

function bellTaps({ radius, sigma }: Bell, size: number): Taps {
  const reach = radius * 2 + 1;
  const raw = Array.from({ length: reach }, (_, i) => Math.exp(-((i / radius - 1) ** 2) / (2 * sigma * sigma)));
  const total = raw.reduce((sum, weight) => sum + weight, 0);
  const places = new Int32Array(size * reach);
  const weights = new Float64Array(size * reach);
  for (let place = 0; place < size; place++) {
    for (let i = 0; i < reach; i++) {
      places[place * reach + i] = mirrored(place + i - radius, size);
      weights[place * reach + i] = (raw[i] ?? 0) / total;
    }
  }
  return { reach, places, weights };
}

export function blurRaster(raster: Raster, bell: Bell, tick: Tick): Raster {
  const axes = { across: bellTaps(bell, raster.width), down: bellTaps(bell, raster.height) };
  return mapSamples(raster, raster, (frame, part) => applyTaps(frame, raster, raster, axes, part), tick);
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
