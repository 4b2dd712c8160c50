import { type RowData } from "@tanstack/react-table";
import { memo, useCallback, useSyncExternalStore } from "react";
import { type RowGroup } from "./row-groups";
import { type RowWindow } from "./row-window";
import { drawRow, type RowLook } from "./table-row";

type RowsOfProps<Row extends RowData> = {
  group: RowGroup<Row>;
  rowWindow: RowWindow;
  look: RowLook<Row>;
  lightText: (row: Row) => string;
  /** Where the list's rows begin in a longer one. */
  listFirst: number;
};

/** Some rows: whole near the screen, text elsewhere, in the same height. */
export const RowsOf = memo(RowsOfView) as typeof RowsOfView;

function RowsOfView<Row extends RowData>({ group, rowWindow, look, lightText, listFirst }: RowsOfProps<Row>) {
  const { key, first, offset, rows } = group;
  const subscribe = useCallback((listener: () => void) => rowWindow.subscribe(key, listener), [rowWindow, key]);
  const span = useSyncExternalStore(
    subscribe,
    () => rowWindow.spanOf(key),
    () => rowWindow.firstSpanOf(key),
  );
  const from = Math.max(0, span.from - offset);
  const to = Math.max(from, Math.min(rows.length, span.to - offset));
  const { isLong } = look;
  return (
    <tbody
      data-group={key}
      role={isLong ? (from < to ? "rowgroup" : "none") : undefined}
      style={isLong ? { height: heightOf(rows.length) } : undefined}
    >
      {from > 0 ? <LightRows rows={rows.slice(0, from)} lightText={lightText} /> : null}
      {rows.slice(from, to).map((row, at) => drawRow(row, look, listFirst + first + from + at))}
      {to < rows.length ? <LightRows rows={rows.slice(to)} lightText={lightText} /> : null}
    </tbody>
  );
}

const heightOf = (count: number) => `calc(var(--row-height) * ${count})`;

type LightRowsProps<Row> = { rows: readonly Row[]; lightText: (row: Row) => string };

/** Their words replace the rows while the list flies past, and in the browser's own search. The stylesheet leaves out what is far from view. */
function LightRows<Row>({ rows, lightText }: LightRowsProps<Row>) {
  return (
    <tr role="none" className="light-rows">
      {/* One cell: a span over columns that a narrow screen hides would bring them back, empty. */}
      <td role="none" className="whole-cell">
        <div aria-hidden="true" style={{ height: heightOf(rows.length) }}>
          {rows.map(lightText).join("\n")}
        </div>
      </td>
    </tr>
  );
}
