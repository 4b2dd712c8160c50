"use client";

import { Skeleton } from "@/components/ui/skeleton";
import { bodyCellStyle, headCellStyle } from "./cell-style";
import { type ColumnLook } from "./features";

type TableSkeletonProps = {
  /** What a screen reader hears once. */
  label: string;
  /** The real table's looks, with the width of what stands in each column; 0 leaves a cell empty. */
  columns: readonly { look?: ColumnLook; width: "none" | "thumb" | "short" | "long" }[];
  rows?: number;
  isFixed?: boolean;
};

const widths = { none: "", thumb: "h-9 w-[52px]", short: "h-3.5 w-16", long: "h-3.5 w-28" };

export function TableSkeleton({ label, columns, rows = 15, isFixed = false }: TableSkeletonProps) {
  return (
    <div role="status" aria-label={label}>
      <table aria-hidden="true" className={isFixed ? "data-table fixed-columns two-lines" : "data-table"}>
        <thead>
          <tr>
            {columns.map(({ look }, index) => (
              <th key={index} className={headCellStyle(look)}>
                &nbsp;
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, row) => (
            <tr key={row}>
              {columns.map(({ look, width }, index) => (
                <td key={index} className={bodyCellStyle(look)}>
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
