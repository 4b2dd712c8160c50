import { type ReactNode } from "react";
import { cn } from "./cn";

/** Longer text may not fit the narrowest column. */
const MAX_UNTRUNCATED_LENGTH = 16;

/** Shows text on one line, with an ellipsis if it is too long. Hovering shows the full text. */
export function Truncated({ text, className }: { text: string; className?: string }) {
  return (
    <span title={text.length > MAX_UNTRUNCATED_LENGTH ? text : undefined} className={cn("block truncate", className)}>
      {text}
    </span>
  );
}

/** Returns short text unchanged, to save elements in long lists. */
export function renderTruncated(text: string): ReactNode {
  return text.length > MAX_UNTRUNCATED_LENGTH ? <Truncated text={text} /> : text;
}

/** A file's name, isolated so that its writing direction never affects the surrounding text. */
export function FileName({ name }: { name: string }) {
  return <bdi>{name}</bdi>;
}
