// The coverage at a quarter of its width and height, each value the mean of sixteen pixels: shown when zoomed out, and used to compute
// the painted share. Guarantees: correct for every pixel once `update` was called for each change.

import { type Coverage } from "./coverage";
import { type Rect } from "./geometry";

export const COARSE = 4;

/** At this scale the means are shown, as the screen shows no single pixel of the picture. */
export function isFar(scale: number): boolean {
  return scale * COARSE <= 1;
}

export type Coarse = Coverage & { update: (rect: Rect) => void; /** 0 to 1. */ paintedShare: () => number };

export function createCoarse(coverage: Coverage): Coarse {
  const { width: edge, height: rows, data: fine } = coverage;
  const width = Math.ceil(edge / COARSE);
  const height = Math.ceil(rows / COARSE);
  const data = new Uint8Array(width * height);
  /** Four pixels at once, if every row begins at a whole word. */
  const words = edge % COARSE === 0 ? new Uint32Array(fine.buffer, fine.byteOffset, fine.length >> 2) : undefined;
  let painted = 0;

  function mean(column: number, row: number): number {
    const [right, bottom] = [Math.min(edge, (column + 1) * COARSE), Math.min(rows, (row + 1) * COARSE)];
    let sum = 0;
    for (let y = row * COARSE; y < bottom; y += 1) {
      for (let at = y * edge + column * COARSE; at < y * edge + right; at += 1) sum += fine[at] ?? 0;
    }
    return Math.round(sum / ((right - column * COARSE) * (bottom - row * COARSE)));
  }
  function setRow(row: number, from: number, to: number): void {
    for (let column = from; column < to; column += 1) {
      const at = row * width + column;
      const now = mean(column, row);
      painted += now - (data[at] ?? 0);
      data[at] = now;
    }
  }
  function setWholeRow(row: number, from: number, to: number, four: Uint32Array): void {
    const first = row * COARSE * width;
    for (let column = from; column < to; column += 1) {
      const at = row * width + column;
      const [one, two] = [four[first + column] ?? 0, four[first + width + column] ?? 0];
      const [three, last] = [four[first + 2 * width + column] ?? 0, four[first + 3 * width + column] ?? 0];
      const even = (one & 0xff00ff) + (two & 0xff00ff) + (three & 0xff00ff) + (last & 0xff00ff);
      const odd = ((one >>> 8) & 0xff00ff) + ((two >>> 8) & 0xff00ff) + ((three >>> 8) & 0xff00ff) + ((last >>> 8) & 0xff00ff);
      const both = even + odd;
      const now = ((both & 0xffff) + (both >>> 16) + 8) >> 4;
      painted += now - (data[at] ?? 0);
      data[at] = now;
    }
  }

  return {
    width,
    height,
    data,
    update({ left, top, right, bottom }) {
      const [from, to] = [Math.floor(left / COARSE), Math.min(width, Math.ceil(right / COARSE))];
      const lastRow = Math.min(height, Math.ceil(bottom / COARSE));
      for (let row = Math.floor(top / COARSE); row < lastRow; row += 1) {
        if (words && (row + 1) * COARSE <= rows) setWholeRow(row, from, to, words);
        else setRow(row, from, to);
      }
    },
    paintedShare: () => (data.length === 0 ? 0 : painted / data.length / 255),
  };
}
