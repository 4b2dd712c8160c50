// Parses an input of the node catalogue. An unreadable description becomes a connection of unknown type.

import { anyText, anything, isTrue, list, number, object, type Reader, type ReaderOutput } from "../json/readers";

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
      addsInputs?: true;
      fallback?: ChoiceValue;
    }
  | { kind: "hex-color"; fallback?: string }
  | { kind: "box" }
  | { kind: "connection"; type: string };

export type Limit = number | bigint;
export type Media = "video" | "audio";
export type ChoiceValue = string | number | boolean;

export const boxEdges = ["x", "y", "width", "height"] as const;
export const WHITE = 0xffffff;

const readLimit: Reader<Limit> = (value) => (typeof value === "bigint" ? value : number(value));
const readChoiceValue: Reader<ChoiceValue> = (value) =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined;
const readSettings = object(
  {},
  {
    default: anything,
    options: list(anything),
    template: anything,
    min: readLimit,
    max: readLimit,
    step: number,
    round: anything,
    display: anyText,
    multiline: isTrue,
    dynamicPrompts: isTrue,
    image_upload: isTrue,
    video_upload: isTrue,
    audio_upload: isTrue,
    remote: anything,
    remote_combo: anything,
    forceInput: isTrue,
    socketless: isTrue,
    widgetType: anyText,
    control_after_generate: anything,
  },
);
const readKeyedOption = object({ key: readChoiceValue });
type Settings = ReaderOutput<typeof readSettings>;

/** `python_module` of the embedded service's own classes, which are validated strictly. */
export const BUILT_IN_MODULE = "nodes.lightdesk";

export function getInputType(raw: unknown): string {
  const type: unknown = Array.isArray(raw) ? raw[0] : undefined;
  return Array.isArray(type) ? "COMBO" : typeof type === "string" ? type : "*";
}

export function getSettings(raw: unknown): Settings {
  return (Array.isArray(raw) && readSettings(raw[1])) || {};
}

/** `raw` is [type, options] or [[choices], options]. Newer catalogues use ["COMBO", { options: [choices] }]. */
export function readInputSpec(name: string, raw: unknown): InputSpec {
  const type: unknown = Array.isArray(raw) ? raw[0] : undefined;
  const settings = getSettings(raw);
  if (Array.isArray(type)) return createChoiceSpec(type, settings);
  if (type === "COMBO") return createChoiceSpec(settings.options ?? [], settings);
  if (type === "COMFY_DYNAMICCOMBO_V3") {
    return { ...createChoiceSpec(settings.options?.map((option) => readKeyedOption(option)?.key) ?? [], settings), addsInputs: true };
  }
  if (type === "COLOR") return { kind: "hex-color", ...(typeof settings.default === "string" && { fallback: settings.default }) };
  if (type === "BOUNDING_BOX") return { kind: "box" };
  if (type === "INT" || type === "FLOAT") return createNumberSpec(name, type === "INT", settings);
  if (type === "STRING") {
    const fallback = typeof settings.default === "string" ? settings.default : undefined;
    return { kind: "text", multiline: settings.multiline ?? false, ...(fallback !== undefined && { fallback }) };
  }
  if (type === "BOOLEAN") return { kind: "boolean", ...(typeof settings.default === "boolean" && { fallback: settings.default }) };
  return { kind: "connection", type: typeof type === "string" ? type : "*" };
}

function createNumberSpec(name: string, integer: boolean, { min, max, step, display, default: defaultValue }: Settings): InputSpec {
  const fallback = number(defaultValue);
  const color = integer && (display === "color" || (/colou?r/i.test(name) && min === 0 && max === WHITE));
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

function createChoiceSpec(choices: readonly unknown[], settings: Settings): Extract<InputSpec, { kind: "choice" }> {
  const values = choices.flatMap((value) => readChoiceValue(value) ?? []);
  const fallback = readChoiceValue(settings.default) ?? values[0];
  const image = settings.image_upload ?? false;
  const media = settings.video_upload ? "video" : settings.audio_upload ? "audio" : undefined;
  // Lists that are filled elsewhere, and folders to which files are added, may have more values.
  const isOpen = image || media !== undefined || settings.remote !== undefined || settings.remote_combo !== undefined;
  return {
    kind: "choice",
    options: values,
    image,
    ...(media && { media }),
    ...(isOpen && { isOpen }),
    ...(fallback !== undefined && { fallback }),
  };
}

const MAX_LINE_LENGTH = 60;
const imageLoaderClasses = new Set(["LoadImage", "LoadImageMask"]);

type GuessedKind = "picture" | "switch" | "whole" | "number" | "long-text" | "text";

export function guessKind(classType: string, name: string, value: unknown): GuessedKind | undefined {
  if (name === "image" && imageLoaderClasses.has(classType)) return "picture";
  if (typeof value === "boolean") return "switch";
  if (typeof value === "bigint") return "whole";
  if (typeof value === "number") return "number";
  if (typeof value !== "string") return undefined;
  const isLong = value.includes("\n") || value.length > MAX_LINE_LENGTH || /(^|_)(text|prompt)$/i.test(name);
  return isLong ? "long-text" : "text";
}

const MAX_COMPARED_LENGTH = 200;
const MAX_COMPARED_OPTIONS = 5000;

/** The most likely intended choice: it differs only in case, folder or extension, or has the smallest edit distance. */
export function findNearestOption(value: unknown, options: readonly ChoiceValue[]): ChoiceValue | undefined {
  const target = normalizeChoice(String(value));
  if (target === "" || target.length > MAX_COMPARED_LENGTH) return undefined;
  let nearest: { option: ChoiceValue; edits: number } | undefined;
  for (const option of options.slice(0, MAX_COMPARED_OPTIONS)) {
    const text = normalizeChoice(String(option));
    const maxEdits = Math.min(Math.floor(Math.max(target.length, text.length) / 2), (nearest?.edits ?? Infinity) - 1);
    if (text.length > MAX_COMPARED_LENGTH || Math.abs(text.length - target.length) > maxEdits) continue;
    const edits = computeEditDistance(target, text);
    if (edits <= maxEdits) nearest = { option, edits };
  }
  return nearest?.option;
}

function normalizeChoice(text: string): string {
  return text
    .toLowerCase()
    .replace(/^.*[\\/]/, "")
    .replace(/\.[a-z0-9]{1,12}$/, "");
}

function computeEditDistance(text: string, otherText: string): number {
  let previousRow = Array.from({ length: otherText.length + 1 }, (_, index) => index);
  for (let row = 1; row <= text.length; row++) {
    const currentRow = [row];
    for (let column = 1; column <= otherText.length; column++) {
      const substitutionCost = (previousRow[column - 1] ?? 0) + (text[row - 1] === otherText[column - 1] ? 0 : 1);
      currentRow.push(Math.min(substitutionCost, (previousRow[column] ?? 0) + 1, (currentRow[column - 1] ?? 0) + 1));
    }
    previousRow = currentRow;
  }
  return previousRow[otherText.length] ?? 0;
}
