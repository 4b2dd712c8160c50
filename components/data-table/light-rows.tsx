"use client";

import { memo } from "react";

type LightRowsProps<Row> = {
  /** Pieces of the list, each with its place in it. */
  pieces: readonly { at: number; rows: readonly Row[] }[];
  textOf: (row: Row) => string;
};

/** Rows out of view, in the height that the real ones have. One row of the table, however many they are: a table weighs each of its rows anew whenever one changes. */
export function LightRows<Row>({ pieces, textOf }: LightRowsProps<Row>) {
  if (pieces.length === 0) return null;
  return (
    <tr className="light-rows">
      {/* One cell: a span over columns that a narrow screen hides would bring them back, empty. */}
      <td className="whole-cell">
        {pieces.map(({ at, rows }) => (
          <Piece key={at} rows={rows} textOf={textOf} />
        ))}
      </td>
    </tr>
  );
}

const Piece = memo(PieceView) as typeof PieceView;

function PieceView<Row>({ rows, textOf }: { rows: readonly Row[]; textOf: (row: Row) => string }) {
  return (
    <div style={{ height: `calc(var(--row-height) * ${rows.length})` }}>
      <div ref={hideUntilFound}>{rows.map(textOf).join("\n")}</div>
    </div>
  );
}

/** Neither laid out nor painted, but found by the browser's own search, which then shows it and scrolls there. React knows the attribute as a flag only. */
function hideUntilFound(element: HTMLElement | null): void {
  element?.setAttribute("hidden", "until-found");
}
