import { channelOf, colourMask, invertRaster, maskToImage, solidMask } from "@/lib/service/images/channels";
import { type NodeDefinition } from "../definition";
import { combo, field, image, mask, output } from "./fields";

const channels = ["red", "green", "blue", "alpha"] as const;

export const maskToImageNode: NodeDefinition = {
  name: "MaskToImage",
  displayName: "Convert Mask to Image",
  description: "Shows a mask as a grey image.",
  category: "image/mask",
  inputs: [mask()],
  outputs: [output("IMAGE")],
  run(inputs, context) {
    const whole = inputs.mask("mask");
    context.claim(whole, whole.frames.length);
    return { values: [maskToImage(whole, context.tick)] };
  },
};

export const imageToMask: NodeDefinition = {
  name: "ImageToMask",
  displayName: "Convert Image to Mask",
  description: "Takes one channel as a mask. Images between nodes have no alpha, so alpha gives a mask of ones.",
  category: "image/mask",
  inputs: [image(), combo("channel", channels)],
  outputs: [output("MASK")],
  run(inputs, context) {
    const whole = inputs.image("image");
    const channel = inputs.choice("channel", channels);
    context.claim(whole, whole.frames.length);
    if (channel !== "alpha") return { values: [channelOf(whole, channel === "red" ? 0 : channel === "green" ? 1 : 2, context.tick)] };
    return { values: [solidMask(whole, 1, whole.frames.length)] };
  },
};

export const invertMask: NodeDefinition = {
  name: "InvertMask",
  displayName: "Invert Mask",
  description: "Turns 1 into 0 and 0 into 1.",
  category: "image/mask",
  inputs: [mask()],
  outputs: [output("MASK")],
  run(inputs, context) {
    const whole = inputs.mask("mask");
    context.claim(whole, whole.frames.length);
    return { values: [invertRaster(whole, context.tick)] };
  },
};

export const imageColorToMask: NodeDefinition = {
  name: "ImageColorToMask",
  displayName: "Convert Image Color to Mask",
  description: "Makes a mask that is 1 where the image has exactly one colour.",
  category: "image/mask",
  inputs: [image(), field("INT", "color", { default: 0, min: 0, max: 0xffffff, step: 1, display: "number" })],
  outputs: [output("MASK")],
  run(inputs, context) {
    const whole = inputs.image("image");
    context.claim(whole, whole.frames.length);
    return { values: [colourMask(whole, inputs.number("color"), context.tick)] };
  },
};
