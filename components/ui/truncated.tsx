import { type ReactNode } from "react";
import { cn } from "./cn";

/** Longer text may not fit the narrowest column. */
const MIN_TRUNCATED_LENGTH = 16;

/** One line that ends in an ellipsis if too long; hovering shows the whole text. */
export function Truncated({ text, className }: { text: string; className?: string }) {
  return (
    <span title={text.length > MIN_TRUNCATED_LENGTH ? text : undefined} className={cn("block truncate", className)}>
      {text}
    </span>
  );
}

/** Returns short text unchanged, to save elements in long lists. */
export function truncateIfLong(text: string): ReactNode {
  return text.length > MIN_TRUNCATED_LENGTH ? <Truncated text={text} /> : text;
}

/** A file's name, isolated so that its writing direction never affects the surrounding text. */
export function FileName({ name }: { name: string }) {
  return <bdi>{name}</bdi>;
}
