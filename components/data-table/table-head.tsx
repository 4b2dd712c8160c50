import dynamic from "next/dynamic";
import { useId } from "react";
import { useHydrated } from "@/components/ui/time/use-now";
import { headCellStyle } from "./cell-style";
import { ownWidth } from "./drawn-columns";
import { type Column, type Sizing, type Sorting } from "./features";

// Loaded once the page works, as nothing can be dragged before. The list also works without handles.
const noHandle = () => () => null;
const ResizeHandle = dynamic(() => import("./resize-handle").then((module) => module.ResizeHandle, noHandle), { ssr: false });

type TableHeadProps<Row> = {
  columns: readonly Column<Row>[];
  sorting: Sorting | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
};

const ariaSort = { asc: "ascending", desc: "descending" } as const;
const arrow = { asc: "↑", desc: "↓" } as const;

export function TableHead<Row>({ columns, sorting, sizing, isLong }: TableHeadProps<Row>) {
  return (
    <thead role={isLong ? "rowgroup" : undefined}>
      <tr role={isLong ? "row" : undefined}>
        {columns.map((column) => (
          <HeadCell key={column.id} column={column} sort={sorting?.[column.id]} sizing={sizing} isLong={isLong} />
        ))}
      </tr>
    </thead>
  );
}

type HeadCellProps = {
  column: Pick<Column<never>, "id" | "header" | "look">;
  sort: Sorting[string] | undefined;
  sizing: Sizing | undefined;
  isLong: boolean;
};

function HeadCell({ column: { id, header, look }, sort, sizing, isLong }: HeadCellProps) {
  const px = sizing?.widths[id];
  // Otherwise the handle's width would be read out as a part of the column's name.
  const nameId = useId();
  const isSized = sizing !== undefined && !look?.isRigid;
  const isHydrated = useHydrated();
  return (
    <th
      scope="col"
      data-column={id}
      aria-labelledby={isSized ? nameId : undefined}
      aria-sort={sort?.direction && ariaSort[sort.direction]}
      role={isLong ? "columnheader" : undefined}
      style={ownWidth(px)}
      className={headCellStyle(look, isLong)}
    >
      {sort ? (
        <button type="button" id={nameId} onClick={sort.onSort} className="rounded-sm hover:text-ink">
          {header}
          {sort.direction ? <span aria-hidden="true"> {arrow[sort.direction]}</span> : null}
        </button>
      ) : (
        <span id={nameId} className={look?.hiddenHeader ? "sr-only" : undefined}>
          {header}
        </span>
      )}
      {isSized && isHydrated ? <ResizeHandle id={id} px={px} sizing={sizing} /> : null}
    </th>
  );
}
