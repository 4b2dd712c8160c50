import { cn } from "@/components/ui/cn";
import { Skeleton } from "@/components/ui/skeleton";
import { bodyCellStyle, type ColumnLook, headCellStyle } from "./table-columns";

type TableSkeletonProps = {
  /** Announced once to screen readers. */
  label: string;
  /** The real table's looks, with the width of each column's content; "none" leaves a cell empty. */
  columns: readonly { look?: ColumnLook; width: "none" | "thumb" | "short" | "long" }[];
  rows?: number;
  isFixed?: boolean;
  /** For a table with many rows. */
  isLong?: boolean;
  /** As tall as the rows of a table that has a second line in each row on narrow screens. */
  isTwoLines?: boolean;
};

const widths = { none: "", thumb: "h-9 w-[52px]", short: "h-3.5 w-16", long: "h-3.5 w-28" };

export function TableSkeleton({
  label,
  columns,
  rows = 15,
  isFixed = false,
  isLong = false,
  isTwoLines = isFixed || isLong,
}: TableSkeletonProps) {
  return (
    <div role="status" aria-label={label}>
      <table aria-hidden="true" className={cn("data-table", isLong ? "long-rows" : isFixed && "fixed-columns", isTwoLines && "two-lines")}>
        <thead>
          <tr>
            {columns.map(({ look }, index) => (
              <th key={index} className={headCellStyle(look, isLong)}>
                &nbsp;
              </th>
            ))}
          </tr>
        </thead>
        <tbody style={isLong ? { height: `calc(var(--row-height) * ${rows})` } : undefined}>
          {Array.from({ length: rows }, (_, row) => (
            <tr key={row}>
              {columns.map(({ look, width }, index) => (
                <td key={index} className={bodyCellStyle(look, isLong)}>
                  {width === "none" ? null : <Skeleton className={`${widths[width]} ${look?.align === "end" ? "ml-auto" : ""}`} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
