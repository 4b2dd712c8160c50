// Scales whole rasters by any of the five methods, with the cut to the new shape that "center" asks for.

import { cropRaster } from "./geometry";
import { resizeLanczos } from "./lanczos";
import { roundHalfEven } from "./numbers";
import { mapFrames, mapSamples, type Raster, sameSize, type Size } from "./raster";
import { applyTaps, averageBlocks } from "./separable";
import { createTaps, type TapMethod } from "./taps";
import { stages, type Tick } from "./tick";

export const scaleMethods = ["nearest-exact", "bilinear", "area", "bicubic", "lanczos"] as const;
export type ScaleMethod = TapMethod | "area" | "lanczos";

/** The largest middle part of `raster` with the shape of `to`. */
export function cropToShape(raster: Raster, to: Size, tick: Tick): Raster {
  const { width, height } = raster;
  const shape = width / height;
  const wanted = to.width / to.height;
  const x = shape > wanted ? roundHalfEven((width - width * (wanted / shape)) / 2) : 0;
  const y = shape < wanted ? roundHalfEven((height - height * (shape / wanted)) / 2) : 0;
  if (x === 0 && y === 0) return raster;
  return cropRaster(raster, { x, y, width: Math.max(1, width - 2 * x), height: Math.max(1, height - 2 * y) }, tick);
}

/** Cut to the shape and scaled to the size; a raster that already has the size stays as it is. */
export function fitRaster(raster: Raster, to: Size, method: ScaleMethod, tick: Tick): Raster {
  if (sameSize(raster, to)) return raster;
  const nextStage = stages(tick, 2);
  return scaleRaster(cropToShape(raster, to, nextStage()), to, method, nextStage());
}

export function scaleRaster(raster: Raster, to: Size, method: ScaleMethod, tick: Tick): Raster {
  if (method === "lanczos") return mapFrames(raster, to, (frame, part) => resizeLanczos(frame, raster, to, part), tick);
  if (sameSize(raster, to)) return raster;
  if (method === "area") return mapSamples(raster, to, (frame, part) => averageBlocks(frame, raster, to, part), tick);
  const axes = { across: createTaps(method, raster.width, to.width), down: createTaps(method, raster.height, to.height) };
  return mapSamples(raster, to, (frame, part) => applyTaps(frame, raster, to, axes, part), tick);
}
