import { blendModes, blendRasters, compositeRasters, listScaledRasters } from "@/lib/service/images/blend";
import { invertRaster } from "@/lib/service/images/geometry";
import { addNoise } from "@/lib/service/images/normal-noise";
import { createStages, hasSameSize, mapRows, mapSamples, type Raster, type Tick } from "@/lib/service/images/raster";
import { claimScaledPixels, fitRaster, sumRows } from "@/lib/service/images/scale";
import {
  createBareImageField,
  createComboField,
  createField,
  createImageField,
  createMaskField,
  createOutput,
  createPixelField,
  type NodeDefinition,
  NodeFailure,
  toOptional,
} from "../definition";

export const imageBatch: NodeDefinition = {
  name: "ImageBatch",
  displayName: "Batch Images (DEPRECATED)",
  description: "Joins two batches. The second is resized to match the first.",
  category: "image/batch",
  inputs: [createBareImageField("image1"), createBareImageField("image2")],
  outputs: [createOutput("IMAGE")],
  deprecated: true,
  run(inputs, context) {
    const firstImages = inputs.image("image1");
    const secondImages = inputs.image("image2");
    context.claimPixels(firstImages, firstImages.frames.length + secondImages.frames.length);
    const fittedRaster = fitRaster(secondImages, firstImages, "bilinear", context.tick);
    return { values: [{ ...firstImages, frames: [...firstImages.frames, ...fittedRaster.frames] }] };
  },
};

export const imageCompositeMasked: NodeDefinition = {
  name: "ImageCompositeMasked",
  displayName: "Image Composite Masked",
  description: "Places one image over another where the mask is 1.",
  category: "image/compositing",
  inputs: [
    createImageField("destination"),
    createImageField("source"),
    createPixelField("x", 0, 0),
    createPixelField("y", 0, 0),
    createField("BOOLEAN", "resize_source", { default: false }),
    toOptional(createMaskField()),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const destination = inputs.image("destination");
    const source = inputs.image("source");
    const placement = {
      x: inputs.number("x"),
      y: inputs.number("y"),
      resizeSource: inputs.flag("resize_source"),
      mask: inputs.optionalMask("mask"),
    };
    context.claimPixels(destination, destination.frames.length);
    for (const { raster, size } of listScaledRasters(destination, source, placement))
      claimScaledPixels(context.claimPixels, raster, size, "bilinear");
    return { values: [compositeRasters(destination, source, placement, context.tick)] };
  },
};

export const imageInvert: NodeDefinition = {
  name: "ImageInvert",
  displayName: "Invert Image Colors",
  description: "Inverts the colors of images.",
  category: "image/color",
  inputs: [createBareImageField()],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claimPixels(raster, raster.frames.length);
    return { values: [invertRaster(raster, context.tick)] };
  },
};

export const imageBlend: NodeDefinition = {
  name: "ImageBlend",
  displayName: "Blend Images",
  description: "Blends two images. The second is resized to match the first.",
  category: "image/filters",
  inputs: [
    createImageField("image1"),
    createImageField("image2"),
    createField("FLOAT", "blend_factor", { default: 0.5, min: 0, max: 1, step: 0.01 }),
    createComboField("blend_mode", blendModes),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const lowerImage = inputs.image("image1");
    const upperImage = inputs.image("image2");
    const counts = [lowerImage.frames.length, upperImage.frames.length];
    if (!counts.includes(1) && counts[0] !== counts[1]) {
      throw new NodeFailure("ValueError", `Batches of ${counts.join(" and ")} images can't be blended: use equal batches, or one image.`);
    }
    context.claimPixels(lowerImage, Math.max(...counts) + (hasSameSize(lowerImage, upperImage) ? 0 : upperImage.frames.length));
    const nextStage = createStages(context.tick, 2);
    const fittedRaster = fitRaster(upperImage, lowerImage, "bicubic", nextStage());
    return {
      values: [blendRasters(lowerImage, fittedRaster, inputs.choice("blend_mode", blendModes), inputs.number("blend_factor"), nextStage())],
    };
  },
};

export const imageBlur: NodeDefinition = {
  name: "ImageBlur",
  displayName: "Blur Image",
  description: "Blurs images with a Gaussian kernel of the given radius.",
  category: "image/filters",
  inputs: [
    createImageField(),
    createField("INT", "blur_radius", { default: 1, min: 1, max: 31, step: 1 }),
    createField("FLOAT", "sigma", { default: 1, min: 0.1, max: 10, step: 0.1 }),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claimPixels(raster, raster.frames.length);
    const kernel = { radius: inputs.number("blur_radius"), sigma: inputs.number("sigma") };
    return { values: [blurRaster(raster, kernel, context.tick)] };
  },
};

