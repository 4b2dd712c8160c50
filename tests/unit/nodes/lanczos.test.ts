// Lanczos compared with the sums that define it, and with itself where the same sums are added in another order.
import fc from "fast-check";
import { expect, it } from "vitest";
import { channelOf } from "@/lib/service/images/geometry";
import { frameOfBytes, type Raster, type Size } from "@/lib/service/images/raster";
import { scaleRaster } from "@/lib/service/images/scale";

const quiet = () => undefined;
const bytesOf = (raster: Raster) => Buffer.from(raster.frames[0]?.bytes() ?? []);
const scaled = (raster: Raster, to: Size) => scaleRaster(raster, to, "lanczos", quiet);

function pictureOf(width: number, height: number, seed: number): Raster {
  const bytes = new Uint8Array(width * height * 3);
  let state = seed;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return { width, height, channels: 3, frames: [frameOfBytes(bytes)] };
}

function weight(x: number): number {
  const sinc = (at: number) => (at === 0 ? 1 : Math.sin(Math.PI * at) / (Math.PI * at));
  return Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

/** Resizes a line of bytes to another length. */
function line(bytes: readonly number[], to: number): number[] {
  const scale = bytes.length / to;
  const stretch = Math.max(1, scale);
  return Array.from({ length: to }, (_, place) => {
    const weights = bytes.map((_byte, i) => weight((i + 0.5 - (place + 0.5) * scale) / stretch));
    const total = weights.reduce((sum, one) => sum + one, 0);
    const sum = bytes.reduce((all, byte, i) => all + (byte * (weights[i] ?? 0)) / total, 0);
    return Math.min(255, Math.max(0, Math.round(sum)));
  });
}

it("is the weighted mean along each row, then down each column, to the last byte but one", () => {
  const side = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(side, side, side, side, fc.nat(), (width, height, toWidth, toHeight, seed) => {
      const picture = pictureOf(width, height, seed);
      const red = [...bytesOf(channelOf(picture, 0, quiet))];
      const rows = Array.from({ length: height }, (_, y) => line(red.slice(y * width, (y + 1) * width), toWidth));
      const columns = Array.from({ length: toWidth }, (_, x) =>
        line(
          rows.map((row) => row[x] ?? NaN),
          toHeight,
        ),
      );
      const ours = bytesOf(channelOf(scaled(picture, { width: toWidth, height: toHeight }), 0, quiet));
      const far = [...ours].map((byte, i) => Math.abs(byte - (columns[i % toWidth]?.[Math.floor(i / toWidth)] ?? NaN)));
      expect(Math.max(...far)).toBeLessThanOrEqual(1);
    }),
  );
});

it.each([
  ["much smaller", { width: 1030, height: 700 }, { width: 97, height: 41 }],
  ["half as large", { width: 1024, height: 1024 }, { width: 512, height: 512 }],
  ["larger", { width: 411, height: 300 }, { width: 700, height: 901 }],
  ["so much lower that the kernel holds more than it keeps", { width: 3000, height: 2000 }, { width: 3000, height: 2 }],
  ["only lower", { width: 1500, height: 900 }, { width: 1500, height: 7 }],
])("makes of each channel of an image what it makes of a mask of the same bytes: %s", (_title, from, to) => {
  const picture = pictureOf(from.width, from.height, 7);
  const image = scaled(picture, to);
  for (const channel of [0, 1, 2] as const)
    expect(bytesOf(channelOf(image, channel, quiet)).equals(bytesOf(scaled(channelOf(picture, channel, quiet), to)))).toBe(true);
});
