import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { memo, useDeferredValue, useEffect, useMemo, useState } from "react";
import { type SelectionStore, useAllRowsKey, useChosen } from "@/components/data-table/selection/selection";
import { type Sizing, type Sorting } from "@/components/data-table/table-columns";
import { type Opened } from "@/components/frame/list/use-opened";
import { useOfferActions } from "@/components/frame/palette/palette-button";
import { isFreeKey, useEscape, usePageKey } from "@/components/ui/hooks/page-keys";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type InputId } from "@/lib/contract/jobs/job-list";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { useCellWords } from "../columns/cells";
import { type ColumnChoice, type ColumnId, isInputId, shownColumns, useColumnName } from "../columns/column-choice";
import { jobColumns, JobTable, rowId, selectColumn, valueColumn } from "../columns/columns";
import { type JobRow } from "../job-row";
import { type Command } from "./use-bulk";
import { type ListState, useAsked } from "./use-job-list";

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

const loadActions = () => import("./selection-actions");
const Actions = dynamic(() => loadActions().then((module) => module.OwnSelectionActions), { ssr: false });

type SelectedJobsProps = {
  store: SelectionStore;
  query: JobSearchQuery;
  rows: readonly JobRow[];
  total?: number;
  connection?: string;
  canRun: boolean;
  /** The inputs to save with the jobs. */
  inputs?: readonly InputId[];
  /** An act has begun. */
  onBegun?: () => void;
  onDone: () => void;
};

/** Undefined if nothing is selected. */
function commandOn(store: SelectionStore, act: Command["act"]): Command | undefined {
  if (store.isMatching()) return { act };
  return store.ids().size > 0 ? { act, ids: [...store.ids()] } : undefined;
}

/** `c` cancels and `r` reruns the selected jobs, or the focused row's job if none is selected. */
export function useJobKeys(store: SelectionStore, onCommand: (command: Command) => void): void {
  usePageKey((event) => {
    const act = event.key === "c" ? "cancel" : event.key === "r" ? "runAgain" : undefined;
    if (!act || event.repeat || event.defaultPrevented || !isFreeKey(event)) return;
    const row = document.activeElement?.closest<HTMLElement>("tr[data-row]")?.dataset.row;
    const command = commandOn(store, act) ?? (row === undefined ? undefined : { act, ids: [row] });
    if (!command) return;
    onCommand(command);
    event.preventDefault();
  });
}

/** The actions for the selected jobs, and the offer to select all that match. Checkboxes react at once; this may follow a frame later. */
export function SelectedJobs(props: SelectedJobsProps) {
  const ids = useDeferredValue(useChosen(props.store, props.store.ids));
  const isMatching = useDeferredValue(useChosen(props.store, props.store.isMatching));
  const { store, rows, total = 0 } = props;
  useAtFirstMove(loadActions);
  const [command, setCommand] = useState<Command>();
  useJobKeys(store, (next) => props.canRun && setCommand(next));
  useSelectionActions(store, !props.canRun ? 0 : isMatching ? total : ids.size, setCommand);
  // Works even before the bar that mentions it has loaded.
  useEscape("selection", store.clear);
  useAllRowsKey(store, total > rows.length ? store.chooseMatching : undefined);
  return <Selected {...props} command={command} ids={ids} isMatching={isMatching} />;
}

const actWords = { cancel: "stop", runAgain: "rerun" } as const;

/** Adds the actions on the selected jobs to the command palette. */
function useSelectionActions(store: SelectionStore, count: number, onCommand: (command: Command | undefined) => void): void {
  const t = useTranslations("acts.selected");
  const actions = useMemo(() => {
    const action = (act: Command["act"]) => {
      return { key: act, label: t(act, { count }), also: actWords[act], run: () => onCommand(commandOn(store, act)) };
    };
    return count === 0 ? [] : [action("cancel"), action("runAgain")];
  }, [store, count, onCommand, t]);
  useOfferActions(actions);
}

type SelectedProps = SelectedJobsProps & { command: Command | undefined; ids: ReadonlySet<string>; isMatching: boolean };

const Selected = memo(function Selected({ store, query, rows, total, ids, isMatching, ...rest }: SelectedProps) {
  const chosen = useMemo(
    () => (isMatching ? { kind: "matching" as const, query, total: total ?? ids.size } : { kind: "ids" as const, ids: [...ids] }),
    [isMatching, ids, query, total],
  );
  // Stays mounted after its first use, as it shows the receipt of what was done.
  const [wasAny, setWasAny] = useState(false);
  if ((ids.size > 0 || rest.command) && !wasAny) setWasAny(true);
  if (!wasAny) return null;
  const isPage = rows.length > 0 && rows.every(({ id }) => ids.has(id));
  const isMore = total !== undefined && total > rows.length;
  const all = isMore && isPage && !isMatching ? { total, onChoose: store.chooseMatching } : undefined;
  return <Actions {...rest} chosen={chosen} rows={rows} onClear={store.clear} onBack={store.add} all={all} />;
});
