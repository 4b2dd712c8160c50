import { useTranslations } from "next-intl";
import { type BulkRequest, summarize, useBulkWork } from "@/components/data-table/bulk/use-bulk-work";
import { failureText } from "@/components/frame/failure/failure-message";
import { showToast } from "@/components/ui/toast-store";
import { type AllPages, type Work } from "@/lib/browser/bulk/bulk-calls";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { type Result } from "@/lib/shared/result";
import { useMarkBusy } from "./busy-jobs";
import { cancelJobs, findFailure, getOutcomeTone, outcomes, removeJobs, type ResultEntry, type TargetJob, withJobNames } from "./end-jobs";

export type JobAction = "cancel" | "remove" | "runAgain";

const actions: Readonly<Record<JobAction, (jobs: readonly TargetJob[], work: Work) => Promise<ResultEntry[]>>> = {
  cancel: cancelJobs,
  remove: removeJobs,
  // The code is loaded on demand; if that fails, nothing was sent.
  runAgain: (jobs, work) =>
    import("./run-again").then(
      ({ runJobsAgain }) => runJobsAgain(jobs, work),
      () =>
        withJobNames(
          jobs,
          jobs.map(({ id }) => ({ id, outcome: "unsent" })),
        ),
    ),
};

type JobWorkOptions<Query> = {
  connection: string | undefined;
  onDone: (jobAct: JobAction, entries: readonly ResultEntry[]) => void;
  /** Called instead of `onDone` after leaving the page, for state that outlives it. */
  onUnfinished?: (entries: readonly ResultEntry[]) => void;
  onRestored?: (jobs: readonly TargetJob[]) => void;
  walk?: (query: Query, work: Work) => Promise<Result<AllPages<TargetJob>, ApiFailure>>;
};

export function useJobWork<Query = never>({ connection, onDone, onUnfinished, onRestored, walk }: JobWorkOptions<Query>) {
  const t = useTranslations("acts");
  const errors = useTranslations("errors");
  const summarizeEntries = useSummarizeEntries();
  const carryOut = ({ action, items }: BulkRequest<JobAction, TargetJob>, work: Work) => actions[action](items, work);
  const work = useBulkWork<JobAction, TargetJob, ResultEntry, Query>({
    connection,
    carryOut,
    walk,
    onDone,
    onRestored: (jobAct, items) => {
      if (jobAct !== "runAgain") showToast({ tone: "off", text: t(`back.${jobAct}`, { count: items.length }) });
      onRestored?.(items);
    },
    onUnfinished: (entries) => {
      onUnfinished?.(entries);
      const { text, tone } = summarizeEntries(entries);
      const cause = findFailure(entries);
      showToast({ tone, text: cause ? `${text}: ${failureText(errors, cause)}` : text });
    },
  });
  const getIds = (kind: "undoable" | "working") =>
    new Set(work.works.flatMap(({ phase }) => (phase.kind === kind ? phase.items.map(({ id }) => id) : [])));
  // A rerun leaves the original job unchanged.
  useMarkBusy(
    work.works.flatMap(({ phase }) =>
      (phase.kind === "undoable" || phase.kind === "working") && phase.action !== "runAgain" ? phase.items.map(({ id }) => id) : [],
    ),
  );
  return { ...work, pendingIds: getIds("undoable"), busyIds: getIds("working") };
}

export type JobWork = ReturnType<typeof useJobWork>;

export function useSummarizeEntries() {
  const t = useTranslations("acts");
  return (entries: readonly ResultEntry[]) =>
    summarize(outcomes, entries, { getTone: getOutcomeTone, getText: (each) => t(`count.${each.outcome}`, each) });
}
