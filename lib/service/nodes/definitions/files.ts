import { type DecodedImage, toDecodedImage } from "@/lib/service/images/decode";
import { encodeAnimatedWebp, encodePng } from "@/lib/service/images/encode";
import { createSolidImage, createSolidMask, extractChannelMask, invertRaster } from "@/lib/service/images/geometry";
import { createStages, getFrame, type Raster, type Tick } from "@/lib/service/images/raster";
import {
  createBareImageField,
  createComboField,
  createDisplayName,
  createField,
  createImageField,
  createListField,
  createOutput,
  createPixelField,
  type NodeContext,
  type NodeDefinition,
  NodeFailure,
} from "../definition";
import { CancelledError } from "../run";

const channels = ["alpha", "red", "green", "blue"] as const;

/** Creates the mask of a file without alpha: 64 x 64 zeros, with one frame for each frame of the image. */
const createEmptyMask = ({ frames }: Raster) => createSolidMask({ width: 64, height: 64 }, 0, frames.length);

async function loadFile(name: string, context: NodeContext, tick: Tick): Promise<DecodedImage> {
  const path = context.getImagePath(name);
  try {
    return toDecodedImage(await context.readPixels(path), tick);
  } catch (cause) {
    if (cause instanceof NodeFailure || cause instanceof CancelledError) throw cause;
    const reason = (cause instanceof Error ? cause.message : String(cause)).replaceAll(path, "the stored file");
    throw new NodeFailure("ImageDecodeError", `The image file "${name}" cannot be read: ${reason}`, { cause });
  }
}

export const loadImage: NodeDefinition = {
  name: "LoadImage",
  displayName: "Load Image",
  description: "Reads an image file. The mask is 1 where the file is transparent.",
  category: "image",
  inputs: [createListField("image", [], { image_upload: true })],
  outputs: [createOutput("IMAGE"), createOutput("MASK")],
  imageInput: "image",
  async run(inputs, context) {
    const nextStage = createStages(context.tick, 2);
    const { image, alpha } = await loadFile(inputs.text("image"), context, nextStage());
    return { values: [image, alpha ? invertRaster(alpha, nextStage()) : createEmptyMask(image)] };
  },
};

export const loadImageMask: NodeDefinition = {
  name: "LoadImageMask",
  displayName: "Load Image (as Mask)",
  description: "Reads one channel of an image file as a mask. The alpha channel is inverted: 1 where the file is transparent.",
  category: "image",
  inputs: [createListField("image", [], { image_upload: true }), createListField("channel", channels)],
  outputs: [createOutput("MASK")],
  imageInput: "image",
  async run(inputs, context) {
    const channel = inputs.choice("channel", channels);
    const nextStage = createStages(context.tick, 2);
    const { image, alpha } = await loadFile(inputs.text("image"), context, nextStage());
    if (channel !== "alpha")
      return { values: [extractChannelMask(image, channel === "red" ? 0 : channel === "green" ? 1 : 2, nextStage())] };
    return { values: [alpha ? invertRaster(alpha, nextStage()) : createEmptyMask(image)] };
  },
};

export const emptyImage: NodeDefinition = {
  name: "EmptyImage",
  displayName: "Empty Image",
  description: "Creates a batch of images of one color.",
  category: "image",
  inputs: [
    createPixelField("width", 512, 1),
    createPixelField("height", 512, 1),
    createField("INT", "batch_size", { default: 1, min: 1, max: 4096 }),
    createField("INT", "color", { default: 0, min: 0, max: 0xffffff, step: 1, display: "color" }),
  ],
  outputs: [createOutput("IMAGE")],
  run(inputs, context) {
    const size = { width: inputs.number("width"), height: inputs.number("height") };
    const count = inputs.number("batch_size");
    context.claimPixels(size, count);
    return { values: [createSolidImage(size, inputs.number("color"), count)] };
  },
};

