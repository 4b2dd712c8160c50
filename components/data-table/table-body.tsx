"use client";

import { type ColumnDef, type Row as ModelRow, type RowData } from "@tanstack/react-table";
import { type MouseEvent, type RefObject, useMemo } from "react";
import { type Features } from "./features";
import { LightRows } from "./light-rows";
import { type RowMarks, TableRow } from "./table-row";
import { CHUNK, useWindow } from "./use-window";

type TableBodyProps<Row extends RowData> = {
  element: RefObject<HTMLTableElement | null>;
  model: readonly ModelRow<Features, Row>[];
  rows: readonly Row[];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- see DataTable
  columns: ColumnDef<Features, Row, any>[];
  isSelected?: (row: Row) => boolean;
  marks?: RowMarks;
  isBusy?: (row: Row) => boolean;
  lightText?: (row: Row) => string;
  /** Where `rows` begin in a longer list. */
  firstRow?: number;
  onPress?: (event: MouseEvent<HTMLElement>) => void;
};

/** The rows near the screen, whole, and the others as text. Scrolling draws this and nothing else of the page. */
export function TableBody<Row extends RowData>(props: TableBodyProps<Row>) {
  const { element, model, rows, columns, isSelected, marks, isBusy, lightText, firstRow, onPress } = props;
  const { from, to } = useWindow(element, rows.length, lightText !== undefined);
  const pieces = useMemo(() => (lightText ? piecesOf(rows) : []), [rows, lightText]);
  const light = (first: number, last: number) =>
    lightText ? <LightRows pieces={pieces.slice(Math.ceil(first / CHUNK), Math.ceil(last / CHUNK))} textOf={lightText} /> : null;
  return (
    <tbody onClick={onPress} onAuxClick={onPress}>
      {light(0, from)}
      {model.slice(from, to).map((row, index) => (
        <TableRow
          key={row.id}
          row={row}
          columns={columns}
          index={firstRow !== undefined || lightText ? (firstRow ?? 0) + from + index + 2 : undefined}
          isBusy={isBusy?.(row.original) ?? false}
          isSelected={isSelected?.(row.original) ?? false}
          marks={marks}
        />
      ))}
      {light(to, rows.length)}
    </tbody>
  );
}

/** The same pieces for the same rows, so that what stands as text is not joined anew while the window moves. */
function piecesOf<Row>(rows: readonly Row[]): { at: number; rows: readonly Row[] }[] {
  return Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, at) => ({ at, rows: rows.slice(at * CHUNK, (at + 1) * CHUNK) }));
}
