"use client";

import { memo } from "react";

type LightRowsProps<Row> = { rows: readonly Row[]; textOf: (row: Row) => string; span: number };

/** Rows out of view: a line of text each, in the height that the real ones have. The browser lays them out when they come near. */
export const LightRows = memo(LightRowsView, (a, b) => {
  const isSame = a.rows.length === b.rows.length && a.rows.every((row, index) => row === b.rows[index]);
  return isSame && a.textOf === b.textOf && a.span === b.span;
}) as typeof LightRowsView;

function LightRowsView<Row>({ rows, textOf, span }: LightRowsProps<Row>) {
  return (
    <tr className="light-rows">
      <td colSpan={span} className="whole-cell">
        <div style={{ height: `calc(var(--row-height) * ${rows.length})` }}>{rows.map(textOf).join("\n")}</div>
      </td>
    </tr>
  );
}
