// The mask as the screen shows it, sampled at the screen's own pixels: the cost depends on the window, not on the picture's size.
// Guarantees: writes exactly the requested rectangle; zoomed out it shows means, so that a thin line does not vanish.

import { COARSE, type Coarse, isFar } from "./coarse";
import { type Coverage } from "./coverage";
import { type Rect } from "./geometry";
import { type View } from "./viewport";

/** overlay: colour over the picture; mask: white on black; result: the painted parts are cut out. */
export type Look =
  { kind: "overlay"; colour: readonly [number, number, number] } | { kind: "mask" } | { kind: "result"; board: readonly [number, number] };

/** Little-endian words of RGBA by coverage; two tables where a checkerboard shows through. */
function wordsOf(look: Look): readonly [Uint32Array, Uint32Array] {
  const table = (make: (value: number) => readonly [number, number, number, number]) =>
    Uint32Array.from({ length: 256 }, (_, value) => {
      const [red, green, blue, alpha] = make(value);
      return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
    });
  if (look.kind === "overlay") {
    const [red, green, blue] = look.colour;
    const words = table((value) => [red, green, blue, value]);
    return [words, words];
  }
  if (look.kind === "mask") {
    const words = table((value) => [value, value, value, 255]);
    return [words, words];
  }
  const [one, other] = look.board;
  return [table((value) => [one, one, one, value]), table((value) => [other, other, other, value])];
}

export type Sampler = (view: View, rect: Rect, into: Uint32Array) => void;

export function createSampler(coverage: Coverage, coarse: Coarse, look: Look): Sampler {
  const [even, odd] = wordsOf(look);
  const isBoard = even !== odd;
  return (view, rect, into) => {
    const usesMeans = isFar(view.scale);
    const from: Coverage = usesMeans ? coarse : coverage;
    const step = 1 / (usesMeans ? view.scale * COARSE : view.scale);
    const [startX, startY] = [-view.x * step, -view.y * step];
    const { width, height, data } = from;
    const columns = rect.right - rect.left;
    // Two samples each way where a screen pixel covers more than one pixel of the picture.
    const isFine = step > 1.3;
    const [near, far] = isFine ? [0.25, 0.75] : [0.5, 0.5];
    const ones = columnsOf(rect, startX, step, near, width);
    const others = isFine ? columnsOf(rect, startX, step, far, width) : ones;
    for (let y = rect.top, at = 0; y < rect.bottom; y += 1, at += columns) {
      const row = Math.floor(startY + (y + near) * step);
      if (row < 0 || row >= height) {
        into.fill(0, at, at + columns);
        continue;
      }
      const one = row * width;
      const second = isFine ? Math.min(height - 1, Math.floor(startY + (y + far) * step)) * width : one;
      for (let column = 0; column < columns; column += 1) {
        const x = ones[column] ?? -1;
        if (x < 0) {
          into[at + column] = 0;
          continue;
        }
        const x2 = others[column] ?? x;
        const value = isFine
          ? ((data[one + x] ?? 0) + (data[one + x2] ?? 0) + (data[second + x] ?? 0) + (data[second + x2] ?? 0) + 2) >> 2
          : (data[one + x] ?? 0);
        const words = isBoard && (((rect.left + column) >> 3) + (y >> 3)) % 2 === 1 ? odd : even;
        into[at + column] = words[value] ?? 0;
      }
    }
  };
}

/** The picture's column for each column of the screen; -1 outside the picture. */
function columnsOf(rect: Rect, start: number, step: number, offset: number, width: number): Int32Array {
  return Int32Array.from({ length: rect.right - rect.left }, (_, index) => {
    const x = Math.floor(start + (rect.left + index + offset) * step);
    return x < 0 ? -1 : x >= width ? (offset > 0.5 ? width - 1 : -1) : x;
  });
}
