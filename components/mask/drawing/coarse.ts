// The coverage at a quarter of its edges, each value the mean of sixteen pixels: what a screen shows when it looks from afar, and how much
// is painted in all. Guarantees: true for every pixel once `update` was told of each change.

import { type Coverage } from "./coverage";
import { type Rect } from "./geometry";

export const COARSE = 4;

export type Coarse = Coverage & { update: (rect: Rect) => void; /** 0 to 1. */ paintedShare: () => number };

export function createCoarse(coverage: Coverage): Coarse {
  const width = Math.ceil(coverage.width / COARSE);
  const height = Math.ceil(coverage.height / COARSE);
  const data = new Uint8Array(width * height);

  function mean(column: number, row: number): number {
    const { width: edge, data: fine } = coverage;
    const [right, bottom] = [Math.min(edge, (column + 1) * COARSE), Math.min(coverage.height, (row + 1) * COARSE)];
    let sum = 0;
    let count = 0;
    for (let y = row * COARSE; y < bottom; y += 1) {
      for (let at = y * edge + column * COARSE; at < y * edge + right; at += 1) {
        sum += fine[at] ?? 0;
        count += 1;
      }
    }
    return Math.round(sum / count);
  }

  return {
    width,
    height,
    data,
    update({ left, top, right, bottom }) {
      const [lastColumn, lastRow] = [Math.min(width, Math.ceil(right / COARSE)), Math.min(height, Math.ceil(bottom / COARSE))];
      for (let row = Math.floor(top / COARSE); row < lastRow; row += 1) {
        for (let column = Math.floor(left / COARSE); column < lastColumn; column += 1) data[row * width + column] = mean(column, row);
      }
    },
    paintedShare() {
      let sum = 0;
      for (const value of data) sum += value;
      return data.length === 0 ? 0 : sum / data.length / 255;
    },
  };
}