export const imageSharpen: NodeDefinition = {
  name: "ImageSharpen",
  displayName: "Sharpen Image",
  description: "Sharpens images by amplifying the detail that a blur removes.",
  category: "image/filters",
  inputs: [
    createImageField(),
    createField("INT", "sharpen_radius", { advanced: true, default: 1, min: 1, max: 31, step: 1 }),
    createField("FLOAT", "sigma", { advanced: true, default: 1, min: 0.1, max: 10, step: 0.01 }),
    createField("FLOAT", "alpha", { advanced: true, default: 1, min: 0, max: 5, step: 0.01 }),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claimPixels(raster, 2 * raster.frames.length);
    const kernel = { radius: inputs.number("sharpen_radius"), sigma: inputs.number("sigma") };
    return { values: [sharpenRaster(raster, kernel, inputs.number("alpha"), context.tick)] };
  },
};

export const imageAddNoise: NodeDefinition = {
  name: "ImageAddNoise",
  displayName: "Add Noise to Image",
  description: "Adds random noise to images. The same seed produces the same noise.",
  category: "image/filters",
  inputs: [
    createImageField(),
    createField("INT", "seed", {
      tooltip: "The random seed used for creating the noise.",
      default: 0,
      min: 0,
      max: 2n ** 64n - 1n,
      control_after_generate: true,
    }),
    createField("FLOAT", "strength", { default: 0.5, min: 0, max: 1, step: 0.01 }),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claimPixels(raster, 2 * raster.frames.length);
    return { values: [addNoise(raster, inputs.integer("seed"), inputs.number("strength"), context.tick)] };
  },
};

// Blur and sharpen, as in ComfyUI: sigma is relative to the radius, and edges are mirrored without repeating the edge.

export type GaussianKernel = { radius: number; sigma: number };

/** Mirrors an index beyond the edge into 0 … size - 1. */
function mirrorIndex(index: number, size: number): number {
  if (size === 1) return 0;
  const period = 2 * (size - 1);
  const periodicIndex = ((index % period) + period) % period;
  return periodicIndex < size ? periodicIndex : period - periodicIndex;
}

function computeKernelWeights({ radius, sigma }: GaussianKernel): Float64Array {
  const rawWeights = Float64Array.from({ length: radius * 2 + 1 }, (_, i) => Math.exp(-((i / radius - 1) ** 2) / (2 * sigma * sigma)));
  const total = rawWeights.reduce((sum, weight) => sum + weight, 0);
  return rawWeights.map((weight) => weight / total);
}

export function blurRaster(raster: Raster, kernel: GaussianKernel, tick: Tick): Raster {
  const weights = computeKernelWeights(kernel);
  const blur = (samples: Float32Array, partTick: Tick) => {
    const nextStage = createStages(partTick, 2);
    return blurColumns(blurRows(samples, raster, weights, nextStage()), raster, weights, nextStage());
  };
  return mapSamples(raster, raster, blur, tick);
}

/** Computes weighted sums along each row with mirrored edges. A shift by one pixel is the same row with an offset of one. */
function blurRows(samples: Float32Array, { width, height, channels }: Raster, weights: Float64Array, tick: Tick): Float32Array {
  const radius = (weights.length - 1) / 2;
  const length = width * channels;
  const sourceOffsets = Int32Array.from({ length: (width + 2 * radius) * channels }, (_, i) => {
    return mirrorIndex(Math.floor(i / channels) - radius, width) * channels + (i % channels);
  });
  const row = new Float32Array(sourceOffsets.length);
  const starts = Int32Array.from(weights, (_, i) => i * channels);
  const sums = new Float64Array(length);
  const out = new Float32Array(samples.length);
  for (let y = 0; y < height; y++) {
    for (let i = 0; i < row.length; i++) row[i] = samples[y * length + (sourceOffsets[i] ?? 0)] ?? 0;
    sumRows(row, starts, weights, sums);
    out.set(sums, y * length);
    tick((y + 1) / height);
  }
  return out;
}

function blurColumns(samples: Float32Array, { width, height, channels }: Raster, weights: Float64Array, tick: Tick): Float32Array {
  const radius = (weights.length - 1) / 2;
  const length = width * channels;
  const sums = new Float64Array(length);
  const out = new Float32Array(samples.length);
  for (let y = 0; y < height; y++) {
    const starts = Int32Array.from(weights, (_, i) => mirrorIndex(y + i - radius, height) * length);
    sumRows(samples, starts, weights, sums);
    out.set(sums, y * length);
    tick((y + 1) / height);
  }
  return out;
}

export function sharpenRaster(raster: Raster, kernel: GaussianKernel, amount: number, tick: Tick): Raster {
  const nextStage = createStages(tick, 2);
  const blurredRaster = blurRaster(raster, kernel, nextStage());
  const gain = amount * 10;
  const rowLength = raster.width * raster.channels;
  return mapRows(
    raster,
    raster,
    ({ out, at, frame, index }) => {
      const blurredSamples = blurredRaster.frames[index]?.samples() ?? frame;
      for (let i = at; i < at + rowLength; i++) {
        const value = frame[i] ?? 0;
        out[i] = Math.min(1, Math.max(0, value + gain * (value - (blurredSamples[i] ?? 0))));
      }
    },
    nextStage(),
  );
}
