import { useTranslations } from "next-intl";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Textarea } from "@/components/ui/controls/textarea";
import { isComposing } from "@/components/ui/hooks/page-keys";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type ControlProps } from "./control-props";

/**
 * An uncontrolled field: the browser holds the text and reports each change. In a controlled field React writes the value and default value
 * back three times with every key, which takes longer than all else where the text is a megabyte. Changes from outside
 * (the opened workflow, a way back, a picture's name) are written into the field.
 *
 * One element for one line and for many: the service's list of nodes, which says which it is, may arrive while a person types, and a line
 * break in an input of one line is sent, so it is shown.
 */
export function TextControl({ value, onChange, isLong = false, ...rest }: ControlProps & { isLong?: boolean }) {
  const t = useTranslations("run.field");
  const field = useRef<HTMLTextAreaElement>(null);
  const text = shownText(value);
  const [first] = useState(() => rowsOf(text));
  const shown = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (shown.current === text || !field.current) return;
    shown.current = text;
    field.current.value = text;
  }, [text]);
  const lines = isLong ? Math.max(3, first) : linesOf(text);
  const isOneLine = lines === 1;
  return (
    <Textarea
      {...rest}
      ref={field}
      rows={lines}
      autoComplete="off"
      // A masked value cannot be sent, so it is shown as a placeholder.
      {...(value === MASK && { placeholder: t("masked") })}
      onChange={({ target }) => {
        shown.current = target.value;
        onChange(target.value);
      }}
      onKeyDown={isLong ? undefined : keepToOneLine}
      className={cn(isOneLine && "h-[30px] resize-none overflow-hidden py-1 whitespace-pre")}
    />
  );
}

/** In a field of one line Enter neither submits nor breaks the line; during composition (IME) Enter is left to the keyboard. */
function keepToOneLine(event: KeyboardEvent) {
  if (event.key === "Enter" && !isComposing(event.nativeEvent)) event.preventDefault();
}

function shownText(value: unknown): string {
  return value === MASK || value === undefined ? "" : String(value);
}

const MOST_ROWS = 14;

function linesOf(text: string): number {
  return Math.min(MOST_ROWS, text.slice(0, 2000).split(/\r\n?|\n/).length);
}

/** Large enough for its text, but never the whole page; the corner can be dragged to enlarge it. */
function rowsOf(text: string): number {
  return Math.min(MOST_ROWS, Math.max(linesOf(text), Math.ceil(text.slice(0, 2000).length / 70)));
}
