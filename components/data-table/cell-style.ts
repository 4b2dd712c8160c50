import { cn } from "@/components/ui/cn";
import { type ColumnLook } from "./features";

/** What every cell shares is in the stylesheet, under the table's class; here is only what one column adds. */
export function headCellStyle(look: ColumnLook | undefined): string | undefined {
  return cn(look?.align, look?.shown, look?.width) || undefined;
}

export function bodyCellStyle(look: ColumnLook | undefined): string | undefined {
  return cn(look?.align, look?.shown) || undefined;
}
