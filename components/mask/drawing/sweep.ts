// What a round brush covers on one part of its way: the strip between two points, or the disc at one of them, row by row within a tile.
// Guarantees: a pixel keeps the largest amount that any part of the stroke paints there, so visiting it twice changes nothing; pixels
// outside the part's bounds are never visited.

import { type Coverage, painted } from "./coverage";
import { clipped, outward, type Point, type Rect } from "./geometry";
import { TILE } from "./tiles";

/** One tile that a stroke has reached. */
export type Touched = { before: Uint8Array<ArrayBuffer>; amount: Uint8Array; rect: Rect };
/** A half plane, relative to the part's beginning: x * nx + y * ny is at most `most`. */
type Bound = { nx: number; ny: number; most: number };
/** `a` and `b` are the radius at its two ends. */
export type Part = { from: Point; to: Point; a: number; b: number; bounds: readonly Bound[] };

/** Visits slightly more than necessary: pixels at a bound belong to both of its sides. */
const SLACK = 1;

const smooth = Uint8Array.from({ length: 256 }, (_, at) => {
  const share = at / 255;
  return Math.round(255 * share * share * (3 - 2 * share));
});

/** The area between two points, without the round ends. */
export function strip(from: Point, to: Point, a: number, b: number): Part {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [nx, ny] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const aside = Math.max(a, b) + SLACK;
  const bounds = [
    { nx: -nx, ny: -ny, most: SLACK },
    { nx, ny, most: length + SLACK },
    { nx: -ny, ny: nx, most: aside },
    { nx: ny, ny: -nx, most: aside },
  ];
  return { from, to, a, b, bounds };
}

/** The whole disc, or the part of it that lies ahead of one direction and behind another. */
export function disc(at: Point, radius: number, ahead: Point | undefined, behind: Point | undefined): Part {
  const bounds: Bound[] = [];
  if (ahead) bounds.push({ nx: -ahead.x, ny: -ahead.y, most: SLACK });
  if (behind) bounds.push({ nx: behind.x, ny: behind.y, most: SLACK });
  return { from: at, to: at, a: radius, b: radius, bounds };
}

export function boundsOf({ from, to, a, b }: Part): Rect {
  const reach = Math.max(a, b) + SLACK;
  return outward({
    left: Math.min(from.x, to.x) - reach,
    top: Math.min(from.y, to.y) - reach,
    right: Math.max(from.x, to.x) + reach,
    bottom: Math.max(from.y, to.y) + reach,
  });
}

export function sweep(coverage: Coverage, tile: Touched, part: Part, hardness: number, isErasing: boolean): void {
  const { from, to, a, b, bounds } = part;
  const { amount, before } = tile;
  const { left, top, right, bottom } = clipped(boundsOf(part), tile.rect);
  const fromX = from.x;
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const length2 = dx * dx + dy * dy;
  const perLength2 = length2 > 0 ? 1 / length2 : 0;
  const growth = b - a;
  let outer = a + 0.5;
  let feather = Math.max(1, (1 - hardness) * outer);
  let outer2 = outer * outer;
  let inner2 = outer > feather ? (outer - feather) ** 2 : -1;
  for (let y = top; y < bottom; y += 1) {
    const py = y + 0.5 - from.y;
    let [least, most] = [left - fromX, right - fromX];
    if (length2 === 0) {
      const half = Math.sqrt(Math.max(0, outer2 - py * py)) + SLACK;
      [least, most] = [Math.max(least, -half), Math.min(most, half)];
    }
    for (const { nx, ny, most: limit } of bounds) {
      const rest = limit - ny * py;
      if (Math.abs(nx) < 1e-9) {
        if (rest < 0) most = least;
      } else if (nx > 0) most = Math.min(most, rest / nx);
      else least = Math.max(least, rest / nx);
    }
    const [first, end] = [Math.max(left, Math.floor(fromX + least)), Math.min(right, Math.ceil(fromX + most))];
    const inTile = (y - tile.rect.top) * TILE - tile.rect.left;
    const inAll = y * coverage.width;
    for (let x = first; x < end; x += 1) {
      const was = amount[inTile + x] ?? 0;
      if (was === 255) continue;
      const px = x + 0.5 - fromX;
      let along = (px * dx + py * dy) * perLength2;
      along = along < 0 ? 0 : along > 1 ? 1 : along;
      const ex = px - dx * along;
      const ey = py - dy * along;
      const distance2 = ex * ex + ey * ey;
      if (growth !== 0) {
        outer = a + growth * along + 0.5;
        feather = Math.max(1, (1 - hardness) * outer);
        outer2 = outer * outer;
        inner2 = outer > feather ? (outer - feather) ** 2 : -1;
      }
      if (distance2 >= outer2) continue;
      const now = distance2 <= inner2 ? 255 : (smooth[(((outer - Math.sqrt(distance2)) / feather) * 255) | 0] ?? 255);
      if (now <= was) continue;
      amount[inTile + x] = now;
      coverage.data[inAll + x] = painted(before[inTile + x] ?? 0, now, isErasing);
    }
  }
}
