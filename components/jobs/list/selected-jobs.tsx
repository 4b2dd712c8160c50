import dynamic from "next/dynamic";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { useChosen } from "@/components/data-table/selection/select-cells";
import { type SelectionStore } from "@/components/data-table/selection/selection-store";
import { useAllRowsKey } from "@/components/data-table/selection/use-selection";
import { useAtFirstMove } from "@/components/ui/hooks/use-at-first-move";
import { isEscape, usePageKey } from "@/components/ui/hooks/page-keys";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type JobRow } from "../job-row";

const loadActions = () => import("./selection-actions");
const Actions = dynamic(() => loadActions().then((module) => module.OwnSelectionActions), { ssr: false });

type SelectedJobsProps = {
  store: SelectionStore;
  query: JobSearchQuery;
  rows: readonly JobRow[];
  total?: number;
  connection?: string;
  canRun: boolean;
  /** An act has begun. */
  onBegun?: () => void;
  onDone: () => void;
};

/** The actions for the selected jobs, and the offer to select all that match. Checkboxes react at once; this may follow a frame later. */
export function SelectedJobs(props: SelectedJobsProps) {
  const ids = useDeferredValue(useChosen(props.store, props.store.ids));
  const isMatching = useDeferredValue(useChosen(props.store, props.store.isMatching));
  useAtFirstMove(loadActions);
  const { store, rows, total = 0 } = props;
  // Works even before the bar that mentions it has loaded.
  usePageKey((event) => isEscape(event) && store.clear());
  useAllRowsKey(store, total > rows.length ? store.chooseMatching : undefined);
  return <Selected {...props} ids={ids} isMatching={isMatching} />;
}

type SelectedProps = SelectedJobsProps & { ids: ReadonlySet<string>; isMatching: boolean };

const Selected = memo(function Selected({ store, query, rows, total, ids, isMatching, ...rest }: SelectedProps) {
  const chosen = useMemo(
    () => (isMatching ? { kind: "matching" as const, query, total: total ?? ids.size } : { kind: "ids" as const, ids: [...ids] }),
    [isMatching, ids, query, total],
  );
  // Stays mounted after its first use, as it shows the receipt of what was done.
  const [wasAny, setWasAny] = useState(false);
  if (ids.size > 0 && !wasAny) setWasAny(true);
  if (!wasAny) return null;
  const isPage = rows.length > 0 && rows.every(({ id }) => ids.has(id));
  const isMore = total !== undefined && total > rows.length;
  const all = isMore && isPage && !isMatching ? { total, onChoose: store.chooseMatching } : undefined;
  return <Actions {...rest} chosen={chosen} rows={rows} onClear={store.clear} onBack={store.add} all={all} />;
});