export const solidMaskNode: NodeDefinition = {
  name: "SolidMask",
  displayName: "Create Solid Mask",
  description: "Creates a mask of one value.",
  category: "image/mask",
  inputs: [
    createField("FLOAT", "value", { default: 1, min: 0, max: 1, step: 0.01 }),
    createPixelField("width", 512, 1),
    createPixelField("height", 512, 1),
  ],
  outputs: [createOutput("MASK")],
  run(inputs, context) {
    const size = { width: inputs.number("width"), height: inputs.number("height") };
    context.claimPixels(size, 1);
    return { values: [createSolidMask(size, inputs.number("value"))] };
  },
};

const hiddenInputs = { prompt: "PROMPT", extra_pnginfo: "EXTRA_PNGINFO" };
const methods = ["default", "fastest", "slowest"] as const;
const effortByMethod = { default: 4, fastest: 0, slowest: 6 };

type PngOptions = { prefix: string; type: "output" | "temp"; compressionLevel: number };

async function savePngs(images: Raster, options: PngOptions, context: NodeContext): Promise<void> {
  const size = { width: images.width, height: images.height };
  const nextStage = createStages(context.tick, images.frames.length);
  for (const index of images.frames.keys()) {
    const { compressionLevel } = options;
    context.tick(index / images.frames.length, { ...images, frames: [getFrame(images, index)] });
    const content = await encodePng(images, index, { compressionLevel, texts: context.pngText }, nextStage());
    const name = createDisplayName(options.prefix, { size, frame: index, extension: "png" }, context);
    await context.saveFile({ content, extension: "png", mimeType: "image/png", displayName: name, size, type: options.type });
  }
}

export const saveImage: NodeDefinition = {
  name: "SaveImage",
  displayName: "Save Image",
  description: "Saves each image of the batch as a PNG file.",
  category: "image",
  inputs: [createImageField("images"), createField("STRING", "filename_prefix", { default: "ComfyUI" })],
  hidden: hiddenInputs,
  outputs: [createOutput("IMAGE", "images")],
  isOutput: true,
  async run(inputs, context) {
    const images = inputs.image("images");
    await savePngs(images, { prefix: inputs.text("filename_prefix"), type: "output", compressionLevel: 4 }, context);
    return { values: [images] };
  },
};

export const previewImage: NodeDefinition = {
  name: "PreviewImage",
  displayName: "Preview Image",
  description: "Shows each image of the batch without saving it as an output.",
  category: "image",
  inputs: [createBareImageField("images")],
  hidden: hiddenInputs,
  outputs: [createOutput("IMAGE", "images")],
  isOutput: true,
  async run(inputs, context) {
    const images = inputs.image("images");
    await savePngs(images, { prefix: "preview", type: "temp", compressionLevel: 1 }, context);
    return { values: [images] };
  },
};

export const saveAnimatedWebp: NodeDefinition = {
  name: "SaveAnimatedWEBP",
  displayName: "Save Animated WEBP",
  description: "Saves the batch as one animation.",
  category: "image",
  inputs: [
    createImageField("images"),
    createField("STRING", "filename_prefix", { default: "ComfyUI", multiline: false }),
    createField("FLOAT", "fps", { default: 6, min: 0.01, max: 1000, step: 0.01 }),
    createField("BOOLEAN", "lossless", { default: true }),
    createField("INT", "quality", { default: 80, min: 0, max: 100 }),
    createComboField("method", methods),
  ],
  hidden: { prompt: ["PROMPT"], extra_pnginfo: ["EXTRA_PNGINFO"] },
  outputs: [createOutput("IMAGE", "images")],
  isOutput: true,
  async run(inputs, context) {
    const images = inputs.image("images");
    const size = { width: images.width, height: images.height };
    const options = {
      delayMs: Math.max(1, Math.trunc(1000 / inputs.number("fps"))),
      lossless: inputs.flag("lossless"),
      quality: Math.max(1, inputs.number("quality")),
      effort: effortByMethod[inputs.choice("method", methods)],
      texts: context.pngText,
    };
    const content = await encodeAnimatedWebp(images, options, context.tick);
    const name = createDisplayName(inputs.text("filename_prefix"), { size, frame: 0, extension: "webp" }, context);
    const animated = images.frames.length > 1;
    await context.saveFile({ content, extension: "webp", mimeType: "image/webp", displayName: name, size, animated, type: "output" });
    return { values: [images] };
  },
};
