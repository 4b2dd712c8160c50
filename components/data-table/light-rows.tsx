"use client";

import { memo } from "react";

type LightRowsProps<Row> = { rows: readonly Row[]; textOf: (row: Row) => string };

/** Rows out of view: a line of text each, in the height that the real ones have. The browser lays them out when they come near. */
export const LightRows = memo(LightRowsView) as typeof LightRowsView;

function LightRowsView<Row>({ rows, textOf }: LightRowsProps<Row>) {
  return (
    <tr className="light-rows">
      {/* One cell: a span over columns that a narrow screen hides would bring them back, empty. */}
      <td className="whole-cell">
        <div style={{ height: `calc(var(--row-height) * ${rows.length})` }}>{rows.map(textOf).join("\n")}</div>
      </td>
    </tr>
  );
}
