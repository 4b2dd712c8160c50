// Points, sizes and rectangles of pixels. Guarantees: a rectangle is half open (`right` and `bottom` lie outside) and has whole pixels.

export type Point = { x: number; y: number };
export type Size = { width: number; height: number };
export type Rect = { left: number; top: number; right: number; bottom: number };

export const nothing: Rect = { left: 0, top: 0, right: 0, bottom: 0 };

export function wholeOf({ width, height }: Size): Rect {
  return { left: 0, top: 0, right: width, bottom: height };
}

export function isEmpty({ left, top, right, bottom }: Rect): boolean {
  return right <= left || bottom <= top;
}

export function clipped(one: Rect, other: Rect): Rect {
  return {
    left: Math.max(one.left, other.left),
    top: Math.max(one.top, other.top),
    right: Math.min(one.right, other.right),
    bottom: Math.min(one.bottom, other.bottom),
  };
}

/** The smallest rectangle that holds both. */
export function joined(one: Rect | undefined, other: Rect): Rect {
  if (!one || isEmpty(one)) return other;
  if (isEmpty(other)) return one;
  return {
    left: Math.min(one.left, other.left),
    top: Math.min(one.top, other.top),
    right: Math.max(one.right, other.right),
    bottom: Math.max(one.bottom, other.bottom),
  };
}

export function holds(one: Rect, other: Rect): boolean {
  return one.left <= other.left && one.top <= other.top && one.right >= other.right && one.bottom >= other.bottom;
}

/** The smallest rectangle of whole pixels around any area. */
export function outward({ left, top, right, bottom }: Rect): Rect {
  return { left: Math.floor(left), top: Math.floor(top), right: Math.ceil(right), bottom: Math.ceil(bottom) };
}

/** The rectangle between two corners in any order, including the pixel under each corner. */
export function between(one: Point, other: Point): Rect {
  return {
    left: Math.floor(Math.min(one.x, other.x)),
    top: Math.floor(Math.min(one.y, other.y)),
    right: Math.floor(Math.max(one.x, other.x)) + 1,
    bottom: Math.floor(Math.max(one.y, other.y)) + 1,
  };
}

export function distance(one: Point, other: Point): number {
  return Math.hypot(one.x - other.x, one.y - other.y);
}
