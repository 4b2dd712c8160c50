// Properties of the kernels for images of every size.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blendModes, blendRasters, compositeRasters } from "@/lib/service/images/blend";
import {
  colourMask,
  cropRaster,
  extractChannelMask,
  flipRaster,
  invertRaster,
  maskToImage,
  outpaintMask,
  padRaster,
  rotateRaster,
  solidImage,
  solidMask,
} from "@/lib/service/images/geometry";
import { createByteFrame, createSampleFrame, type Raster, type Tick } from "@/lib/service/images/raster";
import { cropToShape, fitRaster, scaleMethods, scaleRaster } from "@/lib/service/images/scale";
import { blurRaster, sharpenRaster } from "@/lib/service/nodes/definitions/combine";

const quiet = () => undefined;
const side = fc.integer({ min: 1, max: 12 });
const method = fc.constantFrom(...scaleMethods);

/** An image with samples that are whole bytes, as in loaded images. */
const image = fc
  .tuple(side, side)
  .chain(([width, height]) =>
    fc
      .uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 })
      .map((bytes): Raster => ({ width, height, channels: 3, frames: [createByteFrame(bytes)] })),
  );

const samples = (raster: Raster) => [...(raster.frames[0]?.samples() ?? [])];
const getBytes = (raster: Raster) => [...(raster.frames[0]?.bytes() ?? [])];
const createSize = ({ width, height, channels }: Raster) => ({ width, height, channels });

function furthest(a: Raster, b: Raster): number {
  const otherSamples = samples(b);
  return Math.max(0, ...samples(a).map((value, i) => Math.abs(value - (otherSamples[i] ?? Number.NaN))));
}

function expectSame(a: Raster, b: Raster): void {
  expect(createSize(a)).toEqual(createSize(b));
  expect(samples(a)).toEqual(samples(b));
}

describe("a NaN sample", () => {
  const sizes = Array.from({ length: 12 }, (_, at) => at + 1);
  const pairs = sizes.flatMap((from) => sizes.filter((to) => to !== from).map((to) => ({ from, to })));

  it.each(["area", "nearest-exact"] as const)("spreads %s only to dependent pixels", (by) => {
    for (const { from, to } of pairs)
      for (const isRow of [true, false]) {
        const size = (length: number) => (isRow ? { width: length, height: 1 } : { width: 1, height: length });
        const scaled = (data: Float32Array) =>
          samples(scaleRaster({ ...size(from), channels: 1, frames: [createSampleFrame(data)] }, size(to), by, quiet));
        for (let spoilt = 0; spoilt < from; spoilt += 1) {
          const samples = scaled(Float32Array.from({ length: from }, (_, at) => (at === spoilt ? 1 : 0)));
          const values = scaled(Float32Array.from({ length: from }, (_, at) => (at === spoilt ? Number.NaN : 0.5)));
          expect(values.map(Number.isNaN), `${spoilt} of ${from} to ${to}`).toEqual(samples.map((share) => share !== 0));
        }
      }
  });
});

describe("scaling", () => {
  it("keeps an image of one colour that colour, by every method", () => {
    fc.assert(
      fc.property(side, side, side, side, fc.integer({ min: 0, max: 0xffffff }), method, (w, h, width, height, colour, by) => {
        const scaled = scaleRaster(solidImage({ width: w, height: h }, colour, 1), { width, height }, by, quiet);
        expect(furthest(scaled, solidImage({ width, height }, colour, 1))).toBeLessThan(1.5 / 255);
      }),
    );
  });

  it("changes no byte at the same size by any method", () => {
    fc.assert(
      fc.property(image, method, (raster, by) => {
        expect(getBytes(scaleRaster(raster, raster, by, quiet))).toEqual(getBytes(raster));
      }),
    );
  });

  it("gives every frame of a batch the wanted size", () => {
    fc.assert(
      fc.property(image, side, side, method, (raster, width, height, by) => {
        const scaled = scaleRaster({ ...raster, frames: [...raster.frames, ...raster.frames] }, { width, height }, by, quiet);
        expect(scaled.frames.map((frame) => frame.length)).toEqual([width * height * 3, width * height * 3]);
      }),
    );
  });

  it("averages by area to one pixel", () => {
    fc.assert(
      fc.property(image, (raster) => {
        const red = samples(raster).filter((_, i) => i % 3 === 0);
        const mean = red.reduce((sum, value) => sum + value, 0) / red.length;
        expect(samples(scaleRaster(raster, { width: 1, height: 1 }, "area", quiet))[0]).toBeCloseTo(mean, 4);
      }),
    );
  });

  it("cuts the middle when the shape differs", () => {
    expect(cropToShape(solidImage({ width: 20, height: 10 }, 0, 1), { width: 5, height: 5 }, quiet)).toMatchObject({
      width: 10,
      height: 10,
    });
    expect(cropToShape(solidImage({ width: 10, height: 20 }, 0, 1), { width: 5, height: 5 }, quiet)).toMatchObject({
      width: 10,
      height: 10,
    });
  });
});

