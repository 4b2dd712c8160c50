import { type ReactNode } from "react";

/** Marks where the key `/` leads. */
export const FILTERS = "data-filters";

/** Below the page's header and as still as it: filters on the left, what is about the view on the right. */
export function ToolBar({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div
      role="group"
      aria-label={label}
      {...{ [FILTERS]: "" }}
      className="flex min-h-[51px] shrink-0 items-center gap-2 overflow-x-auto border-b border-line bg-bg px-4 py-2 md:sticky md:top-[52px] md:z-20 md:px-5"
    >
      {children}
    </div>
  );
}
