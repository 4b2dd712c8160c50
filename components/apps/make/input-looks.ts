// How an input may be asked for: the kinds of control that fit what the node takes, and the conversion between them.
// Guarantees: pure; a range and choices that were set are kept if the next kind has them too.

import { type AppControl } from "@/lib/contract/apps/app";

export type Look = "line" | "long" | "number" | "slider" | "seed" | "switch" | "choice" | "picture" | "masked" | "video" | "audio";

export function lookOf(control: AppControl): Look {
  if (control.kind === "text") return control.isLong ? "long" : "line";
  if (control.kind === "number") return control.isSlider ? "slider" : "number";
  if (control.kind === "picture") return control.hasMask ? "masked" : "picture";
  return control.kind;
}

/** `base`: the control that the workflow suggests. */
export function looksFor(base: AppControl): readonly Look[] {
  switch (base.kind) {
    case "text":
      return ["line", "long"];
    case "number":
      return base.isWhole ? ["number", "slider", "seed"] : ["number", "slider"];
    case "seed":
      return ["seed", "number"];
    case "choice":
      return base.choices.every(({ value }) => typeof value === "string") ? ["choice", "line"] : ["choice"];
    case "picture":
      return ["picture", "masked"];
    default:
      return [base.kind];
  }
}

export function withLook(look: Look, control: AppControl, base: AppControl): AppControl {
  const { min, max } = { ...limitsOf(base), ...limitsOf(control) };
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  const step = control.kind === "number" ? control.step : base.kind === "number" ? base.step : undefined;
  switch (look) {
    case "line":
    case "long":
      return { kind: "text", isLong: look === "long" };
    case "number":
    case "slider": {
      // Without the service's list of nodes the workflow's value alone does not say whether the number is whole.
      const isWhole = [control, base].some((one) => one.kind === "seed" || (one.kind === "number" && one.isWhole));
      return { kind: "number", isWhole, isSlider: look === "slider", ...range, ...(step !== undefined && { step }) };
    }
    case "seed":
      return { kind: "seed", ...range };
    case "choice":
      return base.kind === "choice" ? base : control;
    case "picture":
    case "masked":
      return { kind: "picture", hasMask: look === "masked" };
    default:
      return { kind: look };
  }
}

function limitsOf(control: AppControl) {
  return control.kind === "number" || control.kind === "seed" ? { min: control.min, max: control.max } : {};
}

/** One choice per line: the value, and its label where that differs. */
export function choicesText(control: Extract<AppControl, { kind: "choice" }>): string {
  return control.choices.map(({ value, label }) => (label ? `${String(value)} = ${label}` : String(value))).join("\n");
}

/** A value that the workflow knows keeps its type: the number 2 does not become the text "2". */
export function choicesOf(text: string, base: AppControl): Extract<AppControl, { kind: "choice" }>["choices"] {
  const known = base.kind === "choice" ? base.choices : [];
  return text.split("\n").flatMap((line) => {
    const whole = known.find(({ value }) => String(value) === line.trim());
    const [, before = line, after] = whole ? [] : (/^(.*?)\s=\s(.*)$/.exec(line) ?? []);
    const typed = before.trim();
    if (typed === "") return [];
    const value = known.find((one) => String(one.value) === typed)?.value ?? typed;
    return [{ value, ...(after?.trim() && { label: after.trim() }) }];
  });
}
