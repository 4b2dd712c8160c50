import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { NumberControl } from "@/components/run/form/controls/basic-controls";
import { FieldControl } from "@/components/run/form/controls/field-control";
import { type PictureContext } from "@/components/run/form/controls/picture-api";
import { CheckField, FormField, Input, InputField, Options, SelectField, TextareaField } from "@/components/ui/controls/fields";
import { type AppControl, type AppInput, type AppValue } from "@/lib/contract/apps/app";
import { checkValue } from "@/lib/contract/apps/fill";
import { toFormControl } from "../app-form";

type InputEditorProps = {
  input: AppInput;
  defaultValue: AppValue | undefined;
  suggestedControl: AppControl;
  groups: readonly string[];
  onChange: (input: AppInput) => void;
};

export function InputEditor({ input, defaultValue, suggestedControl, groups, onChange }: InputEditorProps) {
  const t = useTranslations("apps.make.input");
  const listId = useId();
  const { control } = input;
  const update = (change: Partial<AppInput>) => onChange({ ...input, ...change });
  const changeControl = (newControl: AppControl) => {
    const keepIfValid = (value: AppValue | undefined) => (checkValue({ ...input, control: newControl }, value).ok ? value : undefined);
    update({ control: newControl, default: keepIfValid(input.default), example: keepIfValid(input.example) });
  };
  const isFile = control.kind === "picture" || control.kind === "video" || control.kind === "audio";
  return (
    <div className="grid gap-3 border-t border-line bg-sunken px-3 py-3 sm:grid-cols-2">
      <InputField
        label={t("label")}
        required
        maxLength={80}
        value={input.label}
        onChange={({ target }) => update({ label: target.value })}
      />
      <SelectField
        label={t("look")}
        hint={getVariant(control) === "masked" ? t("maskHint") : undefined}
        value={getVariant(control)}
        onChange={({ target }) => {
          const variant = getVariants(suggestedControl).find((variant) => variant === target.value);
          if (variant) changeControl(withVariant(variant, control, suggestedControl));
        }}
      >
        <Options
          of={[...new Set<ControlVariant>([...getVariants(suggestedControl), getVariant(control)])].map((variant) => [
            variant,
            t(`looks.${variant}`),
          ])}
        />
      </SelectField>
      <div className="sm:col-span-2">
        <TextareaField
          label={t("help")}
          rows={2}
          maxLength={1000}
          value={input.help}
          onChange={({ target }) => update({ help: target.value })}
        />
      </div>
      <FormField label={t("group")} hint={t("groupHint")}>
        {(field) => (
          <>
            <Input {...field} list={listId} maxLength={80} value={input.group} onChange={({ target }) => update({ group: target.value })} />
            <datalist id={listId}>
              {groups.map((group) => (
                <option key={group} value={group} />
              ))}
            </datalist>
          </>
        )}
      </FormField>
      <InputField
        label={t("name")}
        hint={t("nameHint")}
        required
        pattern="[a-z][a-z0-9_]{0,39}"
        spellCheck={false}
        value={input.name}
        onChange={({ target }) => update({ name: target.value })}
        className="font-mono text-sm"
      />
      {control.kind === "number" || control.kind === "seed" ? (
        <Range control={control} onChange={(newControl) => update({ control: newControl })} />
      ) : null}
      {control.kind === "choice" ? (
        <div className="sm:col-span-2">
          <Choices control={control} suggestedControl={suggestedControl} onChange={changeControl} />
        </div>
      ) : null}
      {isFile ? null : (
        <>
          <ValueField
            label={t("default")}
            hint={t("defaultHint")}
            control={control}
            // Choices and switches are never empty. A number shows its default as the placeholder.
            value={control.kind === "choice" || control.kind === "switch" ? defaultValue : input.default}
            placeholder={control.kind === "number" ? defaultValue : undefined}
            // An empty text is a valid default.
            onChange={(value) => update({ default: control.kind === "text" ? (value ?? "") : value })}
          />
          <ValueField
            label={t("example")}
            hint={t("exampleHint")}
            control={control}
            value={input.example}
            onChange={(value) => update({ example: value })}
          />
        </>
      )}
      <CheckField
        label={t("required")}
        className="sm:col-span-2"
        checked={input.isRequired}
        onChange={({ target }) => update({ isRequired: target.checked })}
      />
    </div>
  );
}

type RangeControl = Extract<AppControl, { kind: "number" | "seed" }>;

function Range({ control, onChange }: { control: RangeControl; onChange: (control: RangeControl) => void }) {
  const t = useTranslations("apps.make.input");
  const isInteger = control.kind === "seed" || control.isWhole;
  const properties = control.kind === "number" ? (["min", "max", "step"] as const) : (["min", "max"] as const);
  return (
    <div role="group" aria-label={t("range")} className="flex flex-wrap gap-3 sm:col-span-2">
      {properties.map((property) => (
        <FormField key={property} label={t(property)}>
          {(field) => (
            <NumberControl
              {...field}
              value={property === "step" ? control.kind === "number" && control.step : control[property]}
              integer={isInteger}
              onChange={(value) => {
                const { [property]: _, ...otherProperties }: RangeControl & { step?: number } = control;
                const isNumber = typeof value === "number" || (typeof value === "bigint" && property !== "step");
                onChange(isNumber ? { ...otherProperties, [property]: value } : otherProperties);
              }}
              className="w-32"
            />
          )}
        </FormField>
      ))}
    </div>
  );
}

type ChoiceControl = Extract<AppControl, { kind: "choice" }>;

