import { Dices } from "lucide-react";
import { useTranslations } from "next-intl";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Button } from "@/components/ui/controls/button";
import { Checkbox, Input, Options, Select, Textarea } from "@/components/ui/controls/fields";
import { isComposing } from "@/components/ui/hooks/page-events";
import { isObject } from "@/lib/contract/json/json";
import { boxEdges, type ChoiceValue, type Limit } from "@/lib/contract/nodes/input-spec";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type Control, drawRandomSeed } from "../form-model";

export type ControlProps = {
  id: string;
  value: unknown;
  onChange: (value: unknown) => void;
  disabled?: boolean;
  className?: string;
  placeholder?: string;
  "aria-describedby"?: string;
  "aria-invalid"?: true;
};

/** `step`: how much the up and down keys change the value. */
type NumberControlProps = ControlProps & { integer: boolean; min?: Limit; max?: Limit; step?: number };

/**
 * Keeps the text as typed ("1." before "1.5") and reports a number once it is valid. Other text is sent unchanged, and the service rejects it.
 * If the parent discards a value, such as "-" before "-5", the field keeps its text until it loses focus.
 */
export function NumberControl({ value, integer, min, max, step, onChange, className, ...rest }: NumberControlProps) {
  const text = value === undefined ? "" : String(value);
  const [draft, setDraft] = useState(text);
  const [isTyping, setTyping] = useState(false);
  const isDraftCurrent = Object.is(parseDraft(draft), value) || (isTyping && value === undefined);
  return (
    <Input
      {...rest}
      inputMode={integer ? "numeric" : "decimal"}
      autoComplete="off"
      value={isDraftCurrent ? draft : text}
      onChange={({ target }) => {
        setDraft(target.value);
        setTyping(true);
        onChange(parseDraft(target.value));
      }}
      onBlur={() => setTyping(false)}
      onKeyDown={(event) => {
        const sign = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
        if (sign === 0 || isComposing(event.nativeEvent) || step === undefined || typeof value !== "number") return;
        event.preventDefault();
        const nextValue = addStep(value, sign * step);
        if ((min === undefined || nextValue >= min) && (max === undefined || nextValue <= max)) onChange(nextValue);
      }}
      className={className}
    />
  );
}

/** Rounds to the decimals of the operands, so that 0.1 + 0.2 is 0.3. */
function addStep(value: number, step: number): number {
  const countDecimals = (number: number) => /\.(\d+)$/.exec(String(number))?.[1]?.length ?? 0;
  return Number((value + step).toFixed(Math.max(countDecimals(value), countDecimals(step))));
}

/** Large integers become a bigint, so that a twenty-digit seed is sent as typed. */
function parseDraft(draft: string): unknown {
  const text = draft.trim();
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i.test(text)) return draft;
  const number = Number(text);
  if (/^[+-]?\d{16,40}$/.test(text) && !Number.isSafeInteger(number)) return BigInt(text.replace(/^\+/, ""));
  return Number.isFinite(number) ? number : draft;
}

type SeedControlProps = {
  name: string;
  control: Control;
  isRandomised: boolean;
  onSeed: (value: number) => void;
  onToggle: () => void;
};

/** Draws a new seed once, or with every run. */
export function SeedControl({ name, control, isRandomised, onSeed, onToggle }: SeedControlProps) {
  const t = useTranslations("run.seed");
  return (
    <span className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1">
      <Button size="small" aria-label={t("newOf", { name })} onClick={() => onSeed(drawRandomSeed(control))}>
        <Dices aria-hidden="true" className="size-3.5" />
        {t("new")}
      </Button>
      <label className="flex items-center gap-1.5 text-ink-2">
        <Checkbox checked={isRandomised} onChange={onToggle} />
        {t("everyRun")}
      </label>
    </span>
  );
}

/** A colour picker for a colour that the graph stores as a number. */
export function ColorControl({ name, ...props }: ControlProps & { name: string }) {
  const t = useTranslations("run.field");
  const hex = toHexColor(props.value);
  return (
    <span className="flex flex-wrap items-center gap-2">
      <input
        type="color"
        aria-label={t("colorPicker", { name })}
        value={hex ?? "#000000"}
        onChange={({ target }) => props.onChange(fromHexColor(target.value))}
        className="h-[30px] w-11 shrink-0 rounded-md border border-control bg-surface p-0.5"
      />
      <NumberControl {...props} integer className="w-28" />
      <span className="font-mono text-sm text-ink-3">{hex}</span>
    </span>
  );
}

