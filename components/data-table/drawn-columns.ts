import { type CSSProperties, type ReactNode } from "react";
import { bodyCellStyle } from "./cell-style";
import { type Column, type Sizing } from "./features";

/** A column's part of each of its cells, computed once for all of them. */
export type DrawnColumn<Row> = {
  id: string;
  draw: (row: Row) => ReactNode;
  className: string | undefined;
  style: CSSProperties | undefined;
};

/** `isLong`: cells have widths of their own and do not take them from the header. */
export function drawnColumns<Row>(
  columns: readonly Column<Row>[],
  isLong: boolean,
  widths: Sizing["widths"] | undefined,
): readonly DrawnColumn<Row>[] {
  return columns.map(({ id, cell, look }) => ({
    id,
    draw: cell,
    className: bodyCellStyle(look, isLong),
    style: isLong ? ownWidth(widths?.[id]) : undefined,
  }));
}

/** A width set by a person neither grows nor shrinks. */
export function ownWidth(px: number | undefined): CSSProperties | undefined {
  return px === undefined ? undefined : { width: px, flex: "none" };
}
