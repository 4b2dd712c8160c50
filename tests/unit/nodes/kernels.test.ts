// Property tests for the image kernels. The recorded references in kernel-numbers.test.ts check their results.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blendRasters, compositeRasters } from "@/lib/service/images/blend";
import {
  convertMaskToImage,
  createColourMask,
  createOutpaintMask,
  createSolidImage,
  createSolidMask,
  cropRaster,
  extractChannelMask,
  flipRaster,
  invertRaster,
  padRaster,
  rotateRaster,
} from "@/lib/service/images/geometry";
import { createByteFrame, createSampleFrame, type Raster, type Tick } from "@/lib/service/images/raster";
import { fitRaster, scaleMethods, scaleRaster } from "@/lib/service/images/scale";
import { blurRaster, sharpenRaster } from "@/lib/service/nodes/definitions/combine";

const ignoreProgress = () => undefined;
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

const getSamples = (raster: Raster) => [...(raster.frames[0]?.samples() ?? [])];
const getBytes = (raster: Raster) => [...(raster.frames[0]?.bytes() ?? [])];

function getMaxDifference(a: Raster, b: Raster): number {
  const otherSamples = getSamples(b);
  return Math.max(0, ...getSamples(a).map((value, i) => Math.abs(value - (otherSamples[i] ?? Number.NaN))));
}

describe("a NaN sample", () => {
  const sizes = [1, 2, 3, 5, 8, 12];
  const pairs = sizes.flatMap((from) => sizes.filter((to) => to !== from).map((to) => ({ from, to })));

  it.each(["area", "nearest-exact"] as const)("affects only dependent pixels when scaled with %s", (scaleMethod) => {
    for (const { from, to } of pairs)
      for (const isRow of [true, false]) {
        const size = (length: number) => (isRow ? { width: length, height: 1 } : { width: 1, height: length });
        const scaleRow = (data: Float32Array) =>
          getSamples(scaleRaster({ ...size(from), channels: 1, frames: [createSampleFrame(data)] }, size(to), scaleMethod, ignoreProgress));
        for (let nanIndex = 0; nanIndex < from; nanIndex += 1) {
          const weights = scaleRow(Float32Array.from({ length: from }, (_, index) => (index === nanIndex ? 1 : 0)));
          const values = scaleRow(Float32Array.from({ length: from }, (_, index) => (index === nanIndex ? Number.NaN : 0.5)));
          expect(values.map(Number.isNaN), `${nanIndex} of ${from} to ${to}`).toEqual(weights.map((weight) => weight !== 0));
        }
      }
  });
});

describe("scaling", () => {
  it("preserves a solid colour with every method", () => {
    fc.assert(
      fc.property(side, side, side, side, fc.integer({ min: 0, max: 0xffffff }), method, (w, h, width, height, colour, scaleMethod) => {
        const scaled = scaleRaster(createSolidImage({ width: w, height: h }, colour, 1), { width, height }, scaleMethod, ignoreProgress);
        expect(getMaxDifference(scaled, createSolidImage({ width, height }, colour, 1))).toBeLessThan(1.5 / 255);
      }),
    );
  });

  it("preserves every byte when the size is unchanged", () => {
    fc.assert(
      fc.property(image, method, (raster, scaleMethod) => {
        expect(getBytes(scaleRaster(raster, raster, scaleMethod, ignoreProgress))).toEqual(getBytes(raster));
      }),
    );
  });
});

describe("blurring and sharpening", () => {
  const gaussian = fc.record({ radius: fc.integer({ min: 1, max: 31 }), sigma: fc.double({ min: 0.1, max: 10, noNaN: true }) });

  it("preserve a solid image when the radius exceeds its size", () => {
    fc.assert(
      fc.property(side, side, gaussian, (width, height, shape) => {
        const plain = createSolidImage({ width, height }, 0x336699, 1);
        expect(getMaxDifference(blurRaster(plain, shape, ignoreProgress), plain)).toBeLessThan(1e-5);
        expect(getMaxDifference(sharpenRaster(plain, shape, 1, ignoreProgress), plain)).toBeLessThan(1e-4);
      }),
    );
  });
});

describe("each kernel", () => {
  const raster = createSolidImage({ width: 3, height: 40 }, 0x336699, 2);
  const mask = createSolidMask({ width: 5, height: 5 }, 0.5, 2);
  const gaussian = { radius: 2, sigma: 1 };
  const border = { left: 1, top: 1, right: 1, bottom: 1, feathering: 1 };
  const kernels: Record<string, (tick: Tick) => unknown> = {
    invert: (tick) => invertRaster(raster, tick),
    channel: (tick) => extractChannelMask(raster, 1, tick),
    "colour mask": (tick) => createColourMask(raster, 0, tick),
    "mask to image": (tick) => convertMaskToImage(mask, tick),
    crop: (tick) => cropRaster(raster, { x: 0, y: 0, width: 2, height: 30 }, tick),
    rotate: (tick) => rotateRaster(raster, 1, tick),
    flip: (tick) => flipRaster(raster, "vertically", tick),
    pad: (tick) => padRaster(raster, border, tick),
    "outpaint mask": (tick) => createOutpaintMask(raster, border, tick),
    blend: (tick) => blendRasters(raster, raster, "screen", 0.5, tick),
    blur: (tick) => blurRaster(raster, gaussian, tick),
    sharpen: (tick) => sharpenRaster(raster, gaussian, 1, tick),
    composite: (tick) =>
      compositeRasters(raster, createSolidImage({ width: 2, height: 2 }, 0, 1), { x: 0, y: 0, resizeSource: true, mask }, tick),
    fit: (tick) => fitRaster(raster, { width: 9, height: 9 }, "bicubic", tick),
    lanczos: (tick) => scaleRaster(raster, { width: 9, height: 9 }, "lanczos", tick),
    bytes: (tick) => createSampleFrame(Float32Array.of(0.5)).bytes(tick),
    "bytes of an inversion": (tick) => invertRaster(raster, ignoreProgress).frames[0]?.bytes(tick),
  };

  it.each(Object.entries(kernels))("reports progress up to 1 and stops when a tick throws: %s", (_, run) => {
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
