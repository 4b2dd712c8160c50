// Conversion of single numbers: bytes, samples, rounding.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { colourMask, extractChannelMask, maskToImage, solidImage, solidMask } from "@/lib/service/images/geometry";
import { addNoise, generateNormalNoise } from "@/lib/service/images/normal-noise";
import { createByteFrame, createPixelFrame, createSampleFrame, type Raster, roundHalfEven, type Size } from "@/lib/service/images/raster";
import { scaleRaster } from "@/lib/service/images/scale";
import { type NodeContext } from "@/lib/service/nodes/definition";
import { createInputs, type ReceivedInput } from "@/lib/service/nodes/failure-report";
import { nodeClasses } from "@/lib/service/nodes/library";

const quiet = () => undefined;
const samples = (raster: Raster) => [...(raster.frames[0]?.samples() ?? [])];

describe("numbers", () => {
  it("round-trips a byte through a sample", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    expect([...createSampleFrame(createByteFrame(all).samples()).bytes()]).toEqual([...all]);
  });

  it("truncates and clamps a saved byte", () => {
    const oddValues = Float32Array.of(-1, 0.999, 1.5, 0.5, Number.NaN, Infinity, -Infinity, 1e9, 2 ** 31, 1);
    expect([...createSampleFrame(oddValues).bytes()]).toEqual([0, 254, 255, 127, 0, 255, 0, 255, 255, 255]);
  });

  it("saves the same byte in one pass as step by step", () => {
    const oneByOne = (sample: number) => Math.max(0, Math.min(255, Math.trunc(Math.fround(255 * sample))));
    fc.assert(
      fc.property(
        fc.float32Array({ min: -2, max: 2, noNaN: true, minLength: 1, maxLength: 100 }),
        fc.integer({ min: 1, max: 700 }),
        (few, times) => {
          const longValues = Float32Array.from({ length: few.length * times }, (_, i) => few[i % few.length] ?? 0);
          expect(Buffer.from(createSampleFrame(longValues).bytes()).equals(Uint8Array.from(longValues, oneByOne))).toBe(true);
        },
      ),
    );
  });

  it("changes samples alike as bytes, one pixel or numbers", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const change = (sample: number) => 1 - sample * 1.5;
    for (const frame of [createByteFrame(all), createPixelFrame(Float32Array.of(0.3, 0, 1.1), 7)]) {
      const byNumbers = createSampleFrame(frame.samples()).map(change, quiet);
      expect(frame.map(change, quiet).samples()).toEqual(byNumbers.samples());
      expect([...frame.map(change, quiet).bytes()]).toEqual([...byNumbers.bytes()]);
    }
  });

  it("halves go to the even neighbour", () => {
    expect([0.5, 1.5, 2.5, -0.5, 2.4].map(roundHalfEven)).toEqual([0, 2, 2, 0, 2]);
  });

  it("is 1 on exactly that colour in a colour mask", () => {
    expect(samples(colourMask(solidImage({ width: 1, height: 1 }, 0x336699, 1), 0x336699, quiet))).toEqual([1]);
    expect(samples(colourMask(solidImage({ width: 1, height: 1 }, 0x336698, 1), 0x336699, quiet))).toEqual([0]);
  });

  it("is grey when a mask is shown as an image", () => {
    expect(samples(maskToImage(solidMask({ width: 1, height: 1 }, 0.5), quiet))).toEqual([0.5, 0.5, 0.5]);
  });
});

const getBytes = (raster: Raster) => Buffer.from(raster.frames[0]?.bytes() ?? []);
const scaled = (raster: Raster, to: Size) => scaleRaster(raster, to, "lanczos", quiet);

function getPicture(width: number, height: number, seed: number): Raster {
  const bytes = new Uint8Array(width * height * 3);
  let state = seed;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = state >>> 16;
  }
  return { width, height, channels: 3, frames: [createByteFrame(bytes)] };
}

function weight(x: number): number {
  const sinc = (at: number) => (at === 0 ? 1 : Math.sin(Math.PI * at) / (Math.PI * at));
  return Math.abs(x) < 3 ? sinc(x) * sinc(x / 3) : 0;
}

/** Resizes a line of bytes to another length. */
function line(bytes: readonly number[], to: number): number[] {
  const scale = bytes.length / to;
  const stretch = Math.max(1, scale);
  return Array.from({ length: to }, (_, index) => {
    const weights = bytes.map((_byte, i) => weight((i + 0.5 - (index + 0.5) * scale) / stretch));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    const sum = bytes.reduce((all, byte, i) => all + (byte * (weights[i] ?? 0)) / total, 0);
    return Math.min(255, Math.max(0, Math.round(sum)));
  });
}

it("is the weighted mean by row, then by column, within one byte", () => {
  const side = fc.integer({ min: 1, max: 40 });
  fc.assert(
    fc.property(side, side, side, side, fc.nat(), (width, height, toWidth, toHeight, seed) => {
      const picture = getPicture(width, height, seed);
      const red = [...getBytes(extractChannelMask(picture, 0, quiet))];
      const rows = Array.from({ length: height }, (_, y) => line(red.slice(y * width, (y + 1) * width), toWidth));
      const columns = Array.from({ length: toWidth }, (_, x) =>
        line(
          rows.map((row) => row[x] ?? NaN),
          toHeight,
        ),
      );
      const actualBytes = getBytes(extractChannelMask(scaled(picture, { width: toWidth, height: toHeight }), 0, quiet));
      const far = [...actualBytes].map((byte, i) => Math.abs(byte - (columns[i % toWidth]?.[Math.floor(i / toWidth)] ?? NaN)));
      expect(Math.max(...far)).toBeLessThanOrEqual(1);
    }),
  );
});

