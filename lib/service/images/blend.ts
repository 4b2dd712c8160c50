import { createSampleFrame, createStages, mapSamples, type Raster, sameSize, samplesAt, type Size, type Tick } from "./raster";
import { scaleRaster } from "./scale";

export const blendModes = ["normal", "multiply", "screen", "overlay", "soft_light", "difference"] as const;
type BlendMode = (typeof blendModes)[number];

const f = Math.fround;

const modes: Record<BlendMode, (a: number, b: number) => number> = {
  normal: (_a, b) => b,
  multiply: (a, b) => f(a * b),
  screen: (a, b) => f(1 - f(f(1 - a) * f(1 - b))),
  overlay: (a, b) => (a <= 0.5 ? f(f(2 * a) * b) : f(1 - f(f(2 * f(1 - a)) * f(1 - b)))),
  soft_light: (a, b) => (b <= 0.5 ? f(a - f(f(f(1 - f(2 * b)) * a) * f(1 - a))) : f(a + f(f(f(2 * b) - 1) * f(soften(a) - a)))),
  difference: (a, b) => f(a - b),
};

function soften(x: number): number {
  return x <= 0.25 ? f(f(f(f(f(f(16 * x) - 12) * x) + 4) * x)) : f(Math.sqrt(x));
}

/** Both rasters must have the same size. A batch of one is combined with every frame of the other. */
export function blendRasters(below: Raster, above: Raster, mode: BlendMode, factor: number, tick: Tick): Raster {
  const count = Math.max(below.frames.length, above.frames.length);
  const blend = modes[mode];
  const belowFactor = f(1 - factor);
  const aboveFactor = f(factor);
  const row = below.width * below.channels;
  const frames = Array.from({ length: count }, (_, index) => {
    const a = samplesAt(below, index, tick, index / count);
    const b = samplesAt(above, index, tick, index / count);
    const out = new Float32Array(a.length);
    for (let start = 0; start < out.length; start += row) {
      for (let i = start; i < start + row; i++) {
        const from = a[i] ?? 0;
        const value = f(f(from * belowFactor) + f(blend(from, b[i] ?? 0) * aboveFactor));
        out[i] = value < 0 ? 0 : value > 1 ? 1 : value;
      }
      tick((index + (start + row) / out.length) / count);
    }
    return createSampleFrame(out);
  });
  return { ...below, frames };
}

type Placement = { x: number; y: number; resizeSource: boolean; mask?: Raster };

function limitFrames(raster: Raster, count: number): Raster {
  return raster.frames.length <= count ? raster : { ...raster, frames: raster.frames.slice(0, count) };
}

/** The pixels that are computed in addition to the result, in frames of their sizes. */
export function listExtraFrames(destination: Raster, source: Raster, { resizeSource, mask }: Placement): { size: Size; frames: number }[] {
  const count = destination.frames.length;
  const layerSize: Size = resizeSource ? destination : source;
  return [
    ...(sameSize(layerSize, source) ? [] : [{ size: layerSize, frames: Math.min(count, source.frames.length) }]),
    ...(mask && !sameSize(mask, layerSize) ? [{ size: layerSize, frames: Math.min(count, mask.frames.length) }] : []),
  ];
}

/** The result has the size and batch of the destination. Source and mask are repeated or truncated to that batch. */
export function compositeRasters(destination: Raster, source: Raster, placement: Placement, tick: Tick): Raster {
  const count = destination.frames.length;
  const nextStage = createStages(tick, listExtraFrames(destination, source, placement).length + 1);
  const fit = (raster: Raster, to: Size) => (sameSize(raster, to) ? raster : scaleRaster(raster, to, "bilinear", nextStage()));
  const limitedSource = limitFrames(source, count);
  const layer = placement.resizeSource ? fit(limitedSource, destination) : limitedSource;
  const mask = placement.mask && fit(limitFrames(placement.mask, count), layer);
  const left = clampTo(placement.x, layer.width, destination.width);
  const top = clampTo(placement.y, layer.height, destination.height);
  const columns = { from: Math.max(0, -left), to: Math.min(layer.width, destination.width - left) };
  const rows = { from: Math.max(0, -top), to: Math.min(layer.height, destination.height - top) };
  return mapSamples(
    destination,
    destination,
    (frame, part, index) => {
      const out = frame.slice();
      const layerSamples = samplesAt(layer, index, part, 0);
      const maskSamples = mask && samplesAt(mask, index, part, 0);
      for (let y = rows.from; y < rows.to; y++) {
        for (let x = columns.from; x < columns.to; x++) {
          const from = y * layer.width + x;
          const to = ((y + top) * destination.width + x + left) * destination.channels;
          const m = maskSamples?.[from] ?? 1;
          const inverse = f(1 - m);
          for (let c = 0; c < destination.channels; c++) {
            out[to + c] = f(m * (layerSamples[from * layer.channels + c] ?? 0)) + f(inverse * (frame[to + c] ?? 0));
          }
        }
        part((y + 1) / rows.to);
      }
      return out;
    },
    nextStage(),
  );
}

function clampTo(position: number, length: number, targetLength: number): number {
  return Math.max(-length, Math.min(position, targetLength));
}
