import { type Choices, type InputField, type OutputField } from "../definition";

type Options = NonNullable<InputField["options"]>;

export function field(type: string, name: string, options?: Options): InputField {
  return options === undefined ? { name, type } : { name, type, options };
}

export function optional(input: InputField): InputField {
  return { ...input, optional: true };
}

export function bareList(name: string, choices: Choices, options?: Options): InputField {
  return { ...field("COMBO", name, options), choices, bareList: true };
}

export function combo(name: string, choices: Choices): InputField {
  return { name, type: "COMBO", choices, options: { multiselect: false } };
}

export function pixels(name: string, preset: number, min: number, step = 1): InputField {
  return field("INT", name, { default: preset, min, max: 16384, step });
}

export function output(type: string, name = type): OutputField {
  return { type, name };
}

export const image = (name = "image") => field("IMAGE", name, {});
export const bareImage = (name = "image") => field("IMAGE", name);
export const mask = (name = "mask") => field("MASK", name, {});
