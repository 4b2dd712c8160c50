"use client";

import { useTranslations } from "next-intl";
import { useCallback, useEffect, useMemo } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { type Sizing, type Sorting } from "@/components/data-table/features";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type ColumnChoice, type ColumnId } from "./column-choice";
import { jobColumns } from "./job-columns";
import { type JobRow } from "./job-row";
import { useColumnName } from "./use-column-name";
import { type Place } from "./use-jobs-place";

type JobsTableProps = {
  rows: readonly JobRow[];
  place: Place;
  connection: string | undefined;
  linked: string | undefined;
  selection: SelectionStore;
  choice: ColumnChoice;
  onChoose: (choice: ColumnChoice) => void;
  openId: string | undefined;
  onOpen: (id: string) => boolean;
};

const rowId = (row: JobRow) => row.id;

export function JobsTable({ rows, place, connection, linked, selection, choice, onChoose, openId, onOpen }: JobsTableProps) {
  const t = useTranslations("jobs");
  const states = useTranslations("frame.states");
  const nameOf = useColumnName(choice);
  const lightText = useCallback(
    ({ state, word, id, workflow = "", error = "" }: JobRow) =>
      [state === "unknown" ? word : states(state), id.slice(0, 8), workflow, error].join("   "),
    [states],
  );
  useEffect(() => selection.list(rows.map(rowId)), [selection, rows]);
  const columns = useMemo(
    () => jobColumns(t, { connection, linked, selection, onOpen }, choice),
    [t, connection, linked, selection, onOpen, choice],
  );
  const sizing: Sizing = {
    widths: choice.widths,
    onResize: (id, px) => onChoose({ ...choice, widths: { ...choice.widths, [id]: px } }),
    label: (id) => t("columns.resize", { name: nameOf(choice.order.find((each): each is ColumnId => each === id) ?? "job") }),
  };
  return (
    <DataTable
      caption={t("caption")}
      columns={columns}
      rows={rows}
      rowId={rowId}
      isSelected={(row) => row.id === openId}
      lightText={lightText}
      sorting={sortingOf(place)}
      sizing={sizing}
      isFixed
      isCompact={choice.isCompact}
      className={place.isMoving ? "two-lines opacity-60" : "two-lines"}
    />
  );
}

/** A first press shows the newest or the longest first, a second one turns it round. */
function sortingOf({ query, go }: Place): Sorting {
  const by = (field: JobsQuery["sort_by"]) => {
    const isNow = query.sort_by === field;
    const turned = isNow && query.sort_order === "desc" ? "asc" : "desc";
    return {
      ...(isNow && { direction: query.sort_order }),
      onSort: () => go({ sort_by: field, sort_order: turned }),
    };
  };
  return { submitted: by("create_time"), ran: by("execution_time") };
}
