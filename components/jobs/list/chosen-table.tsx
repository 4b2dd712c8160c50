import { memo, useEffect, useMemo } from "react";
import { type Sizing, type Sorting } from "@/components/data-table/features";
import { type SelectionStore } from "@/components/data-table/selection/selection-store";
import { type Opened } from "@/components/frame/list/use-opened";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { useCellWords } from "../columns/cells";
import { type ColumnChoice, type ColumnId, isInputId, shownColumns } from "../columns/column-choice";
import { jobColumns, selectColumn, valueColumn } from "../columns/columns";
import { useColumnName } from "../columns/use-column-choice";
import { type JobRow } from "../job-row";
import { JobTable, rowId } from "./job-table";
import { type ListState } from "./list-state";
import { useAsked } from "./use-list-state";

type ChosenTableProps = {
  caption: string;
  rows: readonly JobRow[];
  state: ListState;
  connection: string | undefined;
  linked: string | undefined;
  selection: SelectionStore;
  choice: ColumnChoice;
  /** If absent, columns and order are fixed. */
  onChoose?: (choice: ColumnChoice) => void;
  opened?: Opened;
  isBusy?: (row: JobRow) => boolean;
};

/** The table of Jobs and History. Clicking a filter or a row does not render it again. */
export const ChosenTable = memo(function ChosenTable(props: ChosenTableProps) {
  const { caption, rows, state, connection, linked, selection, choice, onChoose, opened, isBusy } = props;
  const words = useCellWords();
  const { t } = words;
  const sortBy = useAsked(state, (query) => query.sort_by);
  const sortOrder = useAsked(state, (query) => query.sort_order);
  const nameOf = useColumnName(choice);
  useEffect(() => selection.list(rows.map(rowId)), [selection, rows]);
  const columns = useMemo(() => {
    const { workflow, by } = choice.widths;
    const cuts = { isWorkflowCut: workflow !== undefined, isByCut: by !== undefined };
    const named = jobColumns(words, { connection, linked, ...cuts });
    const shown = shownColumns(choice).map((id) => (isInputId(id) ? valueColumn(id, choice, connection) : named[id]));
    return [selectColumn({ store: selection, t: words.t, all: words.t("selectAll") }), ...shown];
  }, [words, connection, linked, selection, choice]);
  const sizing: Sizing | undefined = onChoose && {
    widths: choice.widths,
    onResize: (id, px) => onChoose({ ...choice, widths: { ...choice.widths, [id]: px } }),
    label: (id) => t("resize", { name: nameOf(choice.order.find((each): each is ColumnId => each === id) ?? "job") }),
    usual: t("usualWidth"),
  };
  return (
    <JobTable
      caption={caption}
      columns={columns}
      rows={rows}
      linked={linked}
      onOpen={opened?.open}
      marks={opened}
      isBusy={isBusy}
      sorting={onChoose && sortingOf(sortBy, sortOrder, state.go)}
      sizing={sizing}
      isFixed
      isCompact={choice.isCompact}
    />
  );
});

/** The first click sorts newest or longest first, the second reverses it. */
function sortingOf(sortBy: JobsQuery["sort_by"], sortOrder: JobsQuery["sort_order"], onGo: ListState["go"]): Sorting {
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
