// Checks an app's inputs and writes them into its graph. Problems name the input's label, never a node. Doesn't import zod, to keep it out
// of browser bundles.

import { copySpellings, getSpelling, setSpelling } from "../json/exact-json";
import { getOwn } from "../json/json";
import { parseJson } from "../json/parse-json";
import { type Graph } from "../schemas/graph";
import { isSecretName } from "../secrets/mask-secrets";
import { type AppControl, type AppField, type AppInput, type AppValue, type AppValues } from "./definition";

const MAX_TEXT_LENGTH = 100_000;
export const RANDOM = "random";
const MAX_SEED = 2 ** 32 - 1;

type AppForm = { inputs: readonly AppInput[]; graph: Graph };
export type AppProblem = {
  input: string;
  label: string;
  control?: AppControl["kind"];
  code:
    | "missing"
    | "wrong_type"
    | "not_whole"
    | "too_small"
    | "too_large"
    | "too_long"
    | "not_a_choice"
    | "unknown_input"
    | "not_yours"
    | "file_too_large"
    | "too_many_pixels"
    | "unreadable_file"
    | "not_taken";
  limit?: number | bigint;
};
type RejectedValues = { ok: false; problems: AppProblem[] };
export type FilledApp = { ok: true; graph: Graph; values: AppValues } | RejectedValues;
type CheckedValue = { ok: true; value: AppValue } | { ok: false; problem: AppProblem };

export function isFileKind(kind: AppControl["kind"]): kind is "picture" | "video" | "audio" {
  return kind === "picture" || kind === "video" || kind === "audio";
}

/** Missing inputs get their defaults. Without a default, the graph's value remains. `random` returns at least 0 and less than 1. */
export function fillApp(
  { inputs, graph }: AppForm,
  inputValues: Readonly<Record<string, unknown>>,
  random: () => number = Math.random,
): FilledApp {
  const result = checkInputs(inputs, inputValues, random);
  if (!result.ok) return result;
  const filledNodes = new Map(Object.entries(graph));
  for (const { name, also: otherRefs = [], ...firstRef } of inputs) {
    const value = getOwn(result.values, name);
    for (const { node: id, input } of value === undefined ? [] : [firstRef, ...otherRefs]) {
      const node = filledNodes.get(id);
      if (!node) continue;
      const newInputs = copySpellings(node.inputs, { ...node.inputs, [input]: value });
      const spelling = getSpelling(result.values, name);
      if (spelling !== undefined) setSpelling(newInputs, input, spelling);
      filledNodes.set(id, { ...node, inputs: newInputs });
    }
  }
  return { ok: true, graph: Object.fromEntries(filledNodes), values: result.values };
}

export function checkInputs(
  inputs: readonly AppField[],
  inputValues: Readonly<Record<string, unknown>>,
  random: () => number = Math.random,
): { ok: true; values: AppValues } | RejectedValues {
  const names = new Set(inputs.map(({ name }) => name));
  const problems: AppProblem[] = Object.keys(inputValues).flatMap((name) =>
    names.has(name) ? [] : [{ input: name, label: name, code: "unknown_input" as const }],
  );
  const values: [string, AppValue][] = [];
  for (const input of inputs) {
    const result = resolveValue(input, getOwn(inputValues, input.name), random);
    if (result === undefined) continue;
    if (result.ok) values.push([input.name, result.value]);
    else problems.push(result.problem);
  }
  return problems.length > 0 ? { ok: false, problems } : { ok: true, values: copySpellings(inputValues, Object.fromEntries(values)) };
}

/** A cleared text is sent as an empty string. A cleared required input is missing, even if it has a default. */
function resolveValue(input: AppField, raw: unknown, random: () => number): CheckedValue | undefined {
  const { control, isRequired, default: defaultValue } = input;
  const isCleared = raw === "" && (control.kind === "text" || isRequired);
  const hasValue = raw !== undefined && raw !== null && raw !== "";
  const value = hasValue || isCleared ? raw : (defaultValue ?? (control.kind === "seed" ? RANDOM : undefined));
  if (value !== undefined && !(value === "" && isRequired)) return checkValue(input, value, random);
  return isRequired ? { ok: false, problem: createProblem(input, "missing") } : undefined;
}

