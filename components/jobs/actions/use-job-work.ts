import { useTranslations } from "next-intl";
import { type BulkRequest, summarize, useBulkOperations } from "@/components/data-table/bulk/use-bulk-operations";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { showToast } from "@/components/ui/toast-store";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { type AllPages, type BulkCallContext } from "@/lib/browser/bulk/bulk-calls";
import { type Result } from "@/lib/shared/result";
import { useMarkBusy } from "./busy-jobs";
import { cancelJobs, findFailure, getOutcomeTone, outcomes, removeJobs, type ResultEntry, type TargetJob, withJobNames } from "./end-jobs";

export type JobAction = "cancel" | "remove" | "runAgain";

const actionRunners: Readonly<Record<JobAction, (jobs: readonly TargetJob[], context: BulkCallContext) => Promise<ResultEntry[]>>> = {
  cancel: cancelJobs,
  remove: removeJobs,
  // The code loads on demand. If that fails, nothing was sent.
  runAgain: (jobs, context) =>
    import("./run-again").then(
      ({ runJobsAgain }) => runJobsAgain(jobs, context),
      () =>
        withJobNames(
          jobs,
          jobs.map(({ id }) => ({ id, outcome: "unsent" })),
        ),
    ),
};

type JobWorkOptions<Query> = {
  connection: string | undefined;
  onDone: (action: JobAction, entries: readonly ResultEntry[]) => void;
  /** Called instead of `onDone` after leaving the page, for state that outlives it. */
  onUnfinished?: (entries: readonly ResultEntry[]) => void;
  onRestored?: (jobs: readonly TargetJob[]) => void;
  walk?: (query: Query, context: BulkCallContext) => Promise<Result<AllPages<TargetJob>, ApiFailure>>;
};

export function useJobWork<Query = never>({ connection, onDone, onUnfinished, onRestored, walk }: JobWorkOptions<Query>) {
  const t = useTranslations("acts");
  const errors = useTranslations("errors");
  const summarizeEntries = useSummarizeEntries();
  const execute = ({ action, items }: BulkRequest<JobAction, TargetJob>, context: BulkCallContext) => actionRunners[action](items, context);
  const work = useBulkOperations<JobAction, TargetJob, ResultEntry, Query>({
    connection,
    execute,
    walk,
    onDone,
    onRestored: (action, items) => {
      if (action !== "runAgain") showToast({ tone: "off", text: t(`back.${action}`, { count: items.length }) });
      onRestored?.(items);
    },
    onUnfinished: (entries) => {
      onUnfinished?.(entries);
      const { text, tone } = summarizeEntries(entries);
      const cause = findFailure(entries);
      showToast({ tone, text: cause ? `${text}: ${formatFailure(errors, cause)}` : text });
    },
  });
  const getIds = (kind: "undoable" | "working") =>
    new Set(work.operations.flatMap(({ phase }) => (phase.kind === kind ? phase.items.map(({ id }) => id) : [])));
  // A rerun leaves the original job unchanged.
  useMarkBusy(
    work.operations.flatMap(({ phase }) =>
      (phase.kind === "undoable" || phase.kind === "working") && phase.action !== "runAgain" ? phase.items.map(({ id }) => id) : [],
    ),
  );
  return { ...work, pendingIds: getIds("undoable"), busyIds: getIds("working") };
}

export type JobWork = ReturnType<typeof useJobWork>;

export function useSummarizeEntries() {
  const t = useTranslations("acts");
  return (entries: readonly ResultEntry[]) =>
    summarize(outcomes, entries, { getTone: getOutcomeTone, getText: (result) => t(`count.${result.outcome}`, result) });
}
