import { cn } from "@/components/ui/cn";
import { type ColumnLook } from "./features";

/** The common style of cells is in the stylesheet, under the table's class; this adds only what differs by column. */
export function headCellStyle(look: ColumnLook | undefined, isLong = false): string | undefined {
  return cn(look?.align, look?.shown, widthOf(look, isLong)) || undefined;
}

export function bodyCellStyle(look: ColumnLook | undefined, isLong = false): string | undefined {
  return cn(look?.align, look?.shown, isLong && widthOf(look, isLong)) || undefined;
}

function widthOf(look: ColumnLook | undefined, isLong: boolean): string | undefined {
  if (!isLong) return look?.width;
  return cn(look?.width ?? "takes-rest", look?.isRigid && "grow-0");
}