/** The graph's own value becomes the default that forms show. If it is not valid, the input is required. */
export function addDefault(input: AppInput, graph: Graph): AppInput {
  const { default: defaultValue, ...rest } = input;
  if (input.isRequired || input.control.kind === "seed") return defaultValue === "" && input.isRequired ? rest : input;
  const graphValue = getOwn(getOwn(graph, input.node)?.inputs, input.input);
  // A key never becomes a default, because it is requested for each run.
  if (isSecretName(input.input)) return input;
  if (defaultValue !== undefined || graphValue === undefined || typeof graphValue === "object") return input;
  const result = checkValue(input, graphValue);
  return result.ok ? { ...input, default: result.value } : { ...input, isRequired: true };
}

export function checkValue(input: AppField, value: unknown, random: () => number = Math.random): CheckedValue {
  const { control } = input;
  const reject = (code: AppProblem["code"], limit?: number | bigint): CheckedValue => ({
    ok: false,
    problem: createProblem(input, code, limit),
  });
  switch (control.kind) {
    case "number":
    case "seed": {
      if (control.kind === "seed" && value === RANDOM) return { ok: true, value: drawNumber(control, random) };
      if (typeof value !== "bigint" && (typeof value !== "number" || !Number.isFinite(value))) return reject("wrong_type");
      if ((control.kind === "seed" || control.isWhole) && typeof value === "number" && !Number.isInteger(value)) return reject("not_whole");
      if (control.min !== undefined && value < control.min) return reject("too_small", control.min);
      if (control.max !== undefined && value > control.max) return reject("too_large", control.max);
      return { ok: true, value };
    }
    case "switch":
      return typeof value === "boolean" ? { ok: true, value } : reject("wrong_type");
    case "choice": {
      const choice = control.choices.find((choice) => choice.value === value);
      return choice ? { ok: true, value: choice.value } : reject("not_a_choice");
    }
    default: {
      if (typeof value !== "string") return reject("wrong_type");
      const maxLength = control.kind === "text" ? MAX_TEXT_LENGTH : 1000;
      return value.length <= maxLength ? { ok: true, value } : reject("too_long", maxLength);
    }
  }
}

function drawNumber({ min = 0, max = MAX_SEED }: { min?: number | bigint; max?: number | bigint }, random: () => number): number {
  const low = Math.ceil(Number(min));
  const high = Math.min(Number(max), low + MAX_SEED);
  return Math.max(low, low + Math.floor(random() * (high - low + 1)));
}

export function createProblem({ name, label, control }: AppField, code: AppProblem["code"], limit?: number | bigint): AppProblem {
  return { input: name, label, control: control.kind, code, ...(limit !== undefined && { limit }) };
}

export function parseValueText({ control }: AppInput, text: string): unknown {
  if (control.kind === "number" || control.kind === "seed" || control.kind === "switch") return text === "" ? undefined : parseScalar(text);
  if (control.kind === "choice") return control.choices.find(({ value }) => String(value) === text)?.value ?? text;
  return text;
}

function parseScalar(text: string): unknown {
  const json = parseJson(text);
  return typeof json === "number" || typeof json === "bigint" || typeof json === "boolean" ? json : text;
}

const kindNames: Readonly<Record<AppControl["kind"], string>> = {
  picture: "an image",
  video: "a video",
  audio: "an audio file",
  text: "text",
  number: "a number",
  seed: "a number",
  switch: "true or false",
  choice: "a choice",
};
const problemTexts: Readonly<Record<AppProblem["code"], string>> = {
  missing: "needs KIND",
  wrong_type: "must be KIND",
  not_whole: "must be a whole number",
  too_small: "must be at least LIMIT",
  too_large: "must be at most LIMIT",
  too_long: "may have at most LIMIT characters",
  not_a_choice: "must be one of its choices",
  unknown_input: "is not an input of this app",
  not_yours: "is not a file that you uploaded to this app. Upload the file again",
  file_too_large: "may have at most LIMIT bytes",
  too_many_pixels: "may have at most LIMIT pixels",
  unreadable_file: "is not a readable image",
  not_taken: "is not accepted by the service",
};

/** In English, for programs. Screens have their own sentence for each code. */
export function formatProblem({ label, code, control = "text", limit }: AppProblem): string {
  const kind = code === "wrong_type" && isFileKind(control) ? "a file, or the name of one" : kindNames[control];
  return `${label}: ${problemTexts[code].replace("KIND", kind).replace("LIMIT", String(limit))}`;
}
