// The values of the input that varies between a run's copies.
// Guarantees: pure; bounded; an unsendable value is a reason; masked or secret values never become labels.

import { type ChoiceValue, WHITE } from "@/lib/contract/nodes/input-spec";
import { truncateText } from "@/lib/contract/plain-line";
import { isSecretName } from "@/lib/contract/secrets/mask-secrets";
import { MAX_BATCH_SIZE } from "@/lib/contract/workflow/submission";
import { type FormField, isSeed, randomSeed } from "../form/form-model";

/** Keeps every digit of a whole number, since a seed may have twenty. Undefined if the text is not a number. */
function toNumber(text: string): number | bigint | undefined {
  const typed = text.trim().replace(/^\+/, "");
  if (!/^-?(\d{1,40}\.?\d{0,20}|\.\d{1,20})$/.test(typed)) return undefined;
  const number = Number(typed);
  return Number.isSafeInteger(number) || !/^-?\d+$/.test(typed) ? number : BigInt(typed);
}

/** Both ends are inclusive; the step's sign is ignored. Returns at most `maxCount` + 1 values. */
function getSteps(from: Value, to: Value, step: Value, maxCount: number): Value[] {
  return [from, to, step].every(isWhole)
    ? getWholeSteps(BigInt(from), BigInt(to), BigInt(step), maxCount)
    : getFractionSteps(Number(from), Number(to), Number(step), maxCount);
}

type Value = number | bigint;
const isWhole = (value: Value) => typeof value === "bigint" || Number.isInteger(value);

/** Exact, as a seed may have twenty digits. */
function getWholeSteps(from: bigint, to: bigint, step: bigint, maxCount: number): Value[] {
  const size = to < from === step < 0n ? step : -step;
  const count = Number((to - from) / size) + 1;
  return Array.from({ length: Math.min(count, maxCount + 1) }, (_, index) => toNumber(String(from + size * BigInt(index))) ?? from);
}

function getFractionSteps(from: number, to: number, step: number, maxCount: number): number[] {
  const size = to < from ? -Math.abs(step) : Math.abs(step);
  const count = Math.floor((to - from) / size + 1e-9) + 1;
  // Rounded, so that 0.1 and 0.2 are 0.3.
  return Array.from({ length: Math.min(count, maxCount + 1) }, (_, index) => Number((from + size * index).toPrecision(15)));
}

export const MAX_COPIES = MAX_BATCH_SIZE;
const MAX_LABEL_VALUE = 60;
/** From this value on, fractions are too small a change to vary. */
const MIN_WHOLE_STEP_RANGE = 10;

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
  | { why: "none" | "no_range" | "no_step" | "no_count" }
  | { why: "too_many"; max: number }
  | { why: "no_number"; line: number; text: string }
  | { why: "too_small" | "too_big"; value: string; limit: string }
  | { why: "not_whole"; value: string };
export type Variation = { ok: true; values: readonly Literal[] } | { ok: false; problem: VariationProblem };

/** The suggested step: whole for whole numbers, seeds and sizes; for a fraction, large enough to see a difference. */
export function firstStep({ name, value, control }: FormField): string {
  if (control.kind !== "number") return "1";
  const { integer, step, min, max } = control;
  const isWhole = typeof value === "bigint" || Number.isInteger(value);
  if (integer || isSeed(name, control) || (isWhole && (step === undefined || Number(value) >= MIN_WHOLE_STEP_RANGE))) {
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

export function parseVariation(field: FormField, kind: VariationKind, typed: VariationInput): Variation {
  const parsedValues = parseValues(field, kind, typed);
  if (!Array.isArray(parsedValues)) return { ok: false, problem: parsedValues };
  if (parsedValues.length === 0) return { ok: false, problem: { why: "none" } };
  if (parsedValues.length > MAX_COPIES) return { ok: false, problem: { why: "too_many", max: MAX_COPIES } };
  const rangeProblem = outOfRange(field, parsedValues);
  return rangeProblem ? { ok: false, problem: rangeProblem } : { ok: true, values: parsedValues };
}

function parseValues(field: FormField, kind: VariationKind, typed: VariationInput): Literal[] | VariationProblem {
  switch (kind) {
    case "chosen":
      return getOptions(field).filter((option) => typed.chosen.includes(option));
    case "pictures":
      return [...typed.pictures];
    case "random": {
      const count = Number(typed.count);
      if (!Number.isInteger(count) || count < 1) return { why: "no_count" };
      return count > MAX_COPIES ? { why: "too_many", max: MAX_COPIES } : randomSeeds(field, count);
    }
    case "range": {
      const [from, to, step] = [toNumber(typed.from), toNumber(typed.to), toNumber(typed.step)];
      if (from === undefined || to === undefined) return { why: "no_range" };
      return step === undefined || Number(step) === 0 ? { why: "no_step" } : getSteps(from, to, step, MAX_COPIES);
    }
    case "list":
      return field.control.kind === "number" || field.control.kind === "color" ? parseNumbers(typed.list) : parseTexts(typed.list);
  }
}

/** The seeds are distinct if the range is large enough. */
function randomSeeds({ control }: FormField, count: number): Literal[] {
  const seeds = new Set<number>();
  for (let tried = 0; seeds.size < count && tried < count * 20; tried++) seeds.add(randomSeed(control));
  return [...seeds];
}

function parseNumbers(list: string): Literal[] | VariationProblem {
  const values: Literal[] = [];
  for (const [index, line] of list.split("\n").entries()) {
    for (const part of line.split(/[,;\s]+/).filter((text) => text !== "")) {
      const value = toNumber(part);
      if (value === undefined) return { why: "no_number", line: index + 1, text: part.slice(0, MAX_LABEL_VALUE) };
      values.push(value);
    }
  }
  return values;
}

/** One value per line. With --- lines, the text between two of them is one value. */
function parseTexts(list: string): Literal[] {
  const parts = /^---$/m.test(list) ? list.split(/^---$/m).map((part) => part.replace(/^\n|\n$/g, "")) : list.split("\n");
  return parts.filter((part) => part.trim() !== "");
}

function outOfRange({ control }: FormField, values: readonly Literal[]): VariationProblem | undefined {
  if (control.kind !== "number" && control.kind !== "color") return undefined;
  const { min, max, integer } = control.kind === "color" ? { integer: true, min: 0, max: WHITE, ...control } : control;
  for (const value of values) {
    if (typeof value !== "number" && typeof value !== "bigint") continue;
    if (integer && typeof value === "number" && !Number.isInteger(value)) return { why: "not_whole", value: String(value) };
    if (min !== undefined && value < min) return { why: "too_small", value: String(value), limit: String(min) };
    if (max !== undefined && value > max) return { why: "too_big", value: String(value), limit: String(max) };
  }
  return undefined;
}

/** "3/12 · seed 41": identifies this copy in every list of jobs. */
export function getCopyLabel(name: string, value: Literal, { index, total }: { index: number; total: number }): string {
  const position = `${index + 1}/${total}`;
  return isSecretName(name) ? `${position} · ${name}` : `${position} · ${name} ${shownValue(value)}`;
}

export function shownValue(value: Literal): string {
  return truncateText(String(value).replace(/\s+/g, " ").trim(), MAX_LABEL_VALUE);
}
