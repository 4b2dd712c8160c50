import { createColumnHelper, type RowData, tableFeatures } from "@tanstack/react-table";

/** How a column looks, independent of its content. */
export type ColumnLook = {
  align?: "end";
  /** Tailwind classes of the header, which sets the column's width. */
  width?: string;
  /** Tailwind classes of header and cells: from which screen width on the column is shown. */
  shown?: string;
  /** The header is for screen readers only. */
  hiddenHeader?: true;
  /** Its width follows from its content and cannot be changed. */
  isRigid?: true;
};

const columnMeta: ColumnLook = {};

/** Only used features are in the bundle: the service sorts, filters and pages. */
export const features = tableFeatures({ columnMeta });
export type Features = typeof features;

export function columnsFor<Row extends RowData>() {
  return createColumnHelper<Features, Row>();
}

/** By column: its present sort direction, if any, and what a click on its header does. */
export type Sorting = Readonly<Record<string, { direction?: "asc" | "desc"; onSort: () => void }>>;

/** Widths set by a person, in pixels; `label` names a column's handle, `usual` is read out for a column without a set width. */
export type Sizing = {
  widths: Readonly<Record<string, number>>;
  onResize: (id: string, px: number) => void;
  label: (id: string) => string;
  usual: string;
};
