// Nodes that change the size of images.

import { roundHalfEven } from "@/lib/service/images/numbers";
import { type Raster, type Size } from "@/lib/service/images/raster";
import { cropToShape, scaleMethods, scaleRaster } from "@/lib/service/images/scale";
import { stages } from "@/lib/service/images/tick";
import { type NodeDefinition } from "../definition";
import { bareImage, bareList, field, output, pixels } from "./fields";

/** A side of 0 is computed from the other side and the shape of the image. */
function wantedSize(image: Raster, width: number, height: number): Size {
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
    bareImage(),
    bareList("upscale_method", scaleMethods),
    pixels("width", 512, 0),
    pixels("height", 512, 0),
    bareList("crop", ["disabled", "center"]),
  ],
  outputs: [output("IMAGE")],
  run(inputs, context) {
    const image = inputs.image("image");
    const [width, height] = [inputs.number("width"), inputs.number("height")];
    if (width === 0 && height === 0) return { values: [image] };
    const size = wantedSize(image, width, height);
    context.claim(size, image.frames.length);
    const nextStage = stages(context.tick, 2);
    const cut = inputs.text("crop") === "center" ? cropToShape(image, size, nextStage()) : image;
    return { values: [scaleRaster(cut, size, inputs.choice("upscale_method", scaleMethods), nextStage())] };
  },
};

export const imageScaleBy: NodeDefinition = {
  name: "ImageScaleBy",
  displayName: "Upscale Image By",
  description: "Scales images by a factor.",
  category: "image/upscaling",
  inputs: [
    bareImage(),
    bareList("upscale_method", scaleMethods),
    field("FLOAT", "scale_by", { default: 1, min: 0.01, max: 8, step: 0.01 }),
  ],
  outputs: [output("IMAGE")],
  run(inputs, context) {
    const image = inputs.image("image");
    const factor = inputs.number("scale_by");
    const side = (length: number) => Math.max(1, roundHalfEven(length * factor));
    const size = { width: side(image.width), height: side(image.height) };
    context.claim(size, image.frames.length);
    return { values: [scaleRaster(image, size, inputs.choice("upscale_method", scaleMethods), context.tick)] };
  },
};
