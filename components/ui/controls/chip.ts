import { cn } from "../cn";

/** The style of a filter that is a link, a button or a plain word. Its text is not cut unless it has a width. */
export function chipStyle(isOn: boolean, className?: string, isEdged = false): string {
  return cn(
    "inline-flex items-center gap-1.5 rounded-full border px-2.5 py-[3px] whitespace-nowrap",
    isOn
      ? "border-ink bg-ink text-bg"
      : `${isEdged ? "border-control" : "border-line"} bg-surface text-ink-2 hover:border-line-strong hover:text-ink`,
    className,
  );
}
