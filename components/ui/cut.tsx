import { type ReactNode } from "react";
import { cn } from "./cn";

/** What is longer than this may be cut by the narrowest column it is in. */
const SHOWN = 16;

/** One line that ends in an ellipsis where its room ends; the whole of it is one hover away. */
export function Cut({ text, className }: { text: string; className?: string }) {
  return (
    <span title={text.length > SHOWN ? text : undefined} className={cn("block truncate", className)}>
      {text}
    </span>
  );
}

/** Words in a column that is wide enough for all that are not cut: as they are, since a list of many has them in each row. */
export function cutWhereLong(text: string): ReactNode {
  return text.length > SHOWN ? <Cut text={text} /> : text;
}
