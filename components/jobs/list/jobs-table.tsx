"use client";

import { useTranslations } from "next-intl";
import { memo, useCallback, useEffect, useMemo } from "react";
import { DataTable } from "@/components/data-table/data-table";
import { type Sizing, type Sorting } from "@/components/data-table/features";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { type Opened } from "@/components/frame/use-opened";
import { useAgoWords } from "@/components/ui/relative-time";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type ColumnChoice, type ColumnId } from "../columns/column-choice";
import { jobColumns } from "../columns/columns";
import { type JobRow } from "../job-row";
import { useRowClick } from "../columns/row-link";
import { useColumnName } from "../columns/use-column-name";
import { type JobsPlace } from "./list-state";
import { useAsked } from "./use-list-state";

type JobsTableProps = {
  rows: readonly JobRow[];
  place: JobsPlace;
  connection: string | undefined;
  linked: string | undefined;
  selection: SelectionStore;
  choice: ColumnChoice;
  onChoose: (choice: ColumnChoice) => void;
  opened: Opened;
};

const rowId = (row: JobRow) => row.id;

/** A press on a filter, or on a row, draws none of it. */
export const JobsTable = memo(function JobsTable(props: JobsTableProps) {
  const { rows, place, connection, linked, selection, choice, onChoose, opened } = props;
  const t = useTranslations("jobs");
  const states = useTranslations("frame.states");
  const durations = useTranslations("common.duration");
  const ago = useAgoWords();
  const sortBy = useAsked(place, (query) => query.sort_by);
  const sortOrder = useAsked(place, (query) => query.sort_order);
  const nameOf = useColumnName(choice);
  const onClick = useRowClick(linked, opened.open);
  const lightText = useCallback(
    ({ state, word, id, workflow = "", error = "" }: JobRow) =>
      [state === "unknown" ? word : states(state), id.slice(0, 8), workflow, error].join("   "),
    [states],
  );
  useEffect(() => selection.list(rows.map(rowId)), [selection, rows]);
  const columns = useMemo(
    () => jobColumns({ t, states, durations, ago }, { connection, linked, selection }, choice),
    [t, states, durations, ago, connection, linked, selection, choice],
  );
  const sizing: Sizing = {
    widths: choice.widths,
    onResize: (id, px) => onChoose({ ...choice, widths: { ...choice.widths, [id]: px } }),
    label: (id) => t("columns.resize", { name: nameOf(choice.order.find((each): each is ColumnId => each === id) ?? "job") }),
    usual: t("columns.usualWidth"),
  };
  return (
    <DataTable
      caption={t("caption")}
      columns={columns}
      rows={rows}
      rowId={rowId}
      marks={opened}
      lightText={lightText}
      onClick={onClick}
      sorting={sortingOf(sortBy, sortOrder, place.go)}
      sizing={sizing}
      isFixed
      isCompact={choice.isCompact}
      className="two-lines"
    />
  );
});

/** A first press shows the newest or the longest first, a second one turns it round. */
function sortingOf(sortBy: JobsQuery["sort_by"], sortOrder: JobsQuery["sort_order"], onGo: JobsPlace["go"]): Sorting {
  const by = (field: JobsQuery["sort_by"]) => {
    const isNow = sortBy === field;
    const turned = isNow && sortOrder === "desc" ? "asc" : "desc";
    return {
      ...(isNow && { direction: sortOrder }),
      onSort: () => onGo({ sort_by: field, sort_order: turned }),
    };
  };
  return { submitted: by("create_time"), ran: by("execution_time") };
}
