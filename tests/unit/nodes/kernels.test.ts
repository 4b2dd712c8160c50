// Property tests for the image kernels.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blendModes, blendRasters, compositeRasters } from "@/lib/service/images/blend";
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
import { cropToShape, fitRaster, scaleMethods, scaleRaster } from "@/lib/service/images/scale";
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
const getSize = ({ width, height, channels }: Raster) => ({ width, height, channels });

function getMaxDifference(a: Raster, b: Raster): number {
  const otherSamples = getSamples(b);
  return Math.max(0, ...getSamples(a).map((value, i) => Math.abs(value - (otherSamples[i] ?? Number.NaN))));
}

function expectSameRaster(a: Raster, b: Raster): void {
  expect(getSize(a)).toEqual(getSize(b));
  expect(getSamples(a)).toEqual(getSamples(b));
}

describe("a NaN sample", () => {
  const sizes = Array.from({ length: 12 }, (_, index) => index + 1);
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

  it("resizes every frame of a batch", () => {
    fc.assert(
      fc.property(image, side, side, method, (raster, width, height, scaleMethod) => {
        const scaled = scaleRaster(
          { ...raster, frames: [...raster.frames, ...raster.frames] },
          { width, height },
          scaleMethod,
          ignoreProgress,
        );
        expect(scaled.frames.map((frame) => frame.length)).toEqual([width * height * 3, width * height * 3]);
      }),
    );
  });

  it("averages all pixels when scaling by area to one pixel", () => {
    fc.assert(
      fc.property(image, (raster) => {
        const red = getSamples(raster).filter((_, i) => i % 3 === 0);
        const mean = red.reduce((sum, value) => sum + value, 0) / red.length;
        expect(getSamples(scaleRaster(raster, { width: 1, height: 1 }, "area", ignoreProgress))[0]).toBeCloseTo(mean, 4);
      }),
    );
  });

  it("crops the centre when the aspect ratio differs", () => {
    expect(cropToShape(createSolidImage({ width: 20, height: 10 }, 0, 1), { width: 5, height: 5 }, ignoreProgress)).toMatchObject({
      width: 10,
      height: 10,
    });
    expect(cropToShape(createSolidImage({ width: 10, height: 20 }, 0, 1), { width: 5, height: 5 }, ignoreProgress)).toMatchObject({
      width: 10,
      height: 10,
    });
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

  it("keep samples within the original range, or from 0 to 1", () => {
    fc.assert(
      fc.property(image, gaussian, (raster, shape) => {
        const blurred = getSamples(blurRaster(raster, shape, ignoreProgress));
        expect(Math.max(...blurred)).toBeLessThanOrEqual(Math.max(...getSamples(raster)) + 1e-6);
        expect(Math.min(...blurred)).toBeGreaterThanOrEqual(Math.min(...getSamples(raster)) - 1e-6);
        expect(getSamples(sharpenRaster(raster, shape, 5, ignoreProgress)).every((value) => value >= 0 && value <= 1)).toBe(true);
      }),
    );
  });

  it("preserve the image when the sharpening strength is 0", () => {
    fc.assert(
      fc.property(image, gaussian, (raster, shape) => {
        expect(getMaxDifference(sharpenRaster(raster, shape, 0, ignoreProgress), raster)).toBeLessThan(1e-7);
      }),
    );
  });
});

describe("blending", () => {
  it.each(["multiply", "screen"] as const)("is commutative in %s mode at full strength", (mode) => {
    fc.assert(
      fc.property(image, (raster) => {
        const flipped = flipRaster(raster, "vertically", ignoreProgress);
        expect(
          getMaxDifference(blendRasters(raster, flipped, mode, 1, ignoreProgress), blendRasters(flipped, raster, mode, 1, ignoreProgress)),
        ).toBeLessThan(1e-6);
      }),
    );
  });

  it.each(blendModes)("returns the first image in %s mode when the factor is 0", (mode) => {
    fc.assert(
      fc.property(image, (raster) => {
        expect(getSamples(blendRasters(raster, invertRaster(raster, ignoreProgress), mode, 0, ignoreProgress))).toEqual(getSamples(raster));
      }),
    );
  });

  it("blends a single image with every frame of a batch", () => {
    const raster = createSolidImage({ width: 2, height: 2 }, 0, 1);
    const batch = createSolidImage({ width: 2, height: 2 }, 0xffffff, 3);
    expect(blendRasters(raster, batch, "normal", 0.5, ignoreProgress).frames).toHaveLength(3);
  });
});

describe("reversible operations", () => {
  it("restore an image after four rotations, two flips or two inversions", () => {
    fc.assert(
      fc.property(image, (raster) => {
        expectSameRaster(rotateRaster(rotateRaster(raster, 1, ignoreProgress), 3, ignoreProgress), raster);
        expectSameRaster(rotateRaster(rotateRaster(raster, 2, ignoreProgress), 2, ignoreProgress), raster);
        expectSameRaster(flipRaster(flipRaster(raster, "horizontally", ignoreProgress), "horizontally", ignoreProgress), raster);
        expect(
          getBytes(invertRaster(invertRaster(raster, ignoreProgress), ignoreProgress)).every(
            (byte, i) => Math.abs(byte - (getBytes(raster)[i] ?? 0)) <= 1,
          ),
        ).toBe(true);
      }),
    );
  });

  it("restore a padded image when cropped, with a mask of 1 for the padding", () => {
    fc.assert(
      fc.property(image, side, side, (raster, left, top) => {
        const border = { left, top, right: 1, bottom: 2, feathering: 3 };
        const padded = padRaster(raster, border, ignoreProgress);
        expectSameRaster(cropRaster(padded, { x: left, y: top, width: raster.width, height: raster.height }, ignoreProgress), raster);
        expect(createOutpaintMask(raster, border, ignoreProgress)).toMatchObject({ width: padded.width, height: padded.height });
        expect(getSamples(createOutpaintMask(raster, border, ignoreProgress))[0]).toBe(1);
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

describe("compositing", () => {
  it("keeps the destination unchanged when the source is masked or outside", () => {
    fc.assert(
      fc.property(image, image, (destination, source) => {
        const maskedOptions = { x: 0, y: 0, resizeSource: false, mask: createSolidMask(source, 0) };
        expect(getSamples(compositeRasters(destination, source, maskedOptions, ignoreProgress))).toEqual(getSamples(destination));
        expect(getSamples(compositeRasters(destination, source, { x: 16384, y: 16384, resizeSource: false }, ignoreProgress))).toEqual(
          getSamples(destination),
        );
      }),
    );
  });

  it("returns the source when resized without a mask", () => {
    const destination = createSolidImage({ width: 4, height: 3 }, 0, 2);
    const source = createSolidImage({ width: 9, height: 9 }, 0xffffff, 1);
    const composed = compositeRasters(destination, source, { x: 0, y: 0, resizeSource: true }, ignoreProgress);
    expect(composed.frames).toHaveLength(2);
    expect(getSamples(composed).every((value) => value === 1)).toBe(true);
  });
});