describe("blurring and sharpening", () => {
  const bell = fc.record({ radius: fc.integer({ min: 1, max: 31 }), sigma: fc.double({ min: 0.1, max: 10, noNaN: true }) });

  it("keep a plain image plain, even beyond its size", () => {
    fc.assert(
      fc.property(side, side, bell, (width, height, shape) => {
        const plain = solidImage({ width, height }, 0x336699, 1);
        expect(furthest(blurRaster(plain, shape, quiet), plain)).toBeLessThan(1e-5);
        expect(furthest(sharpenRaster(plain, shape, 1, quiet), plain)).toBeLessThan(1e-4);
      }),
    );
  });

  it("stay between the darkest and lightest sample, or 0 and 1", () => {
    fc.assert(
      fc.property(image, bell, (raster, shape) => {
        const blurred = samples(blurRaster(raster, shape, quiet));
        expect(Math.max(...blurred)).toBeLessThanOrEqual(Math.max(...samples(raster)) + 1e-6);
        expect(Math.min(...blurred)).toBeGreaterThanOrEqual(Math.min(...samples(raster)) - 1e-6);
        expect(samples(sharpenRaster(raster, shape, 5, quiet)).every((value) => value >= 0 && value <= 1)).toBe(true);
      }),
    );
  });

  it("change nothing when sharpening by 0", () => {
    fc.assert(
      fc.property(image, bell, (raster, shape) => {
        expect(furthest(sharpenRaster(raster, shape, 0, quiet), raster)).toBeLessThan(1e-7);
      }),
    );
  });
});

describe("blending", () => {
  it.each(["multiply", "screen"] as const)("by %s is commutative at full strength", (mode) => {
    fc.assert(
      fc.property(image, (raster) => {
        const flipped = flipRaster(raster, "vertically", quiet);
        expect(furthest(blendRasters(raster, flipped, mode, 1, quiet), blendRasters(flipped, raster, mode, 1, quiet))).toBeLessThan(1e-6);
      }),
    );
  });

  it.each(blendModes)("by %s with a factor of 0 returns the first image", (mode) => {
    fc.assert(
      fc.property(image, (raster) => {
        expect(samples(blendRasters(raster, invertRaster(raster, quiet), mode, 0, quiet))).toEqual(samples(raster));
      }),
    );
  });

  it("lays one image under every frame of a batch", () => {
    const raster = solidImage({ width: 2, height: 2 }, 0, 1);
    const three = solidImage({ width: 2, height: 2 }, 0xffffff, 3);
    expect(blendRasters(raster, three, "normal", 0.5, quiet).frames).toHaveLength(3);
  });
});