/** A colour picker for a colour that the graph stores as hexadecimal text. */
export function HexColorControl({ name, value, onChange, ...rest }: ControlProps & { name: string }) {
  const t = useTranslations("run.field");
  const text = typeof value === "string" ? value : "";
  return (
    <span className="flex flex-wrap items-center gap-2">
      <input
        type="color"
        aria-label={t("colorPicker", { name })}
        value={toPickerValue(text) ?? "#000000"}
        onChange={({ target }) => onChange(target.value)}
        className="h-[30px] w-11 shrink-0 rounded-md border border-control bg-surface p-0.5"
      />
      <Input {...rest} value={text} onChange={({ target }) => onChange(target.value)} autoComplete="off" className="w-28 font-mono" />
    </span>
  );
}

/** The picker's value for "#dba446", "#fff" or "DBA446FF": a picker accepts only six digits. */
function toPickerValue(text: string): string | undefined {
  const digits = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return undefined;
  return `#${(digits.length < 6 ? digits.replace(/./g, "$&$&") : digits).slice(0, 6)}`;
}

// Nodes store a colour as one integer, with red in the high byte.

/** "#dba446" for 14394438; undefined if not a colour, so that the caller shows a number. */
function toHexColor(value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffffff) return undefined;
  return `#${value.toString(16).padStart(6, "0")}`;
}

function fromHexColor(hex: string): number | undefined {
  return /^#[0-9a-f]{6}$/i.test(hex) ? Number.parseInt(hex.slice(1), 16) : undefined;
}

/**
 * The field is uncontrolled. In a controlled one, React writes the value back three times per key press, which is slow for long texts.
 * Changes from outside are written into the field.
 *
 * Single-line and multi-line inputs use the same element, since the catalogue may load and change this while the user types. A line break
 * in a single-line input is sent, so it is shown.
 */
export function TextControl({ value, onChange, isLong = false, ...rest }: ControlProps & { isLong?: boolean }) {
  const t = useTranslations("run.field");
  const field = useRef<HTMLTextAreaElement>(null);
  const text = toFieldText(value);
  const [initialRowCount] = useState(() => countRows(text));
  const currentText = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (currentText.current === text || !field.current) return;
    currentText.current = text;
    field.current.value = text;
  }, [text]);
  const rowCount = isLong ? Math.max(3, initialRowCount) : countLines(text);
  const isOneLine = rowCount === 1;
  return (
    <Textarea
      {...rest}
      ref={field}
      rows={rowCount}
      autoComplete="off"
      // A masked value cannot be sent, so it is shown as a placeholder.
      {...(value === MASK && { placeholder: t("masked") })}
      onChange={({ target }) => {
        currentText.current = target.value;
        onChange(target.value);
      }}
      onKeyDown={isLong ? undefined : blockEnter}
      className={cn(isOneLine && "h-[30px] resize-none overflow-hidden py-1 whitespace-pre")}
    />
  );
}

/** In a single-line field Enter neither submits nor breaks the line. During IME composition Enter is not handled. */
function blockEnter(event: KeyboardEvent) {
  if (event.key === "Enter" && !isComposing(event.nativeEvent)) event.preventDefault();
}

function toFieldText(value: unknown): string {
  return value === MASK || value === undefined ? "" : String(value);
}

const MAX_ROWS = 14;

function countLines(text: string): number {
  return Math.min(MAX_ROWS, text.slice(0, 2000).split(/\r\n?|\n/).length);
}

/** Estimates how many rows the text needs. The user can enlarge the field. */
function countRows(text: string): number {
  return Math.min(MAX_ROWS, Math.max(countLines(text), Math.ceil(text.slice(0, 2000).length / 70)));
}

