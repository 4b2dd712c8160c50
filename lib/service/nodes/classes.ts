// All node classes by name, in the order of the catalogue. A new class is added here and nowhere else.

import { type NodeDefinition } from "./definition";
import { imageAddNoise, imageBatch, imageBlend, imageBlur, imageCompositeMasked, imageInvert, imageSharpen } from "./definitions/combine";
import {
  fail,
  previewAny,
  primitiveBoolean,
  primitiveFloat,
  primitiveInt,
  primitiveString,
  stringConcatenate,
  wait,
} from "./definitions/literals";
import { emptyImage, loadImage, loadImageMask, solidMaskNode } from "./definitions/load";
import { imageColorToMask, imageToMask, invertMask, maskToImageNode } from "./definitions/masks";
import { previewImage, saveAnimatedWebp, saveImage } from "./definitions/save";
import { imageCrop, imageFlip, imagePadForOutpaint, imageRotate, imageScale, imageScaleBy } from "./definitions/transform";

const definitions: readonly NodeDefinition[] = [
  loadImage,
  loadImageMask,
  emptyImage,
  solidMaskNode,
  imageScale,
  imageScaleBy,
  imageCrop,
  imagePadForOutpaint,
  imageInvert,
  imageBlend,
  imageBlur,
  imageSharpen,
  imageAddNoise,
  imageRotate,
  imageFlip,
  imageBatch,
  imageCompositeMasked,
  maskToImageNode,
  imageToMask,
  invertMask,
  imageColorToMask,
  saveImage,
  previewImage,
  saveAnimatedWebp,
  primitiveInt,
  primitiveFloat,
  primitiveString,
  primitiveBoolean,
  stringConcatenate,
  previewAny,
  wait,
  fail,
];

export const classes: ReadonlyMap<string, NodeDefinition> = new Map(definitions.map((definition) => [definition.name, definition]));
