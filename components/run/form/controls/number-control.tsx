import { useState } from "react";
import { Input } from "@/components/ui/controls/input";
import { isComposing } from "@/components/ui/hooks/page-keys";
import { type Limit } from "@/lib/contract/nodes/input-spec";
import { type ControlProps } from "./control-props";

/** `step`: the up and down keys change the value by this much, within its bounds. */
type NumberControlProps = ControlProps & { integer: boolean; min?: Limit; max?: Limit; step?: number };

/**
 * Keeps what is typed letter by letter ("1." on the way to "1.5") and reports a number as soon as it is one.
 * Text that is no number goes into the graph as it is: what is shown is what is sent, and the service names the field.
 */
export function NumberControl({ value, integer, min, max, step, onChange, className, ...rest }: NumberControlProps) {
  const text = value === undefined ? "" : String(value);
  const [draft, setDraft] = useState(text);
  const isOurs = Object.is(toValue(draft), value);
  return (
    <Input
      {...rest}
      inputMode={integer ? "numeric" : "decimal"}
      autoComplete="off"
      value={isOurs ? draft : text}
      onChange={({ target }) => {
        setDraft(target.value);
        onChange(toValue(target.value));
      }}
      onKeyDown={(event) => {
        const sign = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
        if (sign === 0 || isComposing(event.nativeEvent) || step === undefined || typeof value !== "number") return;
        event.preventDefault();
        const next = add(value, sign * step);
        if ((min === undefined || next >= min) && (max === undefined || next <= max)) onChange(next);
      }}
      className={className}
    />
  );
}

/** With no more decimals than the two operands have: 0.1 and 0.2 are 0.3. */
function add(value: number, step: number): number {
  const decimals = (number: number) => /\.(\d+)$/.exec(String(number))?.[1]?.length ?? 0;
  return Number((value + step).toFixed(Math.max(decimals(value), decimals(step))));
}

/** A whole number beyond what a double holds keeps its digits: a seed of twenty digits is sent as it was typed. */
function toValue(draft: string): unknown {
  const text = draft.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return draft;
  const number = Number(text);
  if (/^[+-]?\d{16,40}$/.test(text) && !Number.isSafeInteger(number)) return BigInt(text.replace(/^\+/, ""));
  return Number.isFinite(number) ? number : draft;
}
