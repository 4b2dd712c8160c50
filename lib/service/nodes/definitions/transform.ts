// Nodes that transform images, and nodes that convert masks.

import {
  convertMaskToImage,
  createColourMask,
  createOutpaintMask,
  createSolidMask,
  cropRaster,
  extractChannelMask,
  flipRaster,
  getPaddedSize,
  invertRaster,
  padRaster,
  rotateRaster,
} from "@/lib/service/images/geometry";
import { createStages, type Raster, roundHalfEven, type Size } from "@/lib/service/images/raster";
import { claimScaledPixels, cropToShape, scaleMethods, scaleRaster } from "@/lib/service/images/scale";
import {
  createBareImageField,
  createComboField,
  createField,
  createImageField,
  createListField,
  createMaskField,
  createOutput,
  createPixelField,
  type NodeDefinition,
} from "../definition";

function getTargetSize(image: Raster, width: number, height: number): Size {
  if (width === 0 && height === 0) return image;
  if (width === 0) return { width: Math.max(1, roundHalfEven((image.width * height) / image.height)), height };
  if (height === 0) return { width, height: Math.max(1, roundHalfEven((image.height * width) / image.width)) };
  return { width, height };
}

export const imageScale: NodeDefinition = {
  name: "ImageScale",
  displayName: "Upscale Image",
  description: "Scales images to a size. A side of 0 keeps the aspect ratio. The center crop avoids distortion.",
  category: "image/upscaling",
  inputs: [
    createBareImageField(),
    createListField("upscale_method", scaleMethods),
    createPixelField("width", 512, 0),
    createPixelField("height", 512, 0),
    createListField("crop", ["disabled", "center"]),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const image = inputs.image("image");
    const [width, height] = [inputs.number("width"), inputs.number("height")];
    if (width === 0 && height === 0) return { values: [image] };
    const size = getTargetSize(image, width, height);
    const method = inputs.choice("upscale_method", scaleMethods);
    const isCropped = inputs.text("crop") === "center";
    const nextStage = createStages(context.tick, isCropped ? 2 : 1);
    const croppedImage = isCropped ? cropToShape(image, size, nextStage()) : image;
    claimScaledPixels(context.claimPixels, croppedImage, size, method);
    return { values: [scaleRaster(croppedImage, size, method, nextStage())] };
  },
};

export const imageScaleBy: NodeDefinition = {
  name: "ImageScaleBy",
  displayName: "Upscale Image By",
  description: "Scales images by a factor.",
  category: "image/upscaling",
  inputs: [
    createBareImageField(),
    createListField("upscale_method", scaleMethods),
    createField("FLOAT", "scale_by", { default: 1, min: 0.01, max: 8, step: 0.01 }),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const image = inputs.image("image");
    const factor = inputs.number("scale_by");
    const scaleSide = (length: number) => Math.max(1, roundHalfEven(length * factor));
    const size = { width: scaleSide(image.width), height: scaleSide(image.height) };
    const method = inputs.choice("upscale_method", scaleMethods);
    claimScaledPixels(context.claimPixels, image, size, method);
    return { values: [scaleRaster(image, size, method, context.tick)] };
  },
};

const rotations = ["none", "90 degrees", "180 degrees", "270 degrees"] as const;
const flips = ["x-axis: vertically", "y-axis: horizontally"] as const;

export const imageCrop: NodeDefinition = {
  name: "ImageCrop",
  displayName: "Crop Image (DEPRECATED)",
  description: "Crops images to a rectangle. Ignores parts outside the image.",
  category: "image/transform",
  inputs: [
    createImageField(),
    createPixelField("width", 512, 1),
    createPixelField("height", 512, 1),
    createPixelField("x", 0, 0),
    createPixelField("y", 0, 0),
  ],
  outputs: [createOutput("IMAGE")],
  deprecated: true,
  run(inputs, context) {
    const raster = inputs.image("image");
    const x = Math.min(inputs.number("x"), raster.width - 1);
    const y = Math.min(inputs.number("y"), raster.height - 1);
    const width = Math.min(inputs.number("width"), raster.width - x);
    const height = Math.min(inputs.number("height"), raster.height - y);
    context.claimPixels({ width, height }, raster.frames.length);
    return { values: [cropRaster(raster, { x, y, width, height }, context.tick)] };
  },
};

