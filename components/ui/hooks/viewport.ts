/** The visible part of a drawing or picture: its point (0, 0) is at pixel (x, y), and a unit is `scale` pixels. */
export type Viewport = { x: number; y: number; scale: number };
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };
export type Scales = { least: number; most: number };

export const drawingScales: Scales = { least: 0.02, most: 4 };
/** A picture can be zoomed in to its pixels. */
export const pictureScales: Scales = { least: 0.01, most: 32 };

/** All of it, as large as possible but not larger than `largest`. */
export function fitted(content: Size, size: Size, { margin = 24, scales = drawingScales, largest = 1 } = {}): Viewport {
  const room = { width: Math.max(1, size.width - 2 * margin), height: Math.max(1, size.height - 2 * margin) };
  const scale = bounded(Math.min(largest, room.width / Math.max(1, content.width), room.height / Math.max(1, content.height)), scales);
  return { scale, x: (size.width - content.width * scale) / 2, y: (size.height - content.height * scale) / 2 };
}

/** The point of the drawing under `at` stays under it. */
export function zoomed({ x, y, scale }: Viewport, factor: number, at: Point, scales = drawingScales): Viewport {
  const next = bounded(scale * factor, scales);
  return { scale: next, x: at.x - ((at.x - x) / scale) * next, y: at.y - ((at.y - y) / scale) * next };
}

function bounded(scale: number, { least, most }: Scales): number {
  return Math.min(most, Math.max(least, scale));
}
