import { cn } from "@/components/ui/cn";
import { type ColumnLook } from "./features";

const edges = "first:pl-4 last:pr-4 md:first:pl-5 md:last:pr-5";

/** The header stays below the page's header and tool bar (52 + 51 px) while the page scrolls. */
export function headCellStyle(look: ColumnLook | undefined): string {
  return cn(
    "z-10 border-b border-line bg-bg px-2.5 py-[7px] text-left text-sm font-medium whitespace-nowrap text-ink-3 md:sticky md:top-[103px]",
    edges,
    look?.align === "end" && "text-right",
    look?.className,
  );
}

export function bodyCellStyle(look: ColumnLook | undefined): string {
  return cn(
    "h-[46px] border-b border-line px-2.5 py-[5px] whitespace-nowrap",
    edges,
    look?.align === "end" && "text-right",
    look?.className,
  );
}
