import { type Header, type ReactTable, type RowData } from "@tanstack/react-table";
import dynamic from "next/dynamic";
import { type ReactNode, useId } from "react";
import { useHydrated } from "@/components/ui/time/use-now";
import { headCellStyle } from "./cell-style";
import { ownWidth } from "./drawn-columns";
import { type Features, type Sizing, type Sorting } from "./features";

// Loaded once the page works, as nothing can be dragged before. The list also works without handles.
const noHandle = () => () => null;
const ResizeHandle = dynamic(() => import("./resize-handle").then((module) => module.ResizeHandle, noHandle), { ssr: false });

type TableHeadProps<Row extends RowData> = {
  table: ReactTable<Features, Row>;
  sorting: Sorting | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
};

const ariaSort = { asc: "ascending", desc: "descending" } as const;
const arrow = { asc: "↑", desc: "↓" } as const;

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
  // Otherwise the handle's width would be read out as a part of the column's name.
  const nameId = useId();
  const isSized = sizing !== undefined && !look?.isRigid;
  const isHydrated = useHydrated();
  return (
    <th
      scope="col"
      data-column={header.id}
      aria-labelledby={isSized ? nameId : undefined}
      aria-sort={sort?.direction && ariaSort[sort.direction]}
      role={isLong ? "columnheader" : undefined}
      style={ownWidth(px)}
      className={headCellStyle(look, isLong)}
    >
      {sort ? (
        <button type="button" id={nameId} onClick={sort.onSort} className="rounded-sm hover:text-ink">
          {children}
          {sort.direction ? <span aria-hidden="true"> {arrow[sort.direction]}</span> : null}
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
