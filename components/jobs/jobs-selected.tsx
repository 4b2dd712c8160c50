"use client";

import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { memo, useDeferredValue, useMemo, useState } from "react";
import { useChosen } from "@/components/data-table/select-cells";
import { type SelectionStore } from "@/components/data-table/selection-store";
import { useWhenIdle } from "@/components/ui/use-when-idle";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { type JobRow } from "./job-row";

const loadBar = () => import("./bulk/bulk-bar");
const BulkBar = dynamic(() => loadBar().then((module) => module.BulkBar), { ssr: false });

type JobsSelectedProps = {
  store: SelectionStore;
  query: JobsQuery;
  rows: readonly JobRow[];
  total?: number;
  connection?: string;
  canRun: boolean;
  onDone: () => void;
};

/** What is selected: the offer to take all that match, and what can be done with them. The boxes answer a press; this may come a frame later. */
export function JobsSelected(props: JobsSelectedProps) {
  const ids = useDeferredValue(useChosen(props.store, props.store.ids));
  const isMatching = useDeferredValue(useChosen(props.store, props.store.isMatching));
  useWhenIdle(loadBar);
  return <Selected {...props} ids={ids} isMatching={isMatching} />;
}

type SelectedProps = JobsSelectedProps & { ids: ReadonlySet<string>; isMatching: boolean };

const Selected = memo(function Selected({ store, query, rows, total, connection, canRun, onDone, ids, isMatching }: SelectedProps) {
  const t = useTranslations("jobs.selected");
  const selection = useMemo(
    () => (isMatching ? { kind: "matching" as const, query, total: total ?? ids.size } : { kind: "ids" as const, ids: [...ids] }),
    [isMatching, ids, query, total],
  );
  const isAny = ids.size > 0;
  // Once it was needed it stays: it holds the receipt of what was done.
  const [wasAny, setWasAny] = useState(false);
  if (isAny && !wasAny) setWasAny(true);
  if (!wasAny) return null;
  const isPage = rows.length > 0 && rows.every(({ id }) => ids.has(id));
  const isMore = total !== undefined && total > rows.length;
  return (
    <>
      {isAny && isMore && (isPage || isMatching) ? (
        <p
          role="status"
          className="flex flex-wrap justify-center gap-x-2 border-b border-line bg-accent-soft px-4 py-1.5 md:sticky md:top-[103px] md:z-20"
        >
          {isMatching ? t("matching", { total }) : t("page", { count: rows.length })}
          <button type="button" className="font-medium text-accent" onClick={() => (isMatching ? store.clear() : store.chooseMatching())}>
            {isMatching ? t("clear") : t("chooseMatching", { total })}
          </button>
        </p>
      ) : null}
      <BulkBar selection={selection} rows={rows} connection={connection} canRun={canRun} onDone={onDone} onClear={store.clear} />
    </>
  );
});
