import { type z } from "zod";
import { BUILT_IN_MODULE } from "@/lib/contract/nodes/input-spec";
import { type nodeInfoSchema } from "@/lib/contract/schemas/object-info";
import { type InputField, type NodeDefinition } from "./definition";
import { imageAddNoise, imageBatch, imageBlend, imageBlur, imageCompositeMasked, imageInvert, imageSharpen } from "./definitions/combine";
import { emptyImage, loadImage, loadImageMask, previewImage, saveAnimatedWebp, saveImage, solidMaskNode } from "./definitions/files";
import {
  failNode,
  previewAny,
  primitiveBoolean,
  primitiveFloat,
  primitiveInt,
  primitiveString,
  stringConcatenate,
  waitNode,
} from "./definitions/literals";
import {
  imageColorToMask,
  imageCrop,
  imageFlip,
  imagePadForOutpaint,
  imageRotate,
  imageScale,
  imageScaleBy,
  imageToMask,
  invertMask,
  maskToImageNode,
} from "./definitions/transform";

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
  waitNode,
  failNode,
];

export const nodeClasses: ReadonlyMap<string, NodeDefinition> = new Map(definitions.map((definition) => [definition.name, definition]));

type NodeInfo = z.input<typeof nodeInfoSchema>;

const commonInfo = {
  python_module: BUILT_IN_MODULE,
  output_matchtypes: null,
  has_intermediate_output: false,
  experimental: false,
  dev_only: false,
  api_node: false,
  price_badge: null,
};

export function describeLibrary({ images = [] }: { images?: readonly string[] } = {}): Record<string, NodeInfo> {
  return Object.fromEntries([...nodeClasses].map(([name, definition]) => [name, describeNode(definition, images)]));
}

export function toInputConfig(field: InputField, images: readonly string[] = []): unknown[] {
  if (field.spec) return [...field.spec];
  if (field.isListOnly) {
    const choices = field.options?.image_upload === true ? images : field.choices;
    return [[...(choices ?? [])], ...(field.options ? [field.options] : [])];
  }
  if (field.type === "COMBO") return ["COMBO", { ...field.options, options: [...(field.choices ?? [])] }];
  return [field.type, ...(field.options ? [field.options] : [])];
}

function describeNode(definition: NodeDefinition, images: readonly string[]): NodeInfo {
  const selectInputs = (isOptional: boolean) => definition.inputs.filter((field) => (field.optional ?? false) === isOptional);
  const toSpecs = (isOptional: boolean) =>
    Object.fromEntries(selectInputs(isOptional).map((field) => [field.name, toInputConfig(field, images)]));
  const listNames = (isOptional: boolean) => selectInputs(isOptional).map((field) => field.name);
  const hasOptionalInputs = selectInputs(true).length > 0;
  const { hidden } = definition;
  return {
    input: { required: toSpecs(false), ...(hasOptionalInputs ? { optional: toSpecs(true) } : {}), ...(hidden ? { hidden } : {}) },
    input_order: {
      required: listNames(false),
      ...(hasOptionalInputs ? { optional: listNames(true) } : {}),
      ...(hidden ? { hidden: Object.keys(hidden) } : {}),
    },
    is_input_list: false,
    output: definition.outputs.map(({ type }) => type),
    output_is_list: definition.outputs.map(() => false),
    output_name: definition.outputs.map(({ name }) => name),
    name: definition.name,
    display_name: definition.displayName,
    description: definition.description,
    category: definition.category,
    output_node: definition.isOutput ?? false,
    ...commonInfo,
    deprecated: definition.deprecated ?? false,
  };
}
