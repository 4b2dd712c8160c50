import { memo, type ReactNode, useMemo, useSyncExternalStore } from "react";
import { type DrawnColumn } from "./drawn-columns";

/** Which rows are marked, outside React's state. */
export type RowMarks = { subscribe: (listener: () => void) => () => void; has: (id: string) => boolean };

/** What all rows of a table have in common. */
export type RowLook<Row> = {
  rowId: (row: Row) => string;
  /** Makes the cells: when it changes, the row renders again. */
  drawn: readonly DrawnColumn<Row>[];
  isBusy: ((row: Row) => boolean) | undefined;
  isSelected: ((row: Row) => boolean) | undefined;
  marks: RowMarks | undefined;
  /** Rows are laid out as boxes, and need the role of a row. */
  isLong: boolean;
  /** Only a part of the list is in the table, so each row states its index. */
  isPart: boolean;
};

/** A function and not a component, so that a row is one component, not two. */
export function drawRow<Row>(row: Row, look: RowLook<Row>, index: number): ReactNode {
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

type TableRowProps<Row> = {
  row: Row;
  id: string;
  index: number | undefined;
  drawn: readonly DrawnColumn<Row>[];
  isBusy: boolean;
  isSelected: boolean;
  marks: RowMarks | undefined;
  isLong: boolean;
};

/** Renders again only when its content changes: a poll that changes one of a thousand rows renders one. */
const TableRow = memo(TableRowView) as typeof TableRowView;

function TableRowView<Row>({ row, id, index, drawn, isBusy, isSelected, marks, isLong }: TableRowProps<Row>) {
  const isMarked = useSyncExternalStore(marks?.subscribe ?? never, () => marks?.has(id) ?? false, no);
  // A changed mark renders the row's edge, not its cells.
  const cells = useMemo(
    () =>
      drawn.map(({ id: column, draw, className, style }) => (
        <td key={column} role={isLong ? "cell" : undefined} className={className} style={style}>
          {draw(row)}
        </td>
      )),
    [drawn, row, isLong],
  );
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