it.each([
  ["much smaller", { width: 1030, height: 700 }, { width: 97, height: 41 }],
  ["half as large", { width: 1024, height: 1024 }, { width: 512, height: 512 }],
  ["larger", { width: 411, height: 300 }, { width: 700, height: 901 }],
  ["so much lower that the kernel holds more than it keeps", { width: 300, height: 2000 }, { width: 300, height: 2 }],
  ["only lower", { width: 300, height: 900 }, { width: 300, height: 7 }],
])("treats each image channel like a mask of the same bytes: %s", (_title, from, to) => {
  const picture = getPicture(from.width, from.height, 7);
  const image = scaled(picture, to);
  for (const channel of [0, 1, 2] as const)
    expect(
      getBytes(extractChannelMask(image, channel, quiet)).equals(getBytes(scaled(extractChannelMask(picture, channel, quiet), to))),
    ).toBe(true);
});

const roundAll = (numbers: Float32Array) => [...numbers].map((value) => Math.round(value * 10_000) / 10_000);

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
  ])("matches the published noise of seed %i", (seed, published) => {
    expect(roundAll(generateNormalNoise(seed, 16, quiet))).toEqual(published);
  });

  it("is the published one where it has fewer numbers than a block", () => {
    expect(roundAll(generateNormalNoise(0, 4, quiet))).toEqual([1.541, -0.2934, -2.1788, 0.5684]);
  });

  it("keeps its beginning for any count and redraws the last block", () => {
    const whole = roundAll(generateNormalNoise(7, 32, quiet));
    const noiseValues = roundAll(generateNormalNoise(7, 35, quiet));
    expect(noiseValues.slice(0, 19)).toEqual([...whole.slice(0, 16), ...whole.slice(16, 19)]);
    expect(noiseValues.slice(19)).not.toEqual(whole.slice(19));
  });

  it("has a mean of 0 and a deviation of 1", () => {
    const numbers = generateNormalNoise(5, 300_000, quiet);
    const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
    const variance = numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / numbers.length;
    expect(Math.abs(mean)).toBeLessThan(0.01);
    expect(Math.abs(variance - 1)).toBeLessThan(0.01);
  });
});

describe("adding noise", () => {
  const grey = solidImage({ width: 20, height: 10 }, 0x808080, 2);
  const bytes = (seed: number | bigint, strength = 0.5) => addNoise(grey, seed, strength, quiet).frames.map((frame) => [...frame.bytes()]);

  it("depends on every digit of a twenty-digit seed", () => {
    const seed = 2n ** 64n - 1n;
    expect(bytes(seed)).toEqual(bytes(seed));
    expect(bytes(seed)).not.toEqual(bytes(seed - 1n));
  });

  it("adds different noise to each picture of a batch and none at strength 0", () => {
    const [first, second] = bytes(1);
    expect(first).not.toEqual(second);
    expect(bytes(1, 0)).toEqual(grey.frames.map((frame) => [...frame.bytes()]));
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

const toRaster = ({ frames, ...rest }: z.infer<typeof rasterSchema>): Raster => ({
  ...rest,
  frames: frames.map((frame) => createByteFrame(Buffer.from(frame, "base64"))),
});

const throwUnused = () => {
  throw new Error("These nodes need nothing of the job but room and ticks.");
};
const context: NodeContext = {
  claim: () => undefined,
  tick: () => undefined,
  wait: throwUnused,
  imagePath: throwUnused,
  readPixels: throwUnused,
  pngText: {},
  nextNumber: throwUnused,
  save: throwUnused,
  now: throwUnused,
};

function furthest(actual: Raster, reference: z.infer<typeof rasterSchema>): number {
  const distances = reference.frames.flatMap((frame, index) => {
    const bytes = actual.frames[index]?.bytes() ?? new Uint8Array();
    return [...Buffer.from(frame, "base64")].map((byte, i) => Math.abs(byte - (bytes[i] ?? Number.NaN)));
  });
  return Math.max(...distances);
}

describe("a node matches its reference on a small image", () => {
  const titledCases = cases.map((each, index) => ({ ...each, title: `${each.class} ${index}` }));
  it.each(titledCases)("$title", async ({ class: name, inputs, outputs, exact }) => {
    const definition = nodeClasses.get(name);
    if (!definition) throw new Error(`There is no class ${name}.`);
    const nodeInputs = new Map<string, ReceivedInput>(
      Object.entries(inputs).map(([input, value]) => [input, { value: typeof value === "object" ? toRaster(value) : value, type: "*" }]),
    );
    const { values } = await definition.run(createInputs(definition, nodeInputs), context);
    expect(values).toHaveLength(outputs.length);
    for (const [index, reference] of outputs.entries()) {
      const actual = values[index];
      if (typeof actual !== "object") throw new Error("It answered no raster.");
      const { frames, ...size } = actual;
      expect({ ...size, count: frames.length }).toEqual({
        width: reference.width,
        height: reference.height,
        channels: reference.channels,
        count: reference.frames.length,
      });
      expect(furthest(actual, reference)).toBeLessThanOrEqual(exact ? 0 : 1);
    }
  });
});
