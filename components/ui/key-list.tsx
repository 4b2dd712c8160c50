import { Fragment } from "react";
import { cn } from "./cn";

type KeyListProps = { rows: readonly { keys: readonly string[]; text: string }[]; className?: string };

/** Keys as printed on a keyboard, each with its effect. */
export function KeyList({ rows, className = "gap-y-1.5" }: KeyListProps) {
  return (
    // Focusable, so that keys can scroll it when it is longer than the window.
    <dl tabIndex={0} className={cn("grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3", className)}>
      {rows.map(({ keys, text }) => (
        <Fragment key={`${keys.join(" ")} ${text}`}>
          <dt className="flex gap-1">
            {keys.map((key) => (
              <kbd key={key} className="rounded-sm border border-line-strong bg-sunken px-1.5 font-mono text-sm text-ink">
                {key}
              </kbd>
            ))}
          </dt>
          <dd>{text}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
