// The squares in which a mask's history is kept.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emptyCoverage, packTile, tilesIn, unpackTile } from "@/components/mask/drawing/coverage";
import { wholeOf } from "@/components/mask/drawing/geometry";

describe("a square of the history", () => {
  it("comes back as it was, whatever is in it", () => {
    const runs = fc.array(fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 9000 }), fc.boolean()), { maxLength: 20 });
    fc.assert(
      fc.property(runs, fc.constantFrom(256, 300, 7), (parts, width) => {
        const coverage = emptyCoverage({ width, height: 290 });
        const bytes = parts.flatMap(([value, count, isNoise]) =>
          Array.from({ length: count }, (_, index) => (isNoise ? (value * (index + 7) * 31) & 255 : value)),
        );
        coverage.data.set(bytes.slice(0, coverage.data.length));
        const before = coverage.data.slice();
        const packed = tilesIn(coverage, wholeOf(coverage)).map((index) => [index, packTile(coverage, index)] as const);
        coverage.data.fill(9);
        for (const [index, tile] of packed) unpackTile(coverage, index, tile);
        expect(Buffer.compare(coverage.data, before)).toBe(0);
      }),
      { numRuns: 40 },
    );
  });

  it("of one value takes four bytes, and noise no more than itself and three", () => {
    const coverage = emptyCoverage({ width: 256, height: 256 });
    expect(packTile(coverage, 0).length).toBe(4);
    coverage.data.forEach((_, index) => (coverage.data[index] = (index * 2654435761) >>> 24));
    expect(packTile(coverage, 0).length).toBeLessThanOrEqual(65_536 + 3);
  });
});