export function SwitchControl({ value, onChange, ...rest }: ControlProps) {
  return (
    <span className="flex h-[30px] items-center">
      <Checkbox {...rest} checked={value === true} onChange={({ target }) => onChange(target.checked)} />
    </span>
  );
}

/** Shows only real limits: catalogues use 2^31 and 2^64 for "none". */
export function NumberRange({ min, max }: { min?: Limit; max?: Limit }) {
  const t = useTranslations("run.field");
  const isBounded = (limit: Limit | undefined): limit is number => typeof limit === "number" && Math.abs(limit) < 2 ** 31 - 1;
  const rangeText =
    isBounded(min) && isBounded(max)
      ? t("range", { min, max })
      : isBounded(min)
        ? t("atLeast", { min })
        : isBounded(max)
          ? t("atMost", { max })
          : undefined;
  return rangeText ? <span className="text-sm whitespace-nowrap text-ink-3">{rangeText}</span> : null;
}

/** Options are identified by their index, so that the number 2 does not become the text "2". */
export function ChoiceControl({
  value,
  options,
  labels,
  onChange,
  ...rest
}: ControlProps & { options: readonly ChoiceValue[]; labels?: readonly string[] }) {
  const t = useTranslations("run.field");
  const index = options.findIndex((option) => option === value);
  const isEmpty = value === undefined || value === "";
  return (
    <Select {...rest} value={String(index)} onChange={({ target }) => onChange(options[Number(target.value)])} className="max-w-full">
      {index < 0 ? (
        <option value="-1" disabled={isEmpty}>
          {isEmpty ? t("noChoice") : t("otherChoice", { value: String(value) })}
        </option>
      ) : null}
      <Options of={options.map((option, index) => [index, labels?.[index] ?? String(option)])} />
    </Select>
  );
}

/** A rectangle in pixels, as four numbers. Keeps other fields that a service stores in it. */
export function BoxControl({ id, name, value, onChange, className: _, ...rest }: ControlProps & { name: string }) {
  const t = useTranslations("run.field.box");
  const box = isObject(value) ? value : {};
  return (
    <span role="group" aria-label={name} className="flex flex-wrap gap-x-3 gap-y-1.5">
      {boxEdges.map((edge, index) => (
        <label key={edge} className="flex items-center gap-1.5 text-ink-2">
          {t(edge)}
          <NumberControl
            {...rest}
            id={index === 0 ? id : `${id}-${edge}`}
            value={box[edge]}
            integer
            onChange={(value) => onChange({ ...box, [edge]: value })}
            className="w-20"
          />
        </label>
      ))}
    </span>
  );
}

type SliderControlProps = ControlProps & { name: string; control: Extract<Control, { kind: "number" }> };

/** A slider and a number field for the same number. While the field is empty, the slider shows the preset. */
export function SliderControl({
  name,
  control: { integer, min = 0, max = 1, step = integer ? 1 : undefined, preset },
  ...props
}: SliderControlProps) {
  const { value, onChange } = props;
  return (
    <span className="flex items-center gap-3">
      <input
        type="range"
        aria-label={name}
        min={Number(min)}
        max={Number(max)}
        step={step ?? "any"}
        value={Number(typeof value === "number" ? value : (preset ?? min))}
        onChange={({ target }) => onChange(Number(target.value))}
        className="min-w-0 flex-1 accent-current"
      />
      <NumberControl {...props} {...{ min, max, step }} integer={integer} className="w-24" />
    </span>
  );
}

type AppSeedControlProps = ControlProps & { control: Extract<Control, { kind: "seed" }> };

/** A fixed seed repeats the result. "Random" draws a new seed with every run. */
export function AppSeedControl({ control: { random, label }, value, placeholder, onChange, ...rest }: AppSeedControlProps) {
  const isRandom = value === random || value === undefined;
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
      <NumberControl
        {...rest}
        placeholder={isRandom ? undefined : placeholder}
        value={isRandom ? "" : value}
        integer
        disabled={isRandom}
        onChange={onChange}
        className="w-44"
      />
      <label className="flex items-center gap-1.5 text-ink-2">
        <Checkbox checked={isRandom} onChange={({ target }) => onChange(target.checked ? random : 0)} />
        {label}
      </label>
    </span>
  );
}
