import { useState } from "react";
import { Input } from "@/components/ui/controls/input";
import { type ControlProps } from "./control-props";

type NumberControlProps = ControlProps & { integer: boolean };

/**
 * Keeps what is typed letter by letter ("1." on the way to "1.5") and hands on a number as soon as it is one.
 * What is no number goes into the graph as it is: what is seen is what is sent, and the service names the field.
 */
export function NumberControl({ value, integer, onChange, className, ...rest }: NumberControlProps) {
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
      className={className}
    />
  );
}

/** A whole number beyond what a double holds keeps its digits: a seed of twenty of them is sent as it was typed. */
function toValue(draft: string): unknown {
  const text = draft.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return draft;
  const number = Number(text);
  if (/^[+-]?\d{16,40}$/.test(text) && !Number.isSafeInteger(number)) return BigInt(text.replace(/^\+/, ""));
  return Number.isFinite(number) ? number : draft;
}
