import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { memo, useDeferredValue, useEffect, useMemo, useState } from "react";
import { type SelectionStore, useSelectAllRowsKey, useSelectionValue } from "@/components/data-table/selection";
import { type Sizing, type Sorting } from "@/components/data-table/table-columns";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { type OpenPanel, useListField } from "@/components/frame/list/list-state";
import { useRegisterActions } from "@/components/frame/palette/palette-button";
import { isShortcutKey, useEscape, useOnFirstInteraction, usePageKey } from "@/components/ui/hooks/page-events";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type InputId } from "@/lib/contract/jobs/job-list";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { useCellTexts } from "../columns/cells";
import {
  type ColumnChoice,
  type ColumnId,
  createJobColumns,
  createSelectColumn,
  createValueColumn,
  getRowId,
  getVisibleColumns,
  isInputId,
  JobTable,
  useColumnName,
} from "../columns/columns";
import { type JobRow } from "../job-row";
import { type Command } from "./use-bulk-job-actions";
import { type JobListState } from "./use-job-list";

type JobListTableProps = {
  caption: string;
  rows: readonly JobRow[];
  state: JobListState;
  connection: string | undefined;
  selection: SelectionStore;
  choice: ColumnChoice;
  /** Without it, columns and their order are fixed. */
  onChoiceChange?: (choice: ColumnChoice) => void;
  canSort?: boolean;
  openPanel?: OpenPanel;
  isBusy?: (row: JobRow) => boolean;
};

/** The table of Jobs and History. Memoized, so that clicking a filter or a row does not render it again. */
export const JobListTable = memo(function JobListTable(props: JobListTableProps) {
  const { caption, rows, state, connection, selection, choice, onChoiceChange, canSort = true, openPanel, isBusy } = props;
  const connectionParam = useConnectionParam();
  const texts = useCellTexts();
  const { t } = texts;
  const sortBy = useListField(state, (query) => query.sort_by);
  const sortOrder = useListField(state, (query) => query.sort_order);
  const getColumnName = useColumnName();
  useEffect(() => selection.setRows(rows.map(getRowId)), [selection, rows]);
  const columns = useMemo(() => {
    const { workflow, by } = choice.widths;
    const truncation = { isWorkflowTruncated: workflow !== undefined, isSubmitterTruncated: by !== undefined };
    const columnById = createJobColumns(texts, { connection, connectionParam, ...truncation });
    const visibleColumns = getVisibleColumns(choice).map((id) =>
      isInputId(id) ? createValueColumn(id, choice, connection) : columnById[id],
    );
    return [createSelectColumn({ store: selection, t: texts.t, selectAllLabel: texts.t("selectAll") }), ...visibleColumns];
  }, [texts, connection, connectionParam, selection, choice]);
  const sizing: Sizing | undefined = onChoiceChange && {
    widths: choice.widths,
    onResize: (id, px) => onChoiceChange({ ...choice, widths: { ...choice.widths, [id]: px } }),
    getLabel: (id) => t("resize", { name: getColumnName(choice.order.find((columnId): columnId is ColumnId => columnId === id) ?? "job") }),
    defaultWidth: t("defaultWidth"),
  };
  return (
    <JobTable
      caption={caption}
      columns={columns}
      rows={rows}
      onOpen={openPanel?.open}
      marks={openPanel}
      isBusy={isBusy}
      sorting={onChoiceChange && canSort ? getSorting(sortBy, sortOrder, state.navigate) : undefined}
      sizing={sizing}
      isFixed
      isCompact={choice.isCompact}
    />
  );
});

/** The first click sorts by newest or longest. The second click reverses the order. */
function getSorting(sortBy: JobsQuery["sort_by"], sortOrder: JobsQuery["sort_order"], onSortChange: JobListState["navigate"]): Sorting {
  const getFieldSort = (field: JobsQuery["sort_by"]) => {
    const isActive = sortBy === field;
    const nextOrder = isActive && sortOrder === "desc" ? "asc" : "desc";
    return {
      ...(isActive && { direction: sortOrder }),
      onSort: () => onSortChange({ sort_by: field, sort_order: nextOrder }),
    };
  };
  return { submitted: getFieldSort("create_time"), ran: getFieldSort("execution_time") };
}

