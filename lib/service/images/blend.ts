// The six ways to blend two images, sample by sample, with each step rounded to float32 as in the family.

import { frameOfSamples } from "./frame";
import { type Raster, samplesAt } from "./raster";
import { type Tick } from "./tick";

export const blendModes = ["normal", "multiply", "screen", "overlay", "soft_light", "difference"] as const;
export type BlendMode = (typeof blendModes)[number];

const f = Math.fround;

const modes: Record<BlendMode, (a: number, b: number) => number> = {
  normal: (_a, b) => b,
  multiply: (a, b) => f(a * b),
  screen: (a, b) => f(1 - f(f(1 - a) * f(1 - b))),
  overlay: (a, b) => (a <= 0.5 ? f(f(2 * a) * b) : f(1 - f(f(2 * f(1 - a)) * f(1 - b)))),
  soft_light: (a, b) => (b <= 0.5 ? f(a - f(f(f(1 - f(2 * b)) * a) * f(1 - a))) : f(a + f(f(f(2 * b) - 1) * f(softened(a) - a)))),
  difference: (a, b) => f(a - b),
};

function softened(x: number): number {
  return x <= 0.25 ? f(f(f(f(f(f(16 * x) - 12) * x) + 4) * x)) : f(Math.sqrt(x));
}

/** Both rasters have the same size; a batch of one is combined with every frame of the other. */
export function blendRasters(below: Raster, above: Raster, mode: BlendMode, factor: number, tick: Tick): Raster {
  const count = Math.max(below.frames.length, above.frames.length);
  const blend = modes[mode];
  const keep = f(1 - factor);
  const take = f(factor);
  const row = below.width * below.channels;
  const frames = Array.from({ length: count }, (_, index) => {
    const a = samplesAt(below, index, tick, index / count);
    const b = samplesAt(above, index, tick, index / count);
    const out = new Float32Array(a.length);
    for (let start = 0; start < out.length; start += row) {
      for (let i = start; i < start + row; i++) {
        const from = a[i] ?? 0;
        const value = f(f(from * keep) + f(blend(from, b[i] ?? 0) * take));
        out[i] = value < 0 ? 0 : value > 1 ? 1 : value;
      }
      tick((index + (start + row) / out.length) / count);
    }
    return frameOfSamples(out);
  });
  return { ...below, frames };
}
