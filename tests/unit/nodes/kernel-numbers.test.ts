// What becomes of single numbers on their way through a picture: bytes, samples, roundings.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { colourMask, maskToImage, solidImage, solidMask } from "@/lib/service/images/geometry";
import { frameOfBytes, frameOfPixel, frameOfSamples, type Raster, roundHalfEven } from "@/lib/service/images/raster";

const quiet = () => undefined;
const samples = (raster: Raster) => [...(raster.frames[0]?.samples() ?? [])];

describe("numbers", () => {
  it("a byte survives the way to a sample and back", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect([...frameOfSamples(frameOfBytes(all).samples()).bytes()]).toEqual([...all]);
  });

  it("a saved byte is truncated and clamped", () => {
    const odd = Float32Array.of(-1, 0.999, 1.5, 0.5, Number.NaN, Infinity, -Infinity, 1e9, 2 ** 31, 1);
    expect([...frameOfSamples(odd).bytes()]).toEqual([0, 254, 255, 127, 0, 255, 0, 255, 255, 255]);
  });

  it("a saved byte is that of the same steps one by one, in pictures of any length", () => {
    const oneByOne = (sample: number) => Math.max(0, Math.min(255, Math.trunc(Math.fround(255 * sample))));
    fc.assert(
      fc.property(
        fc.float32Array({ min: -2, max: 2, noNaN: true, minLength: 1, maxLength: 100 }),
        fc.integer({ min: 1, max: 700 }),
        (few, times) => {
          const many = Float32Array.from({ length: few.length * times }, (_, i) => few[i % few.length] ?? 0);
          expect(Buffer.from(frameOfSamples(many).bytes()).equals(Uint8Array.from(many, oneByOne))).toBe(true);
        },
      ),
    );
  });

  it("a change of every sample is the same whether a picture came as bytes, as one pixel or as numbers", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const change = (sample: number) => 1 - sample * 1.5;
    for (const frame of [frameOfBytes(all), frameOfPixel(Float32Array.of(0.3, 0, 1.1), 7)]) {
      const byNumbers = frameOfSamples(frame.samples()).map(change, quiet);
      expect(frame.map(change, quiet).samples()).toEqual(byNumbers.samples());
      expect([...frame.map(change, quiet).bytes()]).toEqual([...byNumbers.bytes()]);
    }
  });

  it("halves go to the even neighbour", () => {
    expect([0.5, 1.5, 2.5, -0.5, 2.4].map(roundHalfEven)).toEqual([0, 2, 2, 0, 2]);
  });

  it("a colour mask is 1 on exactly that colour", () => {
    expect(samples(colourMask(solidImage({ width: 1, height: 1 }, 0x336699, 1), 0x336699, quiet))).toEqual([1]);
    expect(samples(colourMask(solidImage({ width: 1, height: 1 }, 0x336698, 1), 0x336699, quiet))).toEqual([0]);
  });

  it("a mask shown as an image is grey", () => {
    expect(samples(maskToImage(solidMask({ width: 1, height: 1 }, 0.5), quiet))).toEqual([0.5, 0.5, 0.5]);
  });
});