const loadActions = () => import("./selection-actions");
const LazySelectionActions = dynamic(() => loadActions().then((module) => module.JobSelectionActions), { ssr: false });

type SelectedJobsProps = {
  store: SelectionStore;
  query: JobSearchQuery;
  rows: readonly JobRow[];
  total?: number;
  connection?: string;
  canRun: boolean;
  inputs?: readonly InputId[];
  onStarted?: () => void;
  onDone: () => void;
};

/** Builds the command for the selection. Undefined if nothing is selected. */
function toCommand(store: SelectionStore, action: Command["action"]): Command | undefined {
  if (store.isMatching()) return { action };
  return store.getIds().size > 0 ? { action, ids: [...store.getIds()] } : undefined;
}

/** `c` cancels and `r` reruns the selected jobs, or the focused row's job if none is selected. */
export function useJobKeys(store: SelectionStore, onCommand: (command: Command) => void): void {
  usePageKey((event) => {
    const action = event.key === "c" ? "cancel" : event.key === "r" ? "runAgain" : undefined;
    if (!action || event.repeat || event.defaultPrevented || !isShortcutKey(event)) return;
    const rowId = document.activeElement?.closest<HTMLElement>("tr[data-row]")?.dataset.row;
    const command = toCommand(store, action) ?? (rowId === undefined ? undefined : { action, ids: [rowId] });
    if (!command) return;
    onCommand(command);
    event.preventDefault();
  });
}

/** The actions for the selected jobs and the offer to select all matches. Deferred, so that checkboxes respond first. */
export function SelectedJobs(props: SelectedJobsProps) {
  const ids = useDeferredValue(useSelectionValue(props.store, props.store.getIds));
  const isMatching = useDeferredValue(useSelectionValue(props.store, props.store.isMatching));
  const { store, rows, total = 0 } = props;
  useOnFirstInteraction(loadActions);
  const [command, setCommand] = useState<Command>();
  useJobKeys(store, (newCommand) => props.canRun && setCommand(newCommand));
  useSelectionActions(store, !props.canRun ? 0 : isMatching ? total : ids.size, setCommand);
  // Registered here so that Escape works before the bar has loaded.
  useEscape("selection", store.clear);
  useSelectAllRowsKey(store, total > rows.length ? store.selectMatching : undefined);
  return <SelectionActions {...props} command={command} ids={ids} isMatching={isMatching} />;
}

const actionSearchTerms = { cancel: "stop", runAgain: "rerun" } as const;

/** Adds the actions on the selected jobs to the command palette. */
function useSelectionActions(store: SelectionStore, count: number, onCommand: (command: Command | undefined) => void): void {
  const t = useTranslations("acts.selected");
  const actions = useMemo(() => {
    const createAction = (action: Command["action"]) => {
      return {
        key: action,
        label: t(action, { count }),
        searchTerms: actionSearchTerms[action],
        run: () => onCommand(toCommand(store, action)),
      };
    };
    return count === 0 ? [] : [createAction("cancel"), createAction("runAgain")];
  }, [store, count, onCommand, t]);
  useRegisterActions(actions);
}

type SelectionActionsProps = SelectedJobsProps & { command: Command | undefined; ids: ReadonlySet<string>; isMatching: boolean };

const SelectionActions = memo(function SelectionActions({
  store,
  query,
  rows,
  total,
  ids,
  isMatching,
  ...otherProps
}: SelectionActionsProps) {
  const selection = useMemo(
    () => (isMatching ? { kind: "matching" as const, query, total: total ?? ids.size } : { kind: "ids" as const, ids: [...ids] }),
    [isMatching, ids, query, total],
  );
  // Stays mounted after the first use, because it shows the result of an action.
  const [isMounted, setMounted] = useState(false);
  if ((ids.size > 0 || otherProps.command) && !isMounted) setMounted(true);
  if (!isMounted) return null;
  const isPageSelected = rows.length > 0 && rows.every(({ id }) => ids.has(id));
  const hasMore = total !== undefined && total > rows.length;
  const selectAll = hasMore && isPageSelected && !isMatching ? { total, onChoose: store.selectMatching } : undefined;
  return (
    <LazySelectionActions
      {...otherProps}
      selection={selection}
      rows={rows}
      onClear={store.clear}
      onRestored={store.add}
      selectAll={selectAll}
    />
  );
});
