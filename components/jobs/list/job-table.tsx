import { useTranslations } from "next-intl";
import { type ComponentProps, useCallback } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { titleOf } from "../columns/cells";
import { useRowClick } from "../columns/row-link";
import { type JobRow } from "../job-row";

export const rowId = (row: JobRow) => row.id;

type JobTableProps = Omit<ComponentProps<typeof DataTable<JobRow>>, "rowId" | "lightText" | "onClick" | "className"> & {
  /** `?connection=` of the page's own address. */
  linked: string | undefined;
  /** Opens a job beside the list; false where there is no room, and the job's page opens instead. */
  onOpen?: (id: string) => boolean;
};

export function JobTable({ linked, onOpen, ...table }: JobTableProps) {
  const states = useTranslations("frame.states");
  const onClick = useRowClick(linked, onOpen);
  const lightText = useCallback(
    (row: JobRow) =>
      [row.state === "unknown" ? row.word : states(row.state), row.id.slice(0, 8), titleOf(row), row.error ?? ""].join("   "),
    [states],
  );
  return <DataTable {...table} rowId={rowId} lightText={lightText} onClick={onClick} className="two-lines" />;
}
