// The values of an app's form, and which of them are sent. Validates like the server, so that mistakes are shown before sending.

import { type AppField, type AppInputProblem, type AppValues } from "@/lib/contract/apps/app";
import { type AppProblem, checkInputs, RANDOM } from "@/lib/contract/apps/fill";
import { type Failure } from "@/lib/contract/failure";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, isObject } from "@/lib/contract/json/json";

export type FieldValues = Readonly<Record<string, unknown>>;

export function defaultValues(inputs: readonly AppField[]): FieldValues {
  return Object.fromEntries(
    inputs.map(({ name, control, default: defaultValue }) => [name, defaultValue ?? (control.kind === "seed" ? RANDOM : undefined)]),
  );
}

/** The form values of an earlier run or a preset; inputs added since get their defaults. */
export function toFormValues(inputs: readonly AppField[], runValues: AppValues): FieldValues {
  const defaults = defaultValues(inputs);
  return Object.fromEntries(inputs.map(({ name }) => [name, getOwn(runValues, name) ?? defaults[name]]));
}

export function toSend(inputs: readonly AppField[], values: FieldValues): Record<string, unknown> {
  const filledInputs = inputs.filter(({ name }) => getOwn(values, name) !== undefined);
  return Object.fromEntries(filledInputs.map(({ name }) => [name, getOwn(values, name)]));
}

export function findProblems(inputs: readonly AppField[], values: FieldValues): AppProblem[] {
  const checked = checkInputs(inputs, toSend(inputs, values));
  return checked.ok ? [] : checked.problems;
}

/** A problem found by the console's rules, or a sentence of the service. */
export type FieldProblem = AppProblem | (Exclude<AppInputProblem, AppProblem> & { code: "message" });

/** The inputs rejected by the server; undefined if it refused for another reason. */
export function parseProblems({ details }: Failure, inputs: readonly AppField[]): FieldProblem[] | undefined {
  const reportedProblems: unknown[] = isObject(details) && Array.isArray(details.problems) ? details.problems : [];
  const fieldProblems = reportedProblems.flatMap((item): FieldProblem[] => {
    const problem = asObject(item);
    const input = inputs.find(({ name }) => name === problem?.input);
    if (!problem || !input) return [];
    const { name, label, control } = input;
    const code = codes.find((code) => code === problem.code);
    const { limit } = problem;
    const isLimit = typeof limit === "number" || typeof limit === "bigint";
    if (code) return [{ input: name, label, control: control.kind, code, ...(isLimit && { limit }) }];
    return typeof problem.message === "string" ? [{ input: name, label, code: "message", message: problem.message }] : [];
  });
  return fieldProblems.length > 0 ? fieldProblems : undefined;
}

const codes = [
  ...(["missing", "wrong_type", "not_whole", "too_small", "too_large", "too_long", "not_a_choice"] as const),
  ...(["unknown_input", "not_yours", "file_too_large", "too_many_pixels", "unreadable_file", "not_taken"] as const),
];

export function findDifferingInputs(inputs: readonly AppField[], runs: readonly (AppValues | undefined)[]): AppField[] {
  return inputs.filter(({ name }) => new Set(runs.map((run) => writeExactJson(getOwn(run ?? {}, name) ?? null))).size > 1);
}
