import { type ReactNode } from "react";
import { cn } from "./cn";

/** Longer text may be cut by the narrowest column it appears in. */
const SHOWN = 16;

/** One line that ends in an ellipsis if too long; hovering shows the whole text. */
export function Cut({ text, className }: { text: string; className?: string }) {
  return (
    <span title={text.length > SHOWN ? text : undefined} className={cn("block truncate", className)}>
      {text}
    </span>
  );
}

/** Short text is returned as it is, as a long list has one in each row. */
export function cutWhereLong(text: string): ReactNode {
  return text.length > SHOWN ? <Cut text={text} /> : text;
}

/** A file's name, isolated so that its writing direction never affects the surrounding text. */
export function FileName({ name }: { name: string }) {
  return <bdi>{name}</bdi>;
}
