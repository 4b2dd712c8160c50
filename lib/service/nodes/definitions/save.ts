// Nodes that put out pictures. Each picture is a file of the job, and carries the graph.

import { encodeAnimatedWebp, encodePng } from "@/lib/service/images/encode";
import { stages } from "@/lib/service/images/frame";
import { type Raster } from "@/lib/service/images/raster";
import { type NodeContext, type NodeDefinition } from "../definition";
import { displayName } from "../display-name";
import { bareImage, combo, field, image, output } from "./fields";

const graphText = { prompt: "PROMPT", extra_pnginfo: "EXTRA_PNGINFO" };
const methods = ["default", "fastest", "slowest"] as const;
const effort = { default: 4, fastest: 0, slowest: 6 };

type PngPlan = { prefix: string; type: "output" | "temp"; compressionLevel: number };

async function savePngs(pictures: Raster, plan: PngPlan, context: NodeContext): Promise<void> {
  const size = { width: pictures.width, height: pictures.height };
  const nextStage = stages(context.tick, pictures.frames.length);
  for (const index of pictures.frames.keys()) {
    const { compressionLevel } = plan;
    const content = await encodePng(pictures, index, { compressionLevel, texts: context.pngText }, nextStage());
    const name = displayName(plan.prefix, { size, frame: index, extension: "png" }, context);
    await context.save({ content, extension: "png", mimeType: "image/png", displayName: name, size, type: plan.type });
  }
}

export const saveImage: NodeDefinition = {
  name: "SaveImage",
  displayName: "Save Image",
  description: "Keeps each image of the batch as a PNG file.",
  category: "image",
  inputs: [image("images"), field("STRING", "filename_prefix", { default: "ComfyUI" })],
  hidden: graphText,
  outputs: [output("IMAGE", "images")],
  isOutput: true,
  async run(inputs, context) {
    const pictures = inputs.image("images");
    await savePngs(pictures, { prefix: inputs.text("filename_prefix"), type: "output", compressionLevel: 4 }, context);
    return { values: [pictures] };
  },
};

export const previewImage: NodeDefinition = {
  name: "PreviewImage",
  displayName: "Preview Image",
  description: "Shows each image of the batch without keeping it as an output.",
  category: "image",
  inputs: [bareImage("images")],
  hidden: graphText,
  outputs: [output("IMAGE", "images")],
  isOutput: true,
  async run(inputs, context) {
    const pictures = inputs.image("images");
    await savePngs(pictures, { prefix: "preview", type: "temp", compressionLevel: 1 }, context);
    return { values: [pictures] };
  },
};

export const saveAnimatedWebp: NodeDefinition = {
  name: "SaveAnimatedWEBP",
  displayName: "Save Animated WEBP",
  description: "Keeps the batch as one animation.",
  category: "image",
  inputs: [
    image("images"),
    field("STRING", "filename_prefix", { default: "ComfyUI", multiline: false }),
    field("FLOAT", "fps", { default: 6, min: 0.01, max: 1000, step: 0.01 }),
    field("BOOLEAN", "lossless", { default: true }),
    field("INT", "quality", { default: 80, min: 0, max: 100 }),
    combo("method", methods),
  ],
  hidden: { prompt: ["PROMPT"], extra_pnginfo: ["EXTRA_PNGINFO"] },
  outputs: [output("IMAGE", "images")],
  isOutput: true,
  async run(inputs, context) {
    const pictures = inputs.image("images");
    const size = { width: pictures.width, height: pictures.height };
    const options = {
      delayMs: Math.max(1, Math.trunc(1000 / inputs.number("fps"))),
      lossless: inputs.flag("lossless"),
      quality: Math.max(1, inputs.number("quality")),
      effort: effort[inputs.choice("method", methods)],
      texts: context.pngText,
    };
    const content = await encodeAnimatedWebp(pictures, options, context.tick);
    const name = displayName(inputs.text("filename_prefix"), { size, frame: 0, extension: "webp" }, context);
    const animated = pictures.frames.length > 1;
    await context.save({ content, extension: "webp", mimeType: "image/webp", displayName: name, size, animated, type: "output" });
    return { values: [pictures] };
  },
};