describe("moves", () => {
  it("restores an image after four rotations, two flips or two inversions", () => {
    fc.assert(
      fc.property(image, (raster) => {
        expectSame(rotateRaster(rotateRaster(raster, 1, quiet), 3, quiet), raster);
        expectSame(rotateRaster(rotateRaster(raster, 2, quiet), 2, quiet), raster);
        expectSame(flipRaster(flipRaster(raster, "horizontally", quiet), "horizontally", quiet), raster);
        expect(
          getBytes(invertRaster(invertRaster(raster, quiet), quiet)).every((byte, i) => Math.abs(byte - (getBytes(raster)[i] ?? 0)) <= 1),
        ).toBe(true);
      }),
    );
  });

  it("returns the image when padding is cropped, with a mask of 1 around it", () => {
    fc.assert(
      fc.property(image, side, side, (raster, left, top) => {
        const border = { left, top, right: 1, bottom: 2, feathering: 3 };
        const padded = padRaster(raster, border, quiet);
        expectSame(cropRaster(padded, { x: left, y: top, width: raster.width, height: raster.height }, quiet), raster);
        expect(outpaintMask(raster, border, quiet)).toMatchObject({ width: padded.width, height: padded.height });
        expect(samples(outpaintMask(raster, border, quiet))[0]).toBe(1);
      }),
    );
  });
});

describe("a long kernel", () => {
  const raster = solidImage({ width: 3, height: 40 }, 0x336699, 2);
  const mask = solidMask({ width: 5, height: 5 }, 0.5, 2);
  const bell = { radius: 2, sigma: 1 };
  const border = { left: 1, top: 1, right: 1, bottom: 1, feathering: 1 };
  const kernels: Record<string, (tick: Tick) => unknown> = {
    invert: (tick) => invertRaster(raster, tick),
    channel: (tick) => extractChannelMask(raster, 1, tick),
    "colour mask": (tick) => colourMask(raster, 0, tick),
    "mask to image": (tick) => maskToImage(mask, tick),
    crop: (tick) => cropRaster(raster, { x: 0, y: 0, width: 2, height: 30 }, tick),
    rotate: (tick) => rotateRaster(raster, 1, tick),
    flip: (tick) => flipRaster(raster, "vertically", tick),
    pad: (tick) => padRaster(raster, border, tick),
    "outpaint mask": (tick) => outpaintMask(raster, border, tick),
    blend: (tick) => blendRasters(raster, raster, "screen", 0.5, tick),
    blur: (tick) => blurRaster(raster, bell, tick),
    sharpen: (tick) => sharpenRaster(raster, bell, 1, tick),
    composite: (tick) =>
      compositeRasters(raster, solidImage({ width: 2, height: 2 }, 0, 1), { x: 0, y: 0, resizeSource: true, mask }, tick),
    fit: (tick) => fitRaster(raster, { width: 9, height: 9 }, "bicubic", tick),
    lanczos: (tick) => scaleRaster(raster, { width: 9, height: 9 }, "lanczos", tick),
    bytes: (tick) => createSampleFrame(Float32Array.of(0.5)).bytes(tick),
    "bytes of an inversion": (tick) => invertRaster(raster, quiet).frames[0]?.bytes(tick),
  };

  it.each(Object.entries(kernels))("(%s) reports rising progress to 1 and stops when a tick throws", (_, run) => {
    const progressValues: number[] = [];
    run((progress) => progressValues.push(progress));
    expect(progressValues.at(-1)).toBeCloseTo(1);
    expect(progressValues).toEqual(progressValues.toSorted((a, b) => a - b));
    const stop = () => {
      throw new Error("Cancelled here.");
    };
    expect(() => run(stop)).toThrow("Cancelled here.");
  });
});

describe("compositing", () => {
  it("keeps the destination unchanged with a zero mask or outside", () => {
    fc.assert(
      fc.property(image, image, (below, above) => {
        const hidden = { x: 0, y: 0, resizeSource: false, mask: solidMask(above, 0) };
        expect(samples(compositeRasters(below, above, hidden, quiet))).toEqual(samples(below));
        expect(samples(compositeRasters(below, above, { x: 16384, y: 16384, resizeSource: false }, quiet))).toEqual(samples(below));
      }),
    );
  });

  it("returns the source when resized without a mask", () => {
    const below = solidImage({ width: 4, height: 3 }, 0, 2);
    const above = solidImage({ width: 9, height: 9 }, 0xffffff, 1);
    const composed = compositeRasters(below, above, { x: 0, y: 0, resizeSource: true }, quiet);
    expect(composed.frames).toHaveLength(2);
    expect(samples(composed).every((value) => value === 1)).toBe(true);
  });
});
