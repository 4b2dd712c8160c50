// Bytes, samples, rounding, scaling, noise and the reference results of nodes.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createColourMask, createSolidImage, extractChannelMask } from "@/lib/service/images/geometry";
import { addNoise, generateNormalNoise } from "@/lib/service/images/normal-noise";
import { createByteFrame, createSampleFrame, type Raster, roundHalfEven, type Size } from "@/lib/service/images/raster";
import { scaleRaster } from "@/lib/service/images/scale";
import { type NodeContext } from "@/lib/service/nodes/definition";
import { createInputs, type ReceivedInput } from "@/lib/service/nodes/failure-report";
import { nodeClasses } from "@/lib/service/nodes/library";

const noop = () => undefined;
const getSamples = (raster: Raster) => [...(raster.frames[0]?.samples() ?? [])];

describe("numbers", () => {
  it("round-trips a byte through a sample", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect([...createSampleFrame(createByteFrame(all).samples()).bytes()]).toEqual([...all]);
  });

  it("truncates and clamps a saved byte", () => {
    const specialValues = Float32Array.of(-1, 0.999, 1.5, 0.5, Number.NaN, Infinity, -Infinity, 1e9, 2 ** 31, 1);
    expect([...createSampleFrame(specialValues).bytes()]).toEqual([0, 254, 255, 127, 0, 255, 0, 255, 255, 255]);
  });

  it("converts samples to the same bytes in bulk as one by one", () => {
    const toByte = (sample: number) => Math.max(0, Math.min(255, Math.trunc(Math.fround(255 * sample))));
    fc.assert(
      fc.property(
        fc.float32Array({ min: -2, max: 2, noNaN: true, minLength: 1, maxLength: 100 }),
        fc.integer({ min: 1, max: 700 }),
        (sampleValues, repeatCount) => {
          const longValues = Float32Array.from(
            { length: sampleValues.length * repeatCount },
            (_, i) => sampleValues[i % sampleValues.length] ?? 0,
          );
          expect(Buffer.from(createSampleFrame(longValues).bytes()).equals(Uint8Array.from(longValues, toByte))).toBe(true);
        },
      ),
    );
  });

  it("rounds halves to the even number", () => {
    expect([0.5, 1.5, 2.5, -0.5, 2.4].map(roundHalfEven)).toEqual([0, 2, 2, 0, 2]);
  });

  it("sets a color mask to 1 only for the exact color", () => {
    expect(getSamples(createColourMask(createSolidImage({ width: 1, height: 1 }, 0x336699, 1), 0x336699, noop))).toEqual([1]);
    expect(getSamples(createColourMask(createSolidImage({ width: 1, height: 1 }, 0x336698, 1), 0x336699, noop))).toEqual([0]);
  });
});

const getBytes = (raster: Raster) => Buffer.from(raster.frames[0]?.bytes() ?? []);
const scaleWithLanczos = (raster: Raster, to: Size) => scaleRaster(raster, to, "lanczos", noop);

function createNoiseImage(width: number, height: number, seed: number): Raster {
  const bytes = new Uint8Array(width * height * 3);
  let state = seed;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return { width, height, channels: 3, frames: [createByteFrame(bytes)] };
}

it.each([
  ["half as large", { width: 1024, height: 1024 }, { width: 512, height: 512 }],
  ["larger", { width: 211, height: 100 }, { width: 300, height: 301 }],
  ["a height much smaller than the kernel", { width: 300, height: 2000 }, { width: 300, height: 2 }],
])("treats each image channel like a mask of the same bytes: %s", (_title, from, to) => {
  const picture = createNoiseImage(from.width, from.height, 7);
  const image = scaleWithLanczos(picture, to);
  for (const channel of [0, 1, 2] as const)
    expect(
      getBytes(extractChannelMask(image, channel, noop)).equals(getBytes(scaleWithLanczos(extractChannelMask(picture, channel, noop), to))),
    ).toBe(true);
});

const roundAll = (numbers: Float32Array) => [...numbers].map((value) => Math.round(value * 10_000) / 10_000);

