// Points, sizes and rectangles of pixels. Rectangles are half open (`right` and `bottom` are exclusive) and have whole pixels.

export type Point = { x: number; y: number };
export type Size = { width: number; height: number };
export type Rect = { left: number; top: number; right: number; bottom: number };

export const emptyRect: Rect = { left: 0, top: 0, right: 0, bottom: 0 };

export function fullRect({ width, height }: Size): Rect {
  return { left: 0, top: 0, right: width, bottom: height };
}

export function isEmpty({ left, top, right, bottom }: Rect): boolean {
  return right <= left || bottom <= top;
}

export function intersect(rect: Rect, other: Rect): Rect {
  return {
    left: Math.max(rect.left, other.left),
    top: Math.max(rect.top, other.top),
    right: Math.min(rect.right, other.right),
    bottom: Math.min(rect.bottom, other.bottom),
  };
}

/** The smallest rectangle that contains both. */
export function union(rect: Rect | undefined, other: Rect): Rect {
  if (!rect || isEmpty(rect)) return other;
  if (isEmpty(other)) return rect;
  return {
    left: Math.min(rect.left, other.left),
    top: Math.min(rect.top, other.top),
    right: Math.max(rect.right, other.right),
    bottom: Math.max(rect.bottom, other.bottom),
  };
}

export function containsRect(rect: Rect, other: Rect): boolean {
  return rect.left <= other.left && rect.top <= other.top && rect.right >= other.right && rect.bottom >= other.bottom;
}

/** The smallest rectangle of whole pixels around any area. */
export function roundOut({ left, top, right, bottom }: Rect): Rect {
  return { left: Math.floor(left), top: Math.floor(top), right: Math.ceil(right), bottom: Math.ceil(bottom) };
}

/** The rectangle between two corners in any order, including the pixel under each corner. */
export function rectBetween(point: Point, other: Point): Rect {
  return {
    left: Math.floor(Math.min(point.x, other.x)),
    top: Math.floor(Math.min(point.y, other.y)),
    right: Math.floor(Math.max(point.x, other.x)) + 1,
    bottom: Math.floor(Math.max(point.y, other.y)) + 1,
  };
}

export function distance(point: Point, other: Point): number {
  return Math.hypot(point.x - other.x, point.y - other.y);
}
