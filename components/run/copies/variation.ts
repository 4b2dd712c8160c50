// The values of the input that varies between a run's copies.
// Guarantees: pure and bounded. Values that can't be sent are returned as problems. Masked or secret values never become labels.

import { type ChoiceValue, WHITE } from "@/lib/contract/nodes/input-spec";
import { truncateText } from "@/lib/contract/plain-line";
import { isSecretName } from "@/lib/contract/secrets/mask-secrets";
import { MAX_BATCH_SIZE } from "@/lib/contract/workflow/submission";
import { drawRandomSeed, type FormField, isSeed } from "../form/form-model";

/** Keeps every digit of an integer, since a seed may have twenty. Undefined if the text is not a number. */
function parseNumber(text: string): number | bigint | undefined {
  const numberText = text.trim().replace(/^\+/, "");
  if (!/^-?(\d{1,40}\.?\d{0,20}|\.\d{1,20})$/.test(numberText)) return undefined;
  const number = Number(numberText);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(numberText) ? number : BigInt(numberText);
}

/** Both ends are inclusive. The step's sign is ignored. Returns at most `maxCount` + 1 values. */
function getSteps(from: Value, to: Value, step: Value, maxCount: number): Value[] {
  return [from, to, step].every(isInteger)
    ? getIntegerSteps(BigInt(from), BigInt(to), BigInt(step), maxCount)
    : getFractionSteps(Number(from), Number(to), Number(step), maxCount);
}

type Value = number | bigint;
const isInteger = (value: Value) => typeof value === "bigint" || Number.isInteger(value);

/** Exact, as a seed may have twenty digits. */
function getIntegerSteps(from: bigint, to: bigint, step: bigint, maxCount: number): Value[] {
  const delta = to < from === step < 0n ? step : -step;
  const count = Number((to - from) / delta) + 1;
  return Array.from({ length: Math.min(count, maxCount + 1) }, (_, index) => parseNumber(String(from + delta * BigInt(index))) ?? from);
}

function getFractionSteps(from: number, to: number, step: number, maxCount: number): number[] {
  const delta = to < from ? -Math.abs(step) : Math.abs(step);
  const count = Math.floor((to - from) / delta + 1e-9) + 1;
  // Rounded, so that 0.1 + 0.2 is 0.3.
  return Array.from({ length: Math.min(count, maxCount + 1) }, (_, index) => Number((from + delta * index).toPrecision(15)));
}

export const MAX_COPIES = MAX_BATCH_SIZE;
const MAX_LABEL_LENGTH = 60;
/** From this value on, the default step is an integer. */
const MIN_VALUE_FOR_INTEGER_STEP = 10;

export type Literal = ChoiceValue | bigint;
export const variationKinds = ["list", "range", "random", "chosen", "pictures"] as const;
export type VariationKind = (typeof variationKinds)[number];

/** The typed values of each kind, so that switching between kinds loses nothing. */
export type VariationInput = {
  list: string;
  from: string;
  to: string;
  step: string;
  count: string;
  chosen: readonly Literal[];
  pictures: readonly string[];
};

export type VariationProblem =
  | { code: "none" | "no_choice" | "no_pictures" | "no_range" | "no_step" | "no_count" }
  | { code: "too_many"; max: number }
  | { code: "no_number"; line: number; text: string }
  | { code: "too_small" | "too_big"; value: string; limit: string }
  | { code: "not_whole"; value: string };
export type Variation = { ok: true; values: readonly Literal[] } | { ok: false; problem: VariationProblem };

/** Returns an integer step for integers, seeds and sizes. For a fraction, the step is large enough to see a difference. */
export function getDefaultStep({ name, value, control }: FormField): string {
  if (control.kind !== "number") return "1";
  const { integer, step, min, max } = control;
  const isIntegerValue = typeof value === "bigint" || Number.isInteger(value);
  if (integer || isSeed(name, control) || (isIntegerValue && (step === undefined || Number(value) >= MIN_VALUE_FOR_INTEGER_STEP))) {
    return String(Math.max(1, Math.round(step ?? 1)));
  }
  const isNarrow = min !== undefined && max !== undefined && Number(max) - Number(min) < 1;
  return String(step !== undefined && (isNarrow || step >= 0.05) ? step : 0.1);
}

