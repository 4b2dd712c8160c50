"use client";

import { useTranslations } from "next-intl";
import { useLayoutEffect, useRef, useState } from "react";
import { Input } from "@/components/ui/input";
import { Textarea } from "@/components/ui/textarea";
import { MASK } from "@/lib/contract/secret-texts";
import { type ControlProps } from "./control-props";

/**
 * The browser alone holds what is typed, and hands on each change: React writes the value and the default value of a field that it knows
 * them of back into it, three times with every key, which takes longer than all else where the text is a megabyte. What comes from elsewhere
 * (the opened workflow, a way back, a picture's name) is written in.
 */
export function TextControl({ value, onChange, isLong = false, ...rest }: ControlProps & { isLong?: boolean }) {
  const t = useTranslations("run.field");
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const text = shownText(value);
  const [rows] = useState(() => rowsOf(text));
  const held = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (held.current === text || !field.current) return;
    held.current = text;
    field.current.value = text;
  }, [text]);
  const props = {
    ...rest,
    ref: field,
    // A masked value is shown as what it is: nothing that could be sent.
    ...(value === MASK && { placeholder: t("masked") }),
    onChange: ({ target }: { target: { value: string } }) => {
      held.current = target.value;
      onChange(target.value);
    },
  };
  return isLong ? <Textarea {...props} rows={rows} /> : <Input {...props} />;
}

function shownText(value: unknown): string {
  return value === MASK ? "" : typeof value === "string" ? value : String(value ?? "");
}

/** Large enough for what is in it, and never the whole page; the corner makes it larger. */
function rowsOf(text: string): number {
  const beginning = text.slice(0, 2000);
  return Math.min(14, Math.max(3, Math.ceil(beginning.length / 70), beginning.split("\n").length));
}