describe("noise from a seed", () => {
  // Results of torch.randn after torch.manual_seed(0) and torch.manual_seed(42), as published in its documentation.
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
  ])("matches the published noise of seed %i", (seed, published) => {
    expect(roundAll(generateNormalNoise(seed, 16, noop))).toEqual(published);
  });

  it("matches the published noise for less than one block", () => {
    expect(roundAll(generateNormalNoise(0, 4, noop))).toEqual([1.541, -0.2934, -2.1788, 0.5684]);
  });

  it("keeps the first numbers for any count and redraws the last block", () => {
    const whole = roundAll(generateNormalNoise(7, 32, noop));
    const noiseValues = roundAll(generateNormalNoise(7, 35, noop));
    expect(noiseValues.slice(0, 19)).toEqual([...whole.slice(0, 16), ...whole.slice(16, 19)]);
    expect(noiseValues.slice(19)).not.toEqual(whole.slice(19));
  });
});

describe("adding noise", () => {
  const grey = createSolidImage({ width: 20, height: 10 }, 0x808080, 2);
  const getNoisyBytes = (seed: number | bigint, strength = 0.5) =>
    addNoise(grey, seed, strength, noop).frames.map((frame) => [...frame.bytes()]);

  it("depends on every digit of a twenty-digit seed", () => {
    const seed = 2n ** 64n - 1n;
    expect(getNoisyBytes(seed)).toEqual(getNoisyBytes(seed));
    expect(getNoisyBytes(seed)).not.toEqual(getNoisyBytes(seed - 1n));
  });

  it("adds different noise to each image of a batch and none at strength 0", () => {
    const [first, second] = getNoisyBytes(1);
    expect(first).not.toEqual(second);
    expect(getNoisyBytes(1, 0)).toEqual(grey.frames.map((frame) => [...frame.bytes()]));
  });
});

const rasterSchema = z.object({
  width: z.number(),
  height: z.number(),
  channels: z.union([z.literal(1), z.literal(3)]),
  frames: z.array(z.string()),
});
const cases = z
  .array(
    z.object({
      class: z.string(),
      exact: z.boolean(),
      inputs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), rasterSchema])),
      outputs: z.array(rasterSchema),
    }),
  )
  .parse(JSON.parse(readFileSync("tests/fixtures/reference/nodes.json", "utf8")));

const toRaster = ({ frames, ...size }: z.infer<typeof rasterSchema>): Raster => ({
  ...size,
  frames: frames.map((frame) => createByteFrame(Buffer.from(frame, "base64"))),
});

const throwUnused = () => {
  throw new Error("The tested nodes must only call claim and tick.");
};
const context: NodeContext = {
  claimPixels: () => undefined,
  tick: () => undefined,
  wait: throwUnused,
  getImagePath: throwUnused,
  readPixels: throwUnused,
  pngText: {},
  getNextNumber: throwUnused,
  saveFile: throwUnused,
  now: throwUnused,
};

function getMaxDifference(actual: Raster, reference: z.infer<typeof rasterSchema>): number {
  const distances = reference.frames.flatMap((frame, index) => {
    const bytes = actual.frames[index]?.bytes() ?? new Uint8Array();
    return [...Buffer.from(frame, "base64")].map((byte, i) => Math.abs(byte - (bytes[i] ?? Number.NaN)));
  });
  return Math.max(...distances);
}

describe("node references", () => {
  const titledCases = cases.map((testCase, index) => ({ ...testCase, title: `${testCase.class} ${index}` }));
  it.each(titledCases)("matches the reference of $title", async ({ class: name, inputs, outputs, exact }) => {
    const definition = nodeClasses.get(name);
    if (!definition) throw new Error(`Unknown class ${name}.`);
    const nodeInputs = new Map<string, ReceivedInput>(
      Object.entries(inputs).map(([input, value]) => [input, { value: typeof value === "object" ? toRaster(value) : value, type: "*" }]),
    );
    const { values } = await definition.run(createInputs(definition, nodeInputs), context);
    expect(values).toHaveLength(outputs.length);
    for (const [index, reference] of outputs.entries()) {
      const actual = values[index];
      if (typeof actual !== "object") throw new Error("The node returned no raster.");
      const { frames, ...size } = actual;
      expect({ ...size, count: frames.length }).toEqual({
        width: reference.width,
        height: reference.height,
        channels: reference.channels,
        count: reference.frames.length,
      });
      expect(getMaxDifference(actual, reference)).toBeLessThanOrEqual(exact ? 0 : 1);
    }
  });
});
