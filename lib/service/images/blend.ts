import { createSampleFrame, createStages, getSamples, hasSameSize, mapSamples, type Raster, type Size, type Tick } from "./raster";
import { scaleRaster } from "./scale";

export const blendModes = ["normal", "multiply", "screen", "overlay", "soft_light", "difference"] as const;
type BlendMode = (typeof blendModes)[number];

const fround = Math.fround;

const modes: Record<BlendMode, (a: number, b: number) => number> = {
  normal: (_a, b) => b,
  multiply: (a, b) => fround(a * b),
  screen: (a, b) => fround(1 - fround(fround(1 - a) * fround(1 - b))),
  overlay: (a, b) => (a <= 0.5 ? fround(fround(2 * a) * b) : fround(1 - fround(fround(2 * fround(1 - a)) * fround(1 - b)))),
  soft_light: (a, b) =>
    b <= 0.5
      ? fround(a - fround(fround(fround(1 - fround(2 * b)) * a) * fround(1 - a)))
      : fround(a + fround(fround(fround(2 * b) - 1) * fround(soften(a) - a))),
  difference: (a, b) => fround(a - b),
};

function soften(x: number): number {
  return x <= 0.25 ? fround(fround(fround(fround(fround(fround(16 * x) - 12) * x) + 4) * x)) : fround(Math.sqrt(x));
}

/** Both rasters must have the same size. A batch of one is combined with every frame of the other. */
export function blendRasters(base: Raster, layer: Raster, mode: BlendMode, factor: number, tick: Tick): Raster {
  const count = Math.max(base.frames.length, layer.frames.length);
  const blend = modes[mode];
  const baseFactor = fround(1 - factor);
  const layerFactor = fround(factor);
  const rowLength = base.width * base.channels;
  const frames = Array.from({ length: count }, (_, index) => {
    const a = getSamples(base, index, tick, index / count);
    const b = getSamples(layer, index, tick, index / count);
    const out = new Float32Array(a.length);
    for (let start = 0; start < out.length; start += rowLength) {
      for (let i = start; i < start + rowLength; i++) {
        const sample = a[i] ?? 0;
        const value = fround(fround(sample * baseFactor) + fround(blend(sample, b[i] ?? 0) * layerFactor));
        out[i] = value < 0 ? 0 : value > 1 ? 1 : value;
      }
      tick((index + (start + rowLength) / out.length) / count);
    }
    return createSampleFrame(out);
  });
  return { ...base, frames };
}

type Placement = { x: number; y: number; resizeSource: boolean; mask?: Raster };

function limitFrames(raster: Raster, count: number): Raster {
  return raster.frames.length <= count ? raster : { ...raster, frames: raster.frames.slice(0, count) };
}

/** Lists the rasters that are scaled before they are combined. */
export function listScaledRasters(
  destination: Raster,
  source: Raster,
  { resizeSource, mask }: Placement,
): { raster: Raster; size: Size }[] {
  const size: Size = resizeSource ? destination : source;
  return [source, ...(mask ? [mask] : [])]
    .filter((raster) => !hasSameSize(raster, size))
    .map((raster) => ({ raster: limitFrames(raster, destination.frames.length), size }));
}

/** The result has the size and batch of the destination. Source and mask are repeated or truncated to that batch. */
export function compositeRasters(destination: Raster, source: Raster, placement: Placement, tick: Tick): Raster {
  const count = destination.frames.length;
  const nextStage = createStages(tick, listScaledRasters(destination, source, placement).length + 1);
  const fit = (raster: Raster, size: Size) => (hasSameSize(raster, size) ? raster : scaleRaster(raster, size, "bilinear", nextStage()));
  const limitedSource = limitFrames(source, count);
  const layer = placement.resizeSource ? fit(limitedSource, destination) : limitedSource;
  const mask = placement.mask && fit(limitFrames(placement.mask, count), layer);
  const left = clampPosition(placement.x, layer.width, destination.width);
  const top = clampPosition(placement.y, layer.height, destination.height);
  const columns = { start: Math.max(0, -left), end: Math.min(layer.width, destination.width - left) };
  const rows = { start: Math.max(0, -top), end: Math.min(layer.height, destination.height - top) };
  return mapSamples(
    destination,
    destination,
    (frame, frameTick, index) => {
      const out = frame.slice();
      const layerSamples = getSamples(layer, index, frameTick, 0);
      const maskSamples = mask && getSamples(mask, index, frameTick, 0);
      for (let y = rows.start; y < rows.end; y++) {
        for (let x = columns.start; x < columns.end; x++) {
          const sourceIndex = y * layer.width + x;
          const targetIndex = ((y + top) * destination.width + x + left) * destination.channels;
          const maskValue = maskSamples?.[sourceIndex] ?? 1;
          const inverse = fround(1 - maskValue);
          for (let c = 0; c < destination.channels; c++) {
            out[targetIndex + c] =
              fround(maskValue * (layerSamples[sourceIndex * layer.channels + c] ?? 0)) + fround(inverse * (frame[targetIndex + c] ?? 0));
          }
        }
        frameTick((y + 1) / rows.end);
      }
      return out;
    },
    nextStage(),
  );
}

function clampPosition(position: number, length: number, targetLength: number): number {
  return Math.max(-length, Math.min(position, targetLength));
}
