import { useTranslations } from "next-intl";
import { useState } from "react";
import { FieldControl } from "@/components/run/form/controls/field-control";
import { type PictureContext } from "@/components/run/form/controls/picture-api";
import { type Control, toNodeHash } from "@/components/run/form/form-model";
import { Link } from "@/components/ui/link";
import { withQuery } from "@/lib/browser/urls";
import { type AppControl, type AppField } from "@/lib/contract/apps/app";
import { isFileKind, RANDOM } from "@/lib/contract/apps/fill";
import { getOwn } from "@/lib/contract/json/json";
import { createAppFileSender } from "./app-files";
import { type FieldProblem, type FieldValues, parseProblems } from "./app-values";
import { useProblemText } from "./run-problems";

export const getFieldId = (name: string) => `app-${name}`;

type AppFormProps = {
  /** The app that receives uploads. Absent if it accepts none. */
  app?: string;
  inputs: readonly AppField[];
  values: FieldValues;
  problems: readonly FieldProblem[];
  picture: PictureContext;
  onChange: (name: string, value: unknown) => void;
  onRunning: (name: string, isRunning: boolean) => void;
};

/** The inputs in order, grouped under the names of their groups. */
export function AppForm({ inputs, ...fieldProps }: AppFormProps) {
  const [lastFocusedName, setLastFocusedName] = useState<string>();
  const pictures = inputs.filter(({ control }) => control.kind === "picture").map(({ name }) => name);
  // Pastes into the last focused picture input, or else the first empty one.
  const pasteTarget =
    pictures.find((name) => name === lastFocusedName) ?? pictures.find((name) => !getOwn(fieldProps.values, name)) ?? pictures[0];
  const groups = [...new Set(inputs.map(({ group }) => group))];
  return groups.map((group) => {
    const fields = inputs
      .filter((input) => input.group === group)
      .map((input) => (
        <div key={input.name} onFocus={() => pictures.includes(input.name) && setLastFocusedName(input.name)}>
          <AppField {...fieldProps} input={input} acceptsPaste={input.name === pasteTarget} />
        </div>
      ));
    return group === "" ? (
      <div key={group} className="flex flex-col gap-4">
        {fields}
      </div>
    ) : (
      <fieldset key={group} className="flex flex-col gap-4 border-t border-line pt-3">
        <legend className="float-left w-full font-semibold">{group}</legend>
        {fields}
      </fieldset>
    );
  });
}

type AppFieldProps = Omit<AppFormProps, "inputs"> & { input: AppField; acceptsPaste: boolean };

function AppField({ app, input, values, problems, picture, acceptsPaste, onChange, onRunning }: AppFieldProps) {
  const t = useTranslations("apps.form");
  const formatProblem = useProblemText();
  const { name, label, help, control, isRequired, default: defaultValue } = input;
  const example = getExample(input);
  const id = getFieldId(name);
  const value = getOwn(values, name);
  const fieldProblems = problems.filter((problem) => problem.input === name);
  const describedBy = [help || example !== undefined ? `${id}-help` : "", fieldProblems.length > 0 ? `${id}-problems` : ""]
    .filter(Boolean)
    .join(" ");
  const controlProps = {
    id,
    value,
    onChange: (newValue: unknown) => onChange(name, newValue),
    ...(describedBy && { "aria-describedby": describedBy }),
    ...(fieldProblems.length > 0 && { "aria-invalid": true as const }),
  };
  // Shows the value that is sent while the field is empty.
  const placeholder = isRequired || defaultValue === undefined ? undefined : String(defaultValue);
  const seed: Control = { kind: "seed", random: RANDOM, label: t("everyRun") };
  const isFile = isFileKind(control.kind);
  const labelContent = (
    <>
      {label}
      {isRequired ? null : " "}
      {isRequired ? null : <span className="ml-0.5 text-sm font-normal text-ink-3">{t("optional")}</span>}
    </>
  );
  return (
    // A control with several buttons is a group with this label; other controls are labelled directly.
    <div {...(isFile && { role: "group", "aria-labelledby": `${id}-label` })} data-input={name} className="flex min-w-0 flex-col gap-1">
      {isFile ? (
        <span id={`${id}-label`} className="font-medium">
          {labelContent}
        </span>
      ) : (
        <label htmlFor={id} className="font-medium">
          {labelContent}
        </label>
      )}
      <FieldControl
        {...controlProps}
        {...(control.kind === "number" && { placeholder })}
        {...(control.kind === "seed" && { placeholder: placeholder ?? (isRequired ? undefined : t("everyRun")) })}
        field={{ name: label, value, control: control.kind === "seed" ? seed : toFormControl(control, defaultValue) }}
        nodeTitle={label}
        picture={{
          ...picture,
          ...(app !== undefined && { sendPicture: createAppFileSender(app, name) }),
          explainFailure: (failure) => parseProblems(failure, [input])?.map(formatProblem).join(" "),
          ...(!isRequired && value !== defaultValue && { onRemove: () => onChange(name, undefined) }),
        }}
        acceptsPaste={acceptsPaste}
        onRunning={(isRunning) => onRunning(name, isRunning)}
      />
      {help || example !== undefined ? (
        <p id={`${id}-help`} className="text-sm break-words whitespace-pre-line text-ink-3">
          {help}
          {help && example !== undefined ? "\n" : null}
          {example === undefined ? null : t("example", { example })}
        </p>
      ) : null}
      {fieldProblems.length > 0 ? (
        <ul id={`${id}-problems`} className="text-sm text-bad">
          {fieldProblems.map((problem) => (
            <li key={problem.code}>
              {formatProblem(problem)}
              {app === undefined || input.node === undefined ? null : (
                <Link
                  href={`${withQuery("/run", { app, connection: picture.connection })}${toNodeHash(input.node)}`}
                  className="ml-2 text-accent hover:underline"
                >
                  {t("showNode")}
                </Link>
              )}
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}

/** Returns an example as text. Files have none, since a file name means nothing to a member. */
function getExample({ control, example }: AppField): string | undefined {
  if (example === undefined || isFileKind(control.kind) || control.kind === "switch") return undefined;
  const choice = control.kind === "choice" ? control.choices.find(({ value }) => value === example)?.label : undefined;
  return choice || String(example);
}

export function toFormControl(control: Exclude<AppControl, { kind: "seed" }>, preset?: unknown): Control {
  switch (control.kind) {
    case "text":
      return { kind: control.isLong ? "long-text" : "text" };
    case "number": {
      const { isWhole: integer, min, max, step } = control;
      const isSlider = control.isSlider && min !== undefined && max !== undefined;
      const limits = { ...(min !== undefined && { min }), ...(max !== undefined && { max }), ...(step && { step }) };
      return { kind: "number", integer, ...limits, ...(isSlider && { isSlider }), ...(typeof preset === "number" && { preset }) };
    }
    case "switch":
      return { kind: "switch" };
    case "choice":
      return {
        kind: "choice",
        options: control.choices.map(({ value }) => value),
        labels: control.choices.map(({ value, label }) => label || String(value)),
      };
    case "picture":
      return { kind: "image", hasMask: control.hasMask };
    default:
      return { kind: "media", media: control.kind };
  }
}
