import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { useChosen } from "@/components/data-table/selection/select-cells";
import { type SelectionStore } from "@/components/data-table/selection/selection-store";
import { useAllRowsKey } from "@/components/data-table/selection/use-selection";
import { useOfferActions } from "@/components/frame/palette/overlay";
import { isFreeKey, useEscape, usePageKey } from "@/components/ui/hooks/page-keys";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { type JobSearchQuery } from "@/lib/contract/console";
import { type InputId } from "@/lib/contract/jobs/job-list";
import { type JobRow } from "../job-row";
import { type Command } from "./chosen-jobs";

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
