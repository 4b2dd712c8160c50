import { type Header, type ReactTable, type RowData } from "@tanstack/react-table";
import dynamic from "next/dynamic";
import { memo, type ReactNode, useId, useMemo, useSyncExternalStore } from "react";
import { renderNothing } from "@/components/ui/skeleton";
import { useHydrated } from "@/components/ui/time/use-now";
import { type CellColumns, type Features, headCellStyle, type Sizing, type Sorting, widthStyle } from "./table-columns";

// Loaded after hydration. The list also works without handles.
const ResizeHandle = dynamic(() => import("./resize-handle").then((module) => module.ResizeHandle, renderNothing), { ssr: false });

type TableHeadProps<Row extends RowData> = {
  table: ReactTable<Features, Row>;
  sorting: Sorting | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
};

const ariaSort = { asc: "ascending", desc: "descending" } as const;
const sortArrows = { asc: "↑", desc: "↓" } as const;

export function TableHead<Row extends RowData>({ table, sorting, sizing, isLong }: TableHeadProps<Row>) {
  return (
    <thead role={isLong ? "rowgroup" : undefined}>
      {table.getHeaderGroups().map((group) => (
        <tr key={group.id} role={isLong ? "row" : undefined}>
          {group.headers.map((header) => (
            <HeadCell key={header.id} header={header} sort={sorting?.[header.id]} sizing={sizing} isLong={isLong}>
              <table.FlexRender header={header} />
            </HeadCell>
          ))}
        </tr>
      ))}
    </thead>
  );
}

type HeadCellProps<Row extends RowData> = {
  header: Header<Features, Row, unknown>;
  sort: Sorting[string] | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
  children: ReactNode;
};

function HeadCell<Row extends RowData>({ header, sort, sizing, isLong, children }: HeadCellProps<Row>) {
  const look = header.column.columnDef.meta;
  const px = sizing?.widths[header.id];
  // Without this, screen readers would read the handle's width as part of the column's name.
  const nameId = useId();
  const isSized = sizing !== undefined && !look?.isFixedWidth;
  const isHydrated = useHydrated();
  return (
    <th
      scope="col"
      data-column={header.id}
      aria-labelledby={isSized ? nameId : undefined}
      aria-sort={sort?.direction && ariaSort[sort.direction]}
      role={isLong ? "columnheader" : undefined}
      style={widthStyle(px)}
      className={headCellStyle(look, isLong)}
    >
      {sort ? (
        <button type="button" id={nameId} onClick={sort.onSort} className="rounded-sm hover:text-ink">
          {children}
          {sort.direction ? <span aria-hidden="true"> {sortArrows[sort.direction]}</span> : null}
        </button>
      ) : (
        <span id={nameId} className={look?.hiddenHeader ? "sr-only" : undefined}>
          {children}
        </span>
      )}
      {isSized && isHydrated ? <ResizeHandle id={header.id} px={px} sizing={sizing} /> : null}
    </th>
  );
}

export type RowMarks = { subscribe: (listener: () => void) => () => void; has: (id: string) => boolean };

/** Properties shared by all rows of a table. */
export type RowLook<Row extends RowData> = {
  rowId: (row: Row) => string;
  cellColumns: CellColumns<Row>;
  isBusy: ((row: Row) => boolean) | undefined;
  isSelected: ((row: Row) => boolean) | undefined;
  marks: RowMarks | undefined;
  /** Rows are laid out as boxes, and need an explicit role. */
  isLong: boolean;
  /** Only a part of the list is in the table, so each row states its index. */
  isPart: boolean;
};

/** A function, so that a row is one component, not two. */
export function drawRow<Row extends RowData>(row: Row, look: RowLook<Row>, index: number): ReactNode {
  const { rowId, cellColumns, isBusy, isSelected, marks, isLong, isPart } = look;
  const id = rowId(row);
  return (
    <TableRow
      key={id}
      row={row}
      id={id}
      index={isPart ? index : undefined}
      cellColumns={cellColumns}
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
  cellColumns: CellColumns<Row>;
  isBusy: boolean;
  isSelected: boolean;
  marks: RowMarks | undefined;
  isLong: boolean;
};

/** Re-renders only when its content changes, so updating one row of a thousand renders one. */
const TableRow = memo(TableRowView) as typeof TableRowView;

function TableRowView<Row extends RowData>({ row, id, index, cellColumns, isBusy, isSelected, marks, isLong }: TableRowProps<Row>) {
  const isMarked = useSyncExternalStore(marks?.subscribe ?? neverNotify, () => marks?.has(id) ?? false, alwaysFalse);
  // A changed mark does not render the cells. Cells are called as functions, since mounting them is slow.
  const cells = useMemo(() => {
    const model = cellColumns.createModel(row, id);
    return cellColumns.columns.map(({ id: column, renderCell, className, style }) => (
      <td key={column} role={isLong ? "cell" : undefined} className={className} style={style}>
        {renderCell(model)}
      </td>
    ));
  }, [cellColumns, row, id, isLong]);
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

const alwaysFalse = () => false;
const neverNotify = () => () => undefined;
