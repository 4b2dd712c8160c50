// What the service's node catalogue (GET /api/object_info) says about one input, as one small union.
// Never throws: a description it cannot read is a connection of unknown type, so the form falls back to guessing by value.

import { isObject, numberOf } from "@/lib/contract/json/json";

export type InputSpec =
  | { kind: "number"; integer: boolean; min?: Limit; max?: Limit; step?: number; color: boolean; fallback?: number }
  | { kind: "text"; multiline: boolean; fallback?: string }
  | { kind: "boolean"; fallback?: boolean }
  | {
      kind: "choice";
      options: readonly ChoiceValue[];
      image: boolean;
      media?: Media;
      isOpen?: true;
      bringsInputs?: true;
      fallback?: ChoiceValue;
    }
  | { kind: "hex-color"; fallback?: string }
  | { kind: "box" }
  | { kind: "connection"; type: string };

/** A seed's largest value is beyond what a double holds. */
export type Limit = number | bigint;
/** Files of the server that are chosen from and added to; pictures have a control of their own. */
export type Media = "video" | "audio";
export type ChoiceValue = string | number | boolean;

/** Of a bounding box, in pixels. */
export const boxEdges = ["x", "y", "width", "height"] as const;
/** The largest colour that is one whole number. */
export const WHITE = 0xffffff;

/** `raw` is [type, options] or [[choices], options]; newer catalogues say ["COMBO", { options: [choices] }]. */
export function readInputSpec(name: string, raw: unknown): InputSpec {
  const [type, second]: unknown[] = Array.isArray(raw) ? raw : [];
  const options = isObject(second) ? second : {};
  if (Array.isArray(type)) return choice(type, options);
  if (type === "COMBO") return choice(Array.isArray(options.options) ? options.options : [], options);
  if (type === "COMFY_DYNAMICCOMBO_V3") {
    return { ...choice(Array.isArray(options.options) ? options.options.map(keyOf) : [], options), bringsInputs: true };
  }
  if (type === "COLOR") return { kind: "hex-color", ...(typeof options.default === "string" && { fallback: options.default }) };
  if (type === "BOUNDING_BOX") return { kind: "box" };
  if (type === "INT" || type === "FLOAT") return number(name, type === "INT", options);
  if (type === "STRING") {
    const fallback = typeof options.default === "string" ? options.default : undefined;
    return { kind: "text", multiline: options.multiline === true, ...(fallback !== undefined && { fallback }) };
  }
  if (type === "BOOLEAN") return { kind: "boolean", ...(typeof options.default === "boolean" && { fallback: options.default }) };
  return { kind: "connection", type: typeof type === "string" ? type : "*" };
}

function number(name: string, integer: boolean, options: Record<string, unknown>): InputSpec {
  const min = limitOf(options.min);
  const max = limitOf(options.max);
  const step = numberOf(options.step);
  const fallback = numberOf(options.default);
  const color = integer && (options.display === "color" || (/colou?r/i.test(name) && min === 0 && max === WHITE));
  return {
    kind: "number",
    integer,
    color,
    ...(min !== undefined && { min }),
    ...(max !== undefined && { max }),
    ...(step !== undefined && { step }),
    ...(fallback !== undefined && { fallback }),
  };
}

function limitOf(value: unknown): Limit | undefined {
  return typeof value === "bigint" ? value : numberOf(value);
}

function choice(choices: readonly unknown[], options: Record<string, unknown>): Extract<InputSpec, { kind: "choice" }> {
  const values = choices.filter(isChoiceValue);
  const fallback = isChoiceValue(options.default) ? options.default : values[0];
  const image = options.image_upload === true;
  const media = options.video_upload === true ? "video" : options.audio_upload === true ? "audio" : undefined;
  // Lists that are filled elsewhere, and folders that files are added to, know not all of their values.
  const isOpen = image || media !== undefined || options.remote !== undefined || options.remote_combo !== undefined;
  return {
    kind: "choice",
    options: values,
    image,
    ...(media && { media }),
    ...(isOpen && { isOpen }),
    ...(fallback !== undefined && { fallback }),
  };
}

function keyOf(option: unknown): unknown {
  return isObject(option) ? option.key : undefined;
}

function isChoiceValue(value: unknown): value is ChoiceValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
