// Values of an app's form. Validates like the server, so that problems are shown before sending.

import { type AppField, type AppInputProblem, type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, checkInputs, RANDOM } from "@/lib/contract/apps/fill";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, isObject } from "@/lib/contract/json/json";

export type FieldValues = Readonly<Record<string, unknown>>;

export function getDefaultValues(inputs: readonly AppField[]): FieldValues {
  return Object.fromEntries(
    inputs.map(({ name, control, default: defaultValue }) => [name, defaultValue ?? (control.kind === "seed" ? RANDOM : undefined)]),
  );
}

/** Converts the values of an earlier run or a preset. Inputs added since then get their defaults. */
export function toFormValues(inputs: readonly AppField[], runValues: AppValues): FieldValues {
  const defaults = getDefaultValues(inputs);
  return Object.fromEntries(inputs.map(({ name }) => [name, getOwn(runValues, name) ?? defaults[name]]));
}

export function toRunInputs(inputs: readonly AppField[], values: FieldValues): Record<string, unknown> {
  const filledInputs = inputs.filter(({ name }) => getOwn(values, name) !== undefined);
  return Object.fromEntries(filledInputs.map(({ name }) => [name, getOwn(values, name)]));
}

export function findProblems(inputs: readonly AppField[], values: FieldValues): AppProblem[] {
  const result = checkInputs(inputs, toRunInputs(inputs, values));
  return result.ok ? [] : result.problems;
}

/** A problem found by the console, or a message from the service. */
export type FieldProblem = AppProblem | (Exclude<AppInputProblem, AppProblem> & { code: "message" });

/** Returns the problems that the server reported for inputs, or undefined if it refused for another reason. */
export function parseProblems({ details }: Failure, inputs: readonly AppField[]): FieldProblem[] | undefined {
  const reportedProblems: unknown[] = isObject(details) && Array.isArray(details.problems) ? details.problems : [];
  const fieldProblems = reportedProblems.flatMap((item): FieldProblem[] => {
    const problem = asObject(item);
    const input = inputs.find(({ name }) => name === problem?.input);
    if (!problem || !input) return [];
    const { name, label, control } = input;
    const code = problemCodes.find((code) => code === problem.code);
    const { limit } = problem;
    const hasLimit = typeof limit === "number" || typeof limit === "bigint";
    if (code) return [{ input: name, label, control: control.kind, code, ...(hasLimit && { limit }) }];
    return typeof problem.message === "string" ? [{ input: name, label, code: "message", message: problem.message }] : [];
  });
  return fieldProblems.length > 0 ? fieldProblems : undefined;
}

const problemCodes = [
  ...(["missing", "wrong_type", "not_whole", "too_small", "too_large", "too_long", "not_a_choice"] as const),
  ...(["unknown_input", "not_yours", "file_too_large", "too_many_pixels", "unreadable_file", "not_taken"] as const),
];

export function findDifferingInputs(inputs: readonly AppField[], runInputs: readonly (AppValues | undefined)[]): AppField[] {
  return inputs.filter(({ name }) => new Set(runInputs.map((runInput) => writeExactJson(getOwn(runInput ?? {}, name) ?? null))).size > 1);
}
