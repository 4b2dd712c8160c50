import { type RowData } from "@tanstack/react-table";
import { memo, type ReactNode, useMemo, useSyncExternalStore } from "react";
import { type Drawn } from "./drawn-columns";

/** Which rows are marked, outside React's state. */
export type RowMarks = { subscribe: (listener: () => void) => () => void; has: (id: string) => boolean };

/** What all rows of a table have in common. */
export type RowLook<Row extends RowData> = {
  rowId: (row: Row) => string;
  /** Makes the cells: when it changes, the row renders again. */
  drawn: Drawn<Row>;
  isBusy: ((row: Row) => boolean) | undefined;
  isSelected: ((row: Row) => boolean) | undefined;
  marks: RowMarks | undefined;
  /** Rows are laid out as boxes, and need the role of a row. */
  isLong: boolean;
  /** Only a part of the list is in the table, so each row states its index. */
  isPart: boolean;
};

/** A function and not a component, so that a row is one component, not two. */
export function drawRow<Row extends RowData>(row: Row, look: RowLook<Row>, index: number): ReactNode {
  const { rowId, drawn, isBusy, isSelected, marks, isLong, isPart } = look;
  const id = rowId(row);
  return (
    <TableRow
      key={id}
      row={row}
      id={id}
      index={isPart ? index : undefined}
      drawn={drawn}
      isBusy={isBusy?.(row) ?? false}
      isSelected={isSelected?.(row) ?? false}
      marks={marks}
      isLong={isLong}
    />
  );
}

type TableRowProps<Row extends RowData> = {
  row: Row;
  id: string;
  index: number | undefined;
  drawn: Drawn<Row>;
  isBusy: boolean;
  isSelected: boolean;
  marks: RowMarks | undefined;
  isLong: boolean;
};

/** Renders again only when its content changes: a poll that changes one of a thousand rows renders one. */
const TableRow = memo(TableRowView) as typeof TableRowView;

function TableRowView<Row extends RowData>({ row, id, index, drawn, isBusy, isSelected, marks, isLong }: TableRowProps<Row>) {
  const isMarked = useSyncExternalStore(marks?.subscribe ?? never, () => marks?.has(id) ?? false, no);
  // A changed mark renders the row's edge, not its cells. Cells are called, not mounted: a component each would be half of a row's work.
  const cells = useMemo(() => {
    const model = drawn.modelOf(row, id);
    return drawn.columns.map(({ id: column, draw, className, style }) => (
      <td key={column} role={isLong ? "cell" : undefined} className={className} style={style}>
        {draw(model)}
      </td>
    ));
  }, [drawn, row, id, isLong]);
  return (
    <tr
      data-row={id}
      role={isLong ? "row" : undefined}
      aria-rowindex={index === undefined ? undefined : index + 2}
      aria-busy={isBusy || undefined}
      data-selected={isSelected || isMarked || undefined}
      className="group"
    >
      {cells}
    </tr>
  );
}

const no = () => false;
const never = () => () => undefined;
