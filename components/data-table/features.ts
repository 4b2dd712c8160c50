import { createColumnHelper, type RowData, tableFeatures } from "@tanstack/react-table";

/** How a column looks; the table knows nothing of what it holds. */
export type ColumnLook = {
  align?: "end";
  /** Tailwind classes of the header, which sets the column's width. */
  width?: string;
  /** Tailwind classes of header and cells: from which screen width on the column is there. */
  shown?: string;
  /** The header is for screen readers only. */
  hiddenHeader?: true;
  /** Its width is what it holds and cannot be another. */
  isRigid?: true;
};

const columnMeta: ColumnLook = {};

/** Only what is used is in the bundle: the service sorts, filters and pages. */
export const features = tableFeatures({ columnMeta });
export type Features = typeof features;

export function columnsFor<Row extends RowData>() {
  return createColumnHelper<Features, Row>();
}

/** By column: which way it sorts now, if it does, and what a press on its header asks for. */
export type Sorting = Readonly<Record<string, { direction?: "asc" | "desc"; onSort: () => void }>>;

/** Widths that were given to columns, in pixels; `label` names the handle of a column, `usual` means a width that was not given. */
export type Sizing = {
  widths: Readonly<Record<string, number>>;
  onResize: (id: string, px: number) => void;
  label: (id: string) => string;
  usual: string;
};
