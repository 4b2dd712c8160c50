import { useTranslations } from "next-intl";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { durationText } from "@/components/ui/time/relative-time";
import { useOnce } from "@/lib/browser/live/use-live";
import { shortId, toJobHref, withQuery } from "@/lib/browser/urls";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { isAddressableId } from "@/lib/contract/params";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";

const MAX_COUNT = 20;

export type Run = { id: string; state: JobState; runMs?: number };

function toRuns({ jobs }: Pick<JobsAnswer, "jobs">): Run[] {
  return jobs.map((item) => {
    const { id, state, runMs } = toJobView(item);
    return { id, state, ...(runMs !== undefined && { runMs }) };
  });
}

type JobRunsProps = { jobId: string; workflowId: string; connection?: string };

/** The newest runs of the same workflow. If they fail to load, the rest of the page still works. */
export function JobRuns({ jobId, workflowId, connection }: JobRunsProps) {
  const path = withQuery("/api/jobs", { workflow_id: workflowId, limit: MAX_COUNT, connection });
  const runs = useOnce(path, toRuns).value;
  return runs ? <RunBars runs={runs} jobId={jobId} /> : null;
}

const tallyStates = ["completed", "failed", "cancelled", "in_progress", "pending", "unknown"] as const satisfies readonly JobState[];

const fills: Readonly<Record<JobState, string>> = {
  completed: "bg-ok",
  in_progress: "bg-run",
  pending: "bg-wait",
  failed: "bg-bad",
  cancelled: "bg-off",
  unknown: "bg-off",
};

/** Bars for the runs, oldest first. The height is the duration. */
export function RunBars({ runs: all, jobId }: { runs: readonly Run[]; jobId: string }) {
  const connectionParam = useConnectionParam();
  const runs = all.filter(({ id }) => isAddressableId(id));
  const t = useTranslations("jobs.job.runs");
  const states = useTranslations("frame.states");
  const time = useTranslations("common.duration");
  if (runs.length < 2) return null;
  const maxRunMs = Math.max(1, ...runs.map(({ runMs = 0 }) => runMs));
  const counts = tallyStates
    .map((state) => ({ state, count: runs.filter((run) => run.state === state).length }))
    .filter(({ count }) => count > 0);
  const tally =
    counts.length === 1 && counts[0]?.state === "completed"
      ? t("allCompleted", { count: runs.length })
      : counts.map(({ state, count }) => t(`tally.${state}`, { count })).join(", ");
  return (
    <Card title={t("title", { count: runs.length })} bodyClassName="flex flex-col gap-2">
      <ol className="flex h-12 items-stretch gap-0.5">
        {runs.toReversed().map(({ id, state, runMs }) => {
          const word = state === "unknown" ? t("unknown") : states(state);
          const name = { id: shortId(id), state: word };
          const label = runMs === undefined ? t("run", name) : t("ranFor", { ...name, time: durationText(time, runMs) });
          const isCurrent = id === jobId;
          return (
            <li key={id} className="max-w-8 min-w-0 flex-1">
              <Link
                href={toJobHref(id, connectionParam)}
                prefetch={false}
                aria-label={label}
                aria-current={isCurrent ? "page" : undefined}
                title={label}
                className="group flex h-full items-end rounded-sm"
              >
                <span
                  style={{ height: `${Math.max(8, ((runMs ?? 0) / maxRunMs) * 100)}%` }}
                  className={cn("block w-full rounded-sm group-hover:opacity-80", fills[state], !isCurrent && "opacity-60")}
                />
              </Link>
            </li>
          );
        })}
      </ol>
      <p className="text-ink-3">{tally}</p>
    </Card>
  );
}