export function getVariationKinds({ name, control }: FormField): readonly VariationKind[] {
  switch (control.kind) {
    case "number":
      return isSeed(name, control) ? ["random", "range", "list"] : ["range", "list", ...(control.integer ? (["random"] as const) : [])];
    case "color":
      return ["list", "range"];
    case "switch":
      return ["chosen"];
    case "choice":
      // A choice that adds inputs would run with values that were never shown.
      return control.addsInputs ? [] : ["chosen"];
    case "image":
      return ["pictures", "list"];
    case "text":
    case "long-text":
      return ["list"];
    default:
      return [];
  }
}

export function getOptions({ control }: FormField): readonly Literal[] {
  if (control.kind === "switch") return [true, false];
  return control.kind === "choice" ? control.options : [];
}

export function parseVariation(field: FormField, kind: VariationKind, input: VariationInput): Variation {
  const parsedValues = parseValues(field, kind, input);
  if (!Array.isArray(parsedValues)) return { ok: false, problem: parsedValues };
  if (parsedValues.length === 0)
    return { ok: false, problem: { code: kind === "pictures" ? "no_pictures" : kind === "chosen" ? "no_choice" : "none" } };
  if (parsedValues.length > MAX_COPIES) return { ok: false, problem: { code: "too_many", max: MAX_COPIES } };
  const numberProblem = findNumberProblem(field, parsedValues);
  return numberProblem ? { ok: false, problem: numberProblem } : { ok: true, values: parsedValues };
}

function parseValues(field: FormField, kind: VariationKind, input: VariationInput): Literal[] | VariationProblem {
  switch (kind) {
    case "chosen":
      return getOptions(field).filter((option) => input.chosen.includes(option));
    case "pictures":
      return [...input.pictures];
    case "random": {
      const count = Number(input.count);
      if (!Number.isInteger(count) || count < 1) return { code: "no_count" };
      return count > MAX_COPIES ? { code: "too_many", max: MAX_COPIES } : drawRandomSeeds(field, count);
    }
    case "range": {
      const [from, to, step] = [parseNumber(input.from), parseNumber(input.to), parseNumber(input.step)];
      if (from === undefined || to === undefined) return { code: "no_range" };
      return step === undefined || Number(step) === 0 ? { code: "no_step" } : getSteps(from, to, step, MAX_COPIES);
    }
    case "list":
      return field.control.kind === "number" || field.control.kind === "color" ? parseNumbers(input.list) : parseTexts(input.list);
  }
}

/** The seeds are distinct if the range is large enough. */
function drawRandomSeeds({ control }: FormField, count: number): Literal[] {
  const seeds = new Set<number>();
  for (let attempts = 0; seeds.size < count && attempts < count * 20; attempts++) seeds.add(drawRandomSeed(control));
  return [...seeds];
}

function parseNumbers(list: string): Literal[] | VariationProblem {
  const values: Literal[] = [];
  for (const [index, line] of list.split("\n").entries()) {
    for (const part of line.split(/[,;\s]+/).filter((text) => text !== "")) {
      const value = parseNumber(part);
      if (value === undefined) return { code: "no_number", line: index + 1, text: part.slice(0, MAX_LABEL_LENGTH) };
      values.push(value);
    }
  }
  return values;
}

/** One value per line. With --- lines, the text between two of them is one value. */
function parseTexts(list: string): Literal[] {
  const blocks = /^---$/m.test(list) ? list.split(/^---$/m).map((part) => part.replace(/^\n|\n$/g, "")) : list.split("\n");
  return blocks.filter((part) => part.trim() !== "");
}

function findNumberProblem({ control }: FormField, values: readonly Literal[]): VariationProblem | undefined {
  if (control.kind !== "number" && control.kind !== "color") return undefined;
  const { min, max, integer } = control.kind === "color" ? { integer: true, min: 0, max: WHITE, ...control } : control;
  for (const value of values) {
    if (typeof value !== "number" && typeof value !== "bigint") continue;
    if (integer && typeof value === "number" && !Number.isInteger(value)) return { code: "not_whole", value: String(value) };
    if (min !== undefined && value < min) return { code: "too_small", value: String(value), limit: String(min) };
    if (max !== undefined && value > max) return { code: "too_big", value: String(value), limit: String(max) };
  }
  return undefined;
}

/** "3/12 · seed 41": identifies this copy in every list of jobs. */
export function getCopyLabel(name: string, value: Literal, { index, total }: { index: number; total: number }): string {
  const position = `${index + 1}/${total}`;
  return isSecretName(name) ? `${position} · ${name}` : `${position} · ${name} ${formatValue(value)}`;
}

export function formatValue(value: Literal): string {
  return truncateText(String(value).replace(/\s+/g, " ").trim(), MAX_LABEL_LENGTH);
}
