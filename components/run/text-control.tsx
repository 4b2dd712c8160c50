"use client";

import { useTranslations } from "next-intl";
import { useLayoutEffect, useRef, useState } from "react";
import { Input } from "@/components/ui/input";
import { Textarea } from "@/components/ui/textarea";
import { MASK } from "@/lib/contract/secret-texts";
import { type ControlProps } from "./control-props";

/**
 * The browser holds what is typed, and hands on each change: a field that React wrote back with every key would lay out a text of a
 * megabyte anew each time. What comes from elsewhere (a way back, a picture's name) is written in.
 */
export function TextControl({ value, onChange, isLong = false, ...rest }: ControlProps & { isLong?: boolean }) {
  const t = useTranslations("run.field");
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const text = shownText(value);
  const [first] = useState(text);
  const held = useRef(text);
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
    defaultValue: first,
    onChange: ({ target }: { target: { value: string } }) => {
      held.current = target.value;
      onChange(target.value);
    },
  };
  return isLong ? <Textarea {...props} rows={rowsOf(first)} /> : <Input {...props} />;
}

function shownText(value: unknown): string {
  return value === MASK ? "" : typeof value === "string" ? value : String(value ?? "");
}

/** Large enough for what is in it, and never the whole page; the corner makes it larger. */
function rowsOf(text: string): number {
  const beginning = text.slice(0, 2000);
  return Math.min(14, Math.max(3, Math.ceil(beginning.length / 70), beginning.split("\n").length));
}
