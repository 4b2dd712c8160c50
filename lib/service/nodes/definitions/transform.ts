// Nodes that move, cut or extend images without resampling.

import { cropRaster, flipRaster, rotateRaster } from "@/lib/service/images/geometry";
import { outpaintMask, paddedSize, padRaster } from "@/lib/service/images/outpaint";
import { stages } from "@/lib/service/images/tick";
import { type NodeDefinition } from "../definition";
import { bareImage, combo, field, image, output, pixels } from "./fields";

const rotations = ["none", "90 degrees", "180 degrees", "270 degrees"] as const;
const flips = ["x-axis: vertically", "y-axis: horizontally"] as const;

export const imageCrop: NodeDefinition = {
  name: "ImageCrop",
  displayName: "Crop Image (DEPRECATED)",
  description: "Cuts a rectangle out of images. What would lie outside is left out.",
  category: "image/transform",
  inputs: [image(), pixels("width", 512, 1), pixels("height", 512, 1), pixels("x", 0, 0), pixels("y", 0, 0)],
  outputs: [output("IMAGE")],
  deprecated: true,
  run(inputs, context) {
    const whole = inputs.image("image");
    const x = Math.min(inputs.number("x"), whole.width - 1);
    const y = Math.min(inputs.number("y"), whole.height - 1);
    const width = Math.min(inputs.number("width"), whole.width - x);
    const height = Math.min(inputs.number("height"), whole.height - y);
    context.claim({ width, height }, whole.frames.length);
    return { values: [cropRaster(whole, { x, y, width, height }, context.tick)] };
  },
};

export const imagePadForOutpaint: NodeDefinition = {
  name: "ImagePadForOutpaint",
  displayName: "Pad Image for Outpainting",
  description: "Adds a grey border, and a mask that covers it and fades into the image.",
  category: "image/transform",
  inputs: [
    bareImage(),
    ...["left", "top", "right", "bottom"].map((side) => pixels(side, 0, 0, 8)),
    field("INT", "feathering", { default: 40, min: 0, max: 16384, step: 1, advanced: true }),
  ],
  outputs: [output("IMAGE"), output("MASK")],
  run(inputs, context) {
    const whole = inputs.image("image");
    const border = {
      left: inputs.number("left"),
      top: inputs.number("top"),
      right: inputs.number("right"),
      bottom: inputs.number("bottom"),
      feathering: inputs.number("feathering"),
    };
    context.claim(paddedSize(whole, border), whole.frames.length + 1);
    const nextStage = stages(context.tick, 2);
    return { values: [padRaster(whole, border, nextStage()), outpaintMask(whole, border, nextStage())] };
  },
};

export const imageRotate: NodeDefinition = {
  name: "ImageRotate",
  displayName: "Rotate Image",
  description: "Turns images clockwise by quarter turns.",
  category: "image/transform",
  inputs: [image(), combo("rotation", rotations)],
  outputs: [output("IMAGE")],
  run(inputs, context) {
    const whole = inputs.image("image");
    const rotation = inputs.choice("rotation", rotations);
    if (rotation === "none") return { values: [whole] };
    context.claim(whole, whole.frames.length);
    return { values: [rotateRaster(whole, rotation === "90 degrees" ? 1 : rotation === "180 degrees" ? 2 : 3, context.tick)] };
  },
};

export const imageFlip: NodeDefinition = {
  name: "ImageFlip",
  displayName: "Flip Image",
  description: "Mirrors images.",
  category: "image/transform",
  inputs: [image(), combo("flip_method", flips)],
  outputs: [output("IMAGE")],
  run(inputs, context) {
    const whole = inputs.image("image");
    context.claim(whole, whole.frames.length);
    const direction = inputs.choice("flip_method", flips) === "x-axis: vertically" ? "vertically" : "horizontally";
    return { values: [flipRaster(whole, direction, context.tick)] };
  },
};
