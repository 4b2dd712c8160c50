import { type ReactNode } from "react";

/** Marks the element that the key `/` focuses. */
export const FILTERS = "data-filters";

type ToolBarProps = { label: string; isLong?: boolean; children: ReactNode };

/**
 * Sticky below the page's header: filters on the left, the view's tools on the right. `isLong`: two rows where one is too narrow;
 * elements below it read its height from --tool-bar (globals.css).
 */
export function ToolBar({ label, isLong = false, children }: ToolBarProps) {
  return (
    <div
      role="group"
      aria-label={label}
      {...{ [FILTERS]: isLong ? "long" : "" }}
      className={`flex min-h-(--tool-bar) shrink-0 items-center gap-x-2 gap-y-1.5 overflow-x-auto border-b border-line bg-bg px-4 py-2 md:sticky md:top-[52px] md:z-20 md:px-5 ${isLong ? "lg:max-xl:h-(--tool-bar) lg:max-xl:flex-wrap xl:max-[90rem]:gap-x-1.5 xl:max-[90rem]:[&_.rounded-full]:px-2" : ""}`}
    >
      {children}
    </div>
  );
}