function Choices({
  control,
  suggestedControl,
  onChange,
}: {
  control: ChoiceControl;
  suggestedControl: AppControl;
  onChange: (control: ChoiceControl) => void;
}) {
  const t = useTranslations("apps.make.input");
  const [text, setText] = useState(() => formatChoices(control));
  return (
    <TextareaField
      label={t("choices")}
      hint={t("choicesHint")}
      rows={Math.min(8, control.choices.length + 1)}
      spellCheck={false}
      value={text}
      onChange={({ target }) => {
        setText(target.value);
        const choices = parseChoices(target.value, suggestedControl);
        if (choices.length > 0) onChange({ kind: "choice", choices });
      }}
    />
  );
}

/** No pictures can be sent here, since values are never files. */
const noPictures: PictureContext = {
  canSend: false,
  sendPicture: () => new Promise(() => undefined),
  listAssets: () => new Promise(() => undefined),
  findStoredName: async () => undefined,
  onNamed: () => undefined,
};

type ValueFieldProps = {
  label: string;
  hint: string;
  control: AppControl;
  value: AppValue | undefined;
  placeholder?: AppValue;
  onChange: (value: AppValue | undefined) => void;
};

function ValueField({ label, hint, control, value, placeholder, onChange }: ValueFieldProps) {
  const shownControl = control.kind === "seed" ? ({ kind: "number", integer: true } as const) : toFormControl(control);
  return (
    <FormField label={label} hint={hint}>
      {(field) => (
        <FieldControl
          {...field}
          field={{
            name: label,
            value,
            control: shownControl.kind === "number" ? { kind: "number", integer: shownControl.integer } : shownControl,
          }}
          value={value}
          {...(placeholder !== undefined && { placeholder: String(placeholder) })}
          nodeTitle={label}
          picture={noPictures}
          onRunning={() => undefined}
          onChange={(newValue) => onChange(toAppValue(newValue))}
        />
      )}
    </FormField>
  );
}

/** Returns undefined for an empty field. */
function toAppValue(value: unknown): AppValue | undefined {
  if (value === "") return undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? value
    : undefined;
}

// Control variants for a node's input, and conversion between them. Keeps the range and choices if the new control supports them.

export type ControlVariant =
  "line" | "long" | "number" | "slider" | "seed" | "switch" | "choice" | "picture" | "masked" | "video" | "audio";

export function getVariant(control: AppControl): ControlVariant {
  if (control.kind === "text") return control.isLong ? "long" : "line";
  if (control.kind === "number") return control.isSlider ? "slider" : "number";
  if (control.kind === "picture") return control.hasMask ? "masked" : "picture";
  return control.kind;
}

/** `suggestedControl`: the control derived from the workflow. */
export function getVariants(suggestedControl: AppControl): readonly ControlVariant[] {
  switch (suggestedControl.kind) {
    case "text":
      return ["line", "long"];
    case "number":
      return suggestedControl.isWhole ? ["number", "slider", "seed"] : ["number", "slider"];
    case "seed":
      return ["seed", "number"];
    case "choice":
      return suggestedControl.choices.every(({ value }) => typeof value === "string") ? ["choice", "line"] : ["choice"];
    case "picture":
      return ["picture", "masked"];
    default:
      return [suggestedControl.kind];
  }
}

export function withVariant(variant: ControlVariant, control: AppControl, suggestedControl: AppControl): AppControl {
  const { min, max } = { ...getLimits(suggestedControl), ...getLimits(control) };
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  const step = control.kind === "number" ? control.step : suggestedControl.kind === "number" ? suggestedControl.step : undefined;
  switch (variant) {
    case "line":
    case "long":
      return { kind: "text", isLong: variant === "long" };
    case "number":
    case "slider": {
      // Without the service's node list, the value alone doesn't determine whether the number is an integer.
      const isWhole = [control, suggestedControl].some((item) => item.kind === "seed" || (item.kind === "number" && item.isWhole));
      return { kind: "number", isWhole, isSlider: variant === "slider", ...range, ...(step !== undefined && { step }) };
    }
    case "seed":
      return { kind: "seed", ...range };
    case "choice":
      return suggestedControl.kind === "choice" ? suggestedControl : control;
    case "picture":
    case "masked":
      return { kind: "picture", hasMask: variant === "masked" };
    default:
      return { kind: variant };
  }
}

function getLimits(control: AppControl) {
  return control.kind === "number" || control.kind === "seed" ? { min: control.min, max: control.max } : {};
}

/** One choice per line: the value, and its label if different. */
export function formatChoices(control: Extract<AppControl, { kind: "choice" }>): string {
  return control.choices.map(({ value, label }) => (label ? `${String(value)} = ${label}` : String(value))).join("\n");
}

/** An existing value keeps its type: the number 2 does not become the text "2". */
export function parseChoices(text: string, suggestedControl: AppControl): Extract<AppControl, { kind: "choice" }>["choices"] {
  const suggestedChoices = suggestedControl.kind === "choice" ? suggestedControl.choices : [];
  return text.split("\n").flatMap((line) => {
    const matchingChoice = suggestedChoices.find(({ value }) => String(value) === line.trim());
    const [, valueText = line, labelText] = matchingChoice ? [] : (/^(.*?)\s=\s(.*)$/.exec(line) ?? []);
    const trimmedText = valueText.trim();
    if (trimmedText === "") return [];
    const value = suggestedChoices.find((item) => String(item.value) === trimmedText)?.value ?? trimmedText;
    return [{ value, ...(labelText?.trim() && { label: labelText.trim() }) }];
  });
}
