// The noise of a seed is the same as the family's, number for number.
import { describe, expect, it } from "vitest";
import { solidImage } from "@/lib/service/images/geometry";
import { addNoise, normalNoise } from "@/lib/service/images/normal-noise";

const quiet = () => undefined;
const rounded = (numbers: Float32Array) => [...numbers].map((value) => Math.round(value * 10_000) / 10_000);

describe("the noise of a seed", () => {
  // The results of torch.randn after torch.manual_seed(0) and (42), as its documentation and many pages print them.
  it.each([
    [
      0,
      [-1.1258, -1.1524, -0.2506, -0.4339, 0.8487, 0.692, -0.316, -2.1152, 0.3223, -1.2633, 0.35, 0.3081, 0.1198, 1.2377, 1.1168, -0.2473],
    ],
    [
      42,
      [
        1.9269, 1.4873, 0.9007, -2.1055, 0.6784, -1.2345, -0.0431, -1.6047, -0.7521, 1.6487, -0.3925, -1.4036, -0.7279, -0.5594, -0.7688,
        0.7624,
      ],
    ],
  ])("is the published one of seed %i", (seed, published) => {
    expect(rounded(normalNoise(seed, 16, quiet))).toEqual(published);
  });

  it("is the published one where it has fewer numbers than a block", () => {
    expect(rounded(normalNoise(0, 4, quiet))).toEqual([1.541, -0.2934, -2.1788, 0.5684]);
  });

  it("keeps its beginning where the count is no multiple of a block, and draws the last block anew", () => {
    const whole = rounded(normalNoise(7, 32, quiet));
    const odd = rounded(normalNoise(7, 35, quiet));
    expect(odd.slice(0, 19)).toEqual([...whole.slice(0, 16), ...whole.slice(16, 19)]);
    expect(odd.slice(19)).not.toEqual(whole.slice(19));
  });

  it("has a mean of 0 and a deviation of 1", () => {
    const numbers = normalNoise(5, 300_000, quiet);
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length;
    expect(Math.abs(mean)).toBeLessThan(0.01);
    expect(Math.abs(variance - 1)).toBeLessThan(0.01);
  });
});

describe("adding noise", () => {
  const grey = solidImage({ width: 20, height: 10 }, 0x808080, 2);
  const bytes = (seed: number | bigint, strength = 0.5) => addNoise(grey, seed, strength, quiet).frames.map((frame) => [...frame.bytes()]);

  it("gives the same picture for the same seed and another for another, to the last of twenty digits", () => {
    const seed = 2n ** 64n - 1n;
    expect(bytes(seed)).toEqual(bytes(seed));
    expect(bytes(seed)).not.toEqual(bytes(seed - 1n));
  });

  it("gives each picture of a batch its own noise, and changes nothing at strength 0", () => {
    const [one, other] = bytes(1);
    expect(one).not.toEqual(other);
    expect(bytes(1, 0)).toEqual(grey.frames.map((frame) => [...frame.bytes()]));
  });
});
