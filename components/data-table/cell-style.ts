import { cn } from "@/components/ui/cn";
import { type ColumnLook } from "./features";

/** What every cell shares is in the stylesheet, under the table's class; here is only what one column adds. */
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