export const imagePadForOutpaint: NodeDefinition = {
  name: "ImagePadForOutpaint",
  displayName: "Pad Image for Outpainting",
  description: "Adds a gray border and a mask that covers it and fades into the image.",
  category: "image/transform",
  inputs: [
    createBareImageField(),
    ...["left", "top", "right", "bottom"].map((side) => createPixelField(side, 0, 0, 8)),
    createField("INT", "feathering", { default: 40, min: 0, max: 16384, step: 1, advanced: true }),
  ],
  outputs: [createOutput("IMAGE"), createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.image("image");
    const border = {
      left: inputs.number("left"),
      top: inputs.number("top"),
      right: inputs.number("right"),
      bottom: inputs.number("bottom"),
      feathering: inputs.number("feathering"),
    };
    context.claimPixels(getPaddedSize(raster, border), raster.frames.length + 1);
    const nextStage = createStages(context.tick, 2);
    return { values: [padRaster(raster, border, nextStage()), createOutpaintMask(raster, border, nextStage())] };
  },
};

export const imageRotate: NodeDefinition = {
  name: "ImageRotate",
  displayName: "Rotate Image",
  description: "Rotates images clockwise in steps of 90 degrees.",
  category: "image/transform",
  inputs: [createImageField(), createComboField("rotation", rotations)],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    const rotation = inputs.choice("rotation", rotations);
    if (rotation === "none") return { values: [raster] };
    context.claimPixels(raster, raster.frames.length);
    return { values: [rotateRaster(raster, rotation === "90 degrees" ? 1 : rotation === "180 degrees" ? 2 : 3, context.tick)] };
  },
};

export const imageFlip: NodeDefinition = {
  name: "ImageFlip",
  displayName: "Flip Image",
  description: "Mirrors images.",
  category: "image/transform",
  inputs: [createImageField(), createComboField("flip_method", flips)],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claimPixels(raster, raster.frames.length);
    const direction = inputs.choice("flip_method", flips) === "x-axis: vertically" ? "vertically" : "horizontally";
    return { values: [flipRaster(raster, direction, context.tick)] };
  },
};

const channels = ["red", "green", "blue", "alpha"] as const;

export const maskToImageNode: NodeDefinition = {
  name: "MaskToImage",
  displayName: "Convert Mask to Image",
  description: "Converts a mask to a gray image.",
  category: "image/mask",
  inputs: [createMaskField()],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.mask("mask");
    context.claimPixels(raster, raster.frames.length);
    return { values: [convertMaskToImage(raster, context.tick)] };
  },
};

export const imageToMask: NodeDefinition = {
  name: "ImageToMask",
  displayName: "Convert Image to Mask",
  description: "Converts one channel to a mask. Images between nodes have no alpha, so alpha returns a mask of ones.",
  category: "image/mask",
  inputs: [createImageField(), createComboField("channel", channels)],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.image("image");
    const channel = inputs.choice("channel", channels);
    context.claimPixels(raster, raster.frames.length);
    if (channel !== "alpha")
      return { values: [extractChannelMask(raster, channel === "red" ? 0 : channel === "green" ? 1 : 2, context.tick)] };
    return { values: [createSolidMask(raster, 1, raster.frames.length)] };
  },
};

export const invertMask: NodeDefinition = {
  name: "InvertMask",
  displayName: "Invert Mask",
  description: "Inverts masks.",
  category: "image/mask",
  inputs: [createMaskField()],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.mask("mask");
    context.claimPixels(raster, raster.frames.length);
    return { values: [invertRaster(raster, context.tick)] };
  },
};

export const imageColorToMask: NodeDefinition = {
  name: "ImageColorToMask",
  displayName: "Convert Image Color to Mask",
  description: "Creates a mask that is 1 where the image has exactly the given color.",
  category: "image/mask",
  inputs: [createImageField(), createField("INT", "color", { default: 0, min: 0, max: 0xffffff, step: 1, display: "number" })],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claimPixels(raster, raster.frames.length);
    return { values: [createColourMask(raster, inputs.number("color"), context.tick)] };
  },
};
