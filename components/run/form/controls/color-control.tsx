import { useTranslations } from "next-intl";
import { Input } from "@/components/ui/controls/input";
import { type ControlProps } from "./control-props";
import { NumberControl } from "./number-control";

/** A colour picker, and beside it the number that the graph holds. */
export function ColorControl({ name, ...control }: ControlProps & { name: string }) {
  const t = useTranslations("run.field");
  const hex = toHexColor(control.value);
  return (
    <span className="flex flex-wrap items-center gap-2">
      <input
        type="color"
        aria-label={t("colorPicker", { name })}
        value={hex ?? "#000000"}
        onChange={({ target }) => control.onChange(fromHexColor(target.value))}
        className="h-[30px] w-11 shrink-0 rounded-md border border-control bg-surface p-0.5"
      />
      <NumberControl {...control} integer className="w-28" />
      <span className="font-mono text-sm text-ink-3">{hex}</span>
    </span>
  );
}

/** The same for a graph that holds the colour as a hexadecimal text. */
export function HexColorControl({ name, value, onChange, ...control }: ControlProps & { name: string }) {
  const t = useTranslations("run.field");
  const text = typeof value === "string" ? value : "";
  return (
    <span className="flex flex-wrap items-center gap-2">
      <input
        type="color"
        aria-label={t("colorPicker", { name })}
        value={toSwatch(text) ?? "#000000"}
        onChange={({ target }) => onChange(target.value)}
        className="h-[30px] w-11 shrink-0 rounded-md border border-control bg-surface p-0.5"
      />
      <Input {...control} value={text} onChange={({ target }) => onChange(target.value)} autoComplete="off" className="w-28 font-mono" />
    </span>
  );
}

/** The picker's value for "#dba446", "#fff" or "DBA446FF": a picker accepts only six digits. */
function toSwatch(text: string): string | undefined {
  const digits = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/i.exec(text)?.[1]?.toLowerCase();
  if (digits === undefined) return undefined;
  return `#${(digits.length < 6 ? digits.replace(/./g, "$&$&") : digits).slice(0, 6)}`;
}

// Colours as the family's nodes write them: one whole number, red in the high byte.

/** "#dba446" for 14394438; undefined for anything that is no colour, so that the caller shows a plain number. */
function toHexColor(value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffffff) return undefined;
  return `#${value.toString(16).padStart(6, "0")}`;
}

function fromHexColor(hex: string): number | undefined {
  return /^#[0-9a-f]{6}$/i.test(hex) ? Number.parseInt(hex.slice(1), 16) : undefined;
}
