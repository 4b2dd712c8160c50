// Nodes that transform images, and nodes that convert masks.

import {
  colourMask,
  cropRaster,
  extractChannelMask,
  flipRaster,
  invertRaster,
  maskToImage,
  outpaintMask,
  paddedSize,
  padRaster,
  rotateRaster,
  solidMask,
} from "@/lib/service/images/geometry";
import { createStages, type Raster, roundHalfEven, type Size } from "@/lib/service/images/raster";
import { cropToShape, scaleMethods, scaleRaster } from "@/lib/service/images/scale";
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
  description: "Scales images to a size. A side of 0 keeps the shape; center cuts to the new shape first.",
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
    context.claim(size, image.frames.length);
    const nextStage = createStages(context.tick, 2);
    const cropped = inputs.text("crop") === "center" ? cropToShape(image, size, nextStage()) : image;
    return { values: [scaleRaster(cropped, size, inputs.choice("upscale_method", scaleMethods), nextStage())] };
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
    context.claim(size, image.frames.length);
    return { values: [scaleRaster(image, size, inputs.choice("upscale_method", scaleMethods), context.tick)] };
  },
};

const rotations = ["none", "90 degrees", "180 degrees", "270 degrees"] as const;
const flips = ["x-axis: vertically", "y-axis: horizontally"] as const;

export const imageCrop: NodeDefinition = {
  name: "ImageCrop",
  displayName: "Crop Image (DEPRECATED)",
  description: "Cuts a rectangle out of images. What would lie outside is left out.",
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
    context.claim({ width, height }, raster.frames.length);
    return { values: [cropRaster(raster, { x, y, width, height }, context.tick)] };
  },
};

export const imagePadForOutpaint: NodeDefinition = {
  name: "ImagePadForOutpaint",
  displayName: "Pad Image for Outpainting",
  description: "Adds a grey border, and a mask that covers it and fades into the image.",
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
    context.claim(paddedSize(raster, border), raster.frames.length + 1);
    const nextStage = createStages(context.tick, 2);
    return { values: [padRaster(raster, border, nextStage()), outpaintMask(raster, border, nextStage())] };
  },
};

export const imageRotate: NodeDefinition = {
  name: "ImageRotate",
  displayName: "Rotate Image",
  description: "Turns images clockwise by quarter turns.",
  category: "image/transform",
  inputs: [createImageField(), createComboField("rotation", rotations)],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.image("image");
    const rotation = inputs.choice("rotation", rotations);
    if (rotation === "none") return { values: [raster] };
    context.claim(raster, raster.frames.length);
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
    context.claim(raster, raster.frames.length);
    const direction = inputs.choice("flip_method", flips) === "x-axis: vertically" ? "vertically" : "horizontally";
    return { values: [flipRaster(raster, direction, context.tick)] };
  },
};

const channels = ["red", "green", "blue", "alpha"] as const;

export const maskToImageNode: NodeDefinition = {
  name: "MaskToImage",
  displayName: "Convert Mask to Image",
  description: "Shows a mask as a grey image.",
  category: "image/mask",
  inputs: [createMaskField()],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const raster = inputs.mask("mask");
    context.claim(raster, raster.frames.length);
    return { values: [maskToImage(raster, context.tick)] };
  },
};

export const imageToMask: NodeDefinition = {
  name: "ImageToMask",
  displayName: "Convert Image to Mask",
  description: "Takes one channel as a mask. Images between nodes have no alpha, so alpha gives a mask of ones.",
  category: "image/mask",
  inputs: [createImageField(), createComboField("channel", channels)],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.image("image");
    const channel = inputs.choice("channel", channels);
    context.claim(raster, raster.frames.length);
    if (channel !== "alpha")
      return { values: [extractChannelMask(raster, channel === "red" ? 0 : channel === "green" ? 1 : 2, context.tick)] };
    return { values: [solidMask(raster, 1, raster.frames.length)] };
  },
};

export const invertMask: NodeDefinition = {
  name: "InvertMask",
  displayName: "Invert Mask",
  description: "Turns 1 into 0 and 0 into 1.",
  category: "image/mask",
  inputs: [createMaskField()],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.mask("mask");
    context.claim(raster, raster.frames.length);
    return { values: [invertRaster(raster, context.tick)] };
  },
};

export const imageColorToMask: NodeDefinition = {
  name: "ImageColorToMask",
  displayName: "Convert Image Color to Mask",
  description: "Makes a mask that is 1 where the image has exactly one colour.",
  category: "image/mask",
  inputs: [createImageField(), createField("INT", "color", { default: 0, min: 0, max: 0xffffff, step: 1, display: "number" })],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const raster = inputs.image("image");
    context.claim(raster, raster.frames.length);
    return { values: [colourMask(raster, inputs.number("color"), context.tick)] };
  },
};
