// Nodes that combine several images.

import { compositeExtra, compositeRasters } from "@/lib/service/images/composite";
import { fitRaster } from "@/lib/service/images/scale";
import { type NodeDefinition } from "../definition";
import { bareImage, field, image, mask, optional, output, pixels } from "./fields";

export const imageBatch: NodeDefinition = {
  name: "ImageBatch",
  displayName: "Batch Images (DEPRECATED)",
  description: "Puts two batches one after the other. The second is brought to the size of the first.",
  category: "image/batch",
  inputs: [bareImage("image1"), bareImage("image2")],
  outputs: [output("IMAGE")],
  deprecated: true,
  run(inputs, context) {
    const first = inputs.image("image1");
    const second = inputs.image("image2");
    context.claim(first, first.frames.length + second.frames.length);
    const fitted = fitRaster(second, first, "bilinear", context.tick);
    return { values: [{ ...first, frames: [...first.frames, ...fitted.frames] }] };
  },
};

export const imageCompositeMasked: NodeDefinition = {
  name: "ImageCompositeMasked",
  displayName: "Image Composite Masked",
  description: "Lays one image over another at a place, where the mask is 1.",
  category: "image/compositing",
  inputs: [
    image("destination"),
    image("source"),
    pixels("x", 0, 0),
    pixels("y", 0, 0),
    field("BOOLEAN", "resize_source", { default: false }),
    optional(mask()),
  ],
  outputs: [output("IMAGE")],
  run(inputs, context) {
    const destination = inputs.image("destination");
    const source = inputs.image("source");
    const placement = {
      x: inputs.number("x"),
      y: inputs.number("y"),
      resizeSource: inputs.flag("resize_source"),
      mask: inputs.optionalMask("mask"),
    };
    context.claim(destination, destination.frames.length);
    for (const { size, frames } of compositeExtra(destination, source, placement)) context.claim(size, frames);
    return { values: [compositeRasters(destination, source, placement, context.tick)] };
  },
};
