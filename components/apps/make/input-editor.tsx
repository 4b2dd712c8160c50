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
  base: AppControl;
  groups: readonly string[];
  onChange: (input: AppInput) => void;
};

export function InputEditor({ input, defaultValue, base, groups, onChange }: InputEditorProps) {
  const t = useTranslations("apps.make.input");
  const list = useId();
  const { control } = input;
  const set = (change: Partial<AppInput>) => onChange({ ...input, ...change });
  const changeControl = (next: AppControl) => {
    const keepIfValid = (value: AppValue | undefined) => (checkValue({ ...input, control: next }, value).ok ? value : undefined);
    set({ control: next, default: keepIfValid(input.default), example: keepIfValid(input.example) });
  };
  const isFile = control.kind === "picture" || control.kind === "video" || control.kind === "audio";
  return (
    <div className="grid gap-3 border-t border-line bg-sunken px-3 py-3 sm:grid-cols-2">
      <InputField label={t("label")} required maxLength={80} value={input.label} onChange={({ target }) => set({ label: target.value })} />
      <SelectField
        label={t("look")}
        hint={getLook(control) === "masked" ? t("maskHint") : undefined}
        value={getLook(control)}
        onChange={({ target }) => {
          const look = getLooks(base).find((look) => look === target.value);
          if (look) changeControl(withLook(look, control, base));
        }}
      >
        <Options of={[...new Set<Look>([...getLooks(base), getLook(control)])].map((look) => [look, t(`looks.${look}`)])} />
      </SelectField>
      <div className="sm:col-span-2">
        <TextareaField
          label={t("help")}
          rows={2}
          maxLength={1000}
          value={input.help}
          onChange={({ target }) => set({ help: target.value })}
        />
      </div>
      <FormField label={t("group")} hint={t("groupHint")}>
        {(field) => (
          <>
            <Input {...field} list={list} maxLength={80} value={input.group} onChange={({ target }) => set({ group: target.value })} />
            <datalist id={list}>
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
        onChange={({ target }) => set({ name: target.value })}
        className="font-mono text-sm"
      />
      {control.kind === "number" || control.kind === "seed" ? (
        <Range control={control} onChange={(next) => set({ control: next })} />
      ) : null}
      {control.kind === "choice" ? (
        <div className="sm:col-span-2">
          <Choices control={control} base={base} onChange={changeControl} />
        </div>
      ) : null}
      {isFile ? null : (
        <>
          <ValueField
            label={t("default")}
            hint={t("defaultHint")}
            control={control}
            // Choices and switches are never empty; a number shows its default as the placeholder.
            value={control.kind === "choice" || control.kind === "switch" ? defaultValue : input.default}
            placeholder={control.kind === "number" ? defaultValue : undefined}
            // A text may be empty intentionally.
            onChange={(value) => set({ default: control.kind === "text" ? (value ?? "") : value })}
          />
          <ValueField
            label={t("example")}
            hint={t("exampleHint")}
            control={control}
            value={input.example}
            onChange={(value) => set({ example: value })}
          />
        </>
      )}
      <CheckField
        label={t("required")}
        className="sm:col-span-2"
        checked={input.isRequired}
        onChange={({ target }) => set({ isRequired: target.checked })}
      />
    </div>
  );
}

type RangeControl = Extract<AppControl, { kind: "number" | "seed" }>;

function Range({ control, onChange }: { control: RangeControl; onChange: (control: RangeControl) => void }) {
  const t = useTranslations("apps.make.input");
  const integer = control.kind === "seed" || control.isWhole;
  const edges = control.kind === "number" ? (["min", "max", "step"] as const) : (["min", "max"] as const);
  return (
    <div role="group" aria-label={t("range")} className="flex flex-wrap gap-3 sm:col-span-2">
      {edges.map((edge) => (
        <FormField key={edge} label={t(edge)}>
          {(field) => (
            <NumberControl
              {...field}
              value={edge === "step" ? control.kind === "number" && control.step : control[edge]}
              integer={integer}
              onChange={(value) => {
                const { [edge]: _, ...rest }: RangeControl & { step?: number } = control;
                const isNumber = typeof value === "number" || (typeof value === "bigint" && edge !== "step");
                onChange(isNumber ? { ...rest, [edge]: value } : rest);
              }}
              className="w-32"
            />
          )}
        </FormField>
      ))}
    </div>
  );
}

type ChoiceInput = Extract<AppControl, { kind: "choice" }>;

function Choices({ control, base, onChange }: { control: ChoiceInput; base: AppControl; onChange: (control: ChoiceInput) => void }) {
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
        const choices = parseChoices(target.value, base);
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
  storedName: async () => undefined,
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
          onChange={(next) => onChange(toValue(next))}
        />
      )}
    </FormField>
  );
}

/** An empty field is no value. */
function toValue(value: unknown): AppValue | undefined {
  if (value === "") return undefined;
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint" || typeof value === "boolean"
    ? value
    : undefined;
}

// The controls that fit a node's input, and the conversion between them. Ranges and choices are kept if the next control has them too.

export type Look = "line" | "long" | "number" | "slider" | "seed" | "switch" | "choice" | "picture" | "masked" | "video" | "audio";

export function getLook(control: AppControl): Look {
  if (control.kind === "text") return control.isLong ? "long" : "line";
  if (control.kind === "number") return control.isSlider ? "slider" : "number";
  if (control.kind === "picture") return control.hasMask ? "masked" : "picture";
  return control.kind;
}

/** `base`: the control that the workflow suggests. */
export function getLooks(base: AppControl): readonly Look[] {
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
  const { min, max } = { ...getLimits(base), ...getLimits(control) };
  const range = { ...(min !== undefined && { min }), ...(max !== undefined && { max }) };
  const step = control.kind === "number" ? control.step : base.kind === "number" ? base.step : undefined;
  switch (look) {
    case "line":
    case "long":
      return { kind: "text", isLong: look === "long" };
    case "number":
    case "slider": {
      // Without the service's node list, the value alone doesn't determine whether the number is an integer.
      const isWhole = [control, base].some((item) => item.kind === "seed" || (item.kind === "number" && item.isWhole));
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

function getLimits(control: AppControl) {
  return control.kind === "number" || control.kind === "seed" ? { min: control.min, max: control.max } : {};
}

/** One choice per line: the value, and its label if different. */
export function formatChoices(control: Extract<AppControl, { kind: "choice" }>): string {
  return control.choices.map(({ value, label }) => (label ? `${String(value)} = ${label}` : String(value))).join("\n");
}

/** An existing value keeps its type: the number 2 does not become the text "2". */
export function parseChoices(text: string, base: AppControl): Extract<AppControl, { kind: "choice" }>["choices"] {
  const baseChoices = base.kind === "choice" ? base.choices : [];
  return text.split("\n").flatMap((line) => {
    const baseChoice = baseChoices.find(({ value }) => String(value) === line.trim());
    const [, valueText = line, labelText] = baseChoice ? [] : (/^(.*?)\s=\s(.*)$/.exec(line) ?? []);
    const typed = valueText.trim();
    if (typed === "") return [];
    const value = baseChoices.find((item) => String(item.value) === typed)?.value ?? typed;
    return [{ value, ...(labelText?.trim() && { label: labelText.trim() }) }];
  });
}
