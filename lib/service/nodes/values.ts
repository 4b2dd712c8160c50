// What a node puts out and takes in: rasters and literals. Nothing else passes along a link.

import { pixelsOf, type Raster } from "../images/raster";

export type NodeValue = Raster | string | number | bigint | boolean | undefined;

export function isRaster(value: NodeValue): value is Raster {
  return typeof value === "object";
}

/** The type of the value itself, whatever type its link declares. */
export function typeOf(value: NodeValue): string {
  if (isRaster(value)) return value.channels === 3 ? "IMAGE" : "MASK";
  if (typeof value === "string") return "STRING";
  if (typeof value === "boolean") return "BOOLEAN";
  return typeof value === "number" || typeof value === "bigint" ? "NUMBER" : "NOTHING";
}

/** One line about a value, for errors and previews: of an image its size, never its samples. */
export function describeValue(value: NodeValue): string {
  if (!isRaster(value)) return value === undefined ? "None" : String(value);
  const kind = value.channels === 3 ? "Image" : "Mask";
  return `${kind} ${value.width}x${value.height} x${value.frames.length}`;
}

export function pixelsIn(value: NodeValue): number {
  return isRaster(value) ? pixelsOf(value) : 0;
}
