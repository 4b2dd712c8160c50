// The coverage at a quarter of its edges, each value the mean of sixteen pixels: what a screen shows when it looks from afar, and how much
// is painted in all. Guarantees: true for every pixel once `update` was told of each change.

import { type Coverage } from "./coverage";
import { type Rect } from "./geometry";

export const COARSE = 4;

export type Coarse = Coverage & { update: (rect: Rect) => void; /** 0 to 1. */ paintedShare: () => number };

export function createCoarse(coverage: Coverage): Coarse {
  const { width: edge, height: rows, data: fine } = coverage;
  const width = Math.ceil(edge / COARSE);
  const height = Math.ceil(rows / COARSE);
  const data = new Uint8Array(width * height);
  let painted = 0;

  function mean(column: number, row: number): number {
    const [right, bottom] = [Math.min(edge, (column + 1) * COARSE), Math.min(rows, (row + 1) * COARSE)];
    let sum = 0;
    for (let y = row * COARSE; y < bottom; y += 1) {
      for (let at = y * edge + column * COARSE; at < y * edge + right; at += 1) sum += fine[at] ?? 0;
    }
    return Math.round(sum / ((right - column * COARSE) * (bottom - row * COARSE)));
  }

  return {
    width,
    height,
    data,
    update({ left, top, right, bottom }) {
      const [lastColumn, lastRow] = [Math.min(width, Math.ceil(right / COARSE)), Math.min(height, Math.ceil(bottom / COARSE))];
      for (let row = Math.floor(top / COARSE); row < lastRow; row += 1) {
        for (let column = Math.floor(left / COARSE); column < lastColumn; column += 1) {
          const at = row * width + column;
          const now = mean(column, row);
          painted += now - (data[at] ?? 0);
          data[at] = now;
        }
      }
    },
    paintedShare: () => (data.length === 0 ? 0 : painted / data.length / 255),
  };
}
