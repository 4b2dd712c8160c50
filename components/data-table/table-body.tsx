"use client";

import { type RowData } from "@tanstack/react-table";
import { type RefObject, useState } from "react";
import { RowsOf } from "./row-group";
import { type Grouped, groupRows } from "./row-groups";
import { drawRow, type RowLook } from "./table-row";
import { useRowWindow } from "./use-row-window";

type TableBodyProps<Row extends RowData> = {
  rows: readonly Row[];
  look: RowLook<Row>;
  /** Where `rows` begin in a longer list. */
  listFirst: number;
};

export function PlainBody<Row extends RowData>({ rows, look, listFirst }: TableBodyProps<Row>) {
  return <tbody>{rows.map((row, at) => drawRow(row, look, listFirst + at))}</tbody>;
}

type GroupedBodyProps<Row extends RowData> = TableBodyProps<Row> & {
  element: RefObject<HTMLTableElement | null>;
  lightText: (row: Row) => string;
};

/** The rows near the screen, whole, and the others as text. Scrolling draws groups of them and nothing else of the page. */
export function GroupedBody<Row extends RowData>({ element, rows, look, listFirst, lightText }: GroupedBodyProps<Row>) {
  const grouped = useGrouped(rows, look.rowId);
  const rowWindow = useRowWindow(element, grouped);
  return grouped.groups.map((group) => (
    <RowsOf key={group.key} group={group} rowWindow={rowWindow} look={look} lightText={lightText} listFirst={listFirst} />
  ));
}

function useGrouped<Row>(rows: readonly Row[], idOf: (row: Row) => string): Grouped<Row> {
  const [held, setHeld] = useState(() => groupRows(rows, idOf));
  if (held.rows === rows) return held;
  const next = groupRows(rows, idOf, held);
  setHeld(next);
  return next;
}
