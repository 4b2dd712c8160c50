import { useTranslations } from "next-intl";
import { type KeyboardEvent, useLayoutEffect, useRef, useState } from "react";
import { cn } from "@/components/ui/cn";
import { Textarea } from "@/components/ui/controls/textarea";
import { MASK } from "@/lib/contract/secrets/secret-texts";
import { type ControlProps } from "./control-props";

/**
 * The browser alone holds what is typed, and hands on each change: React writes the value and the default value of a field that it knows
 * them of back into it, three times with every key, which takes longer than all else where the text is a megabyte. What comes from elsewhere
 * (the opened workflow, a way back, a picture's name) is written in.
 *
 * One element for one line and for many: the service's list of nodes, which says which it is, may come while a person types, and a line break
 * in an input of one line is sent, so it is shown.
 */
export function TextControl({ value, onChange, isLong = false, ...rest }: ControlProps & { isLong?: boolean }) {
  const t = useTranslations("run.field");
  const field = useRef<HTMLTextAreaElement>(null);
  const text = shownText(value);
  const [first] = useState(() => rowsOf(text));
  const held = useRef<string>(undefined);
  useLayoutEffect(() => {
    if (held.current === text || !field.current) return;
    held.current = text;
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
      // A masked value is shown as what it is: nothing that could be sent.
      {...(value === MASK && { placeholder: t("masked") })}
      onChange={({ target }) => {
        held.current = target.value;
        onChange(target.value);
      }}
      onKeyDown={isLong ? undefined : keepToOneLine}
      className={cn(isOneLine && "h-[30px] resize-none overflow-hidden py-1 whitespace-pre")}
    />
  );
}

/** Enter ends nothing and breaks no line, as in any field of one line; while a word is composed it is the keyboard's. */
function keepToOneLine(event: KeyboardEvent) {
  if (event.key === "Enter" && !event.nativeEvent.isComposing) event.preventDefault();
}

function shownText(value: unknown): string {
  return value === MASK || value === undefined ? "" : String(value);
}

const MOST_ROWS = 14;

function linesOf(text: string): number {
  return Math.min(MOST_ROWS, text.slice(0, 2000).split(/\r\n?|\n/).length);
}

/** Large enough for what is in it, and never the whole page; the corner makes it larger. */
function rowsOf(text: string): number {
  return Math.min(MOST_ROWS, Math.max(linesOf(text), Math.ceil(text.slice(0, 2000).length / 70)));
}
