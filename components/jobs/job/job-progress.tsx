import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { ProgressBar } from "@/components/ui/progress-bar";
import { RunningDuration } from "@/components/ui/time/duration";
import { type JobFacts } from "./job-facts";

/** While a job waits or runs: its progress, exactly in the words and numbers that the service sends. */
export function JobProgress({ facts: { job, currentNode, waits } }: { facts: JobFacts }) {
  const t = useTranslations("jobs.job.progress");
  const { state, createdAtMs, startedAtMs, progress } = job;
  if (state === "pending") {
    return (
      <Card>
        <p className="flex items-baseline gap-2">
          <b className="font-semibold">{t("waiting")}</b>
          <span className="ml-auto text-ink-3">{createdAtMs === undefined ? null : <RunningDuration fromMs={createdAtMs} />}</span>
        </p>
        {waits ? (
          <p className="mt-1 text-wait">
            {t(`waits.${waits.state}`, { runners: waits.runners.join(", "), count: waits.runners.length, ahead: waits.ahead ?? 0 })}
          </p>
        ) : null}
      </Card>
    );
  }
  if (state !== "in_progress") return null;
  const percent = progress?.value === undefined ? undefined : Math.round(progress.value * 100);
  return (
    <Card>
      <div className="flex flex-col gap-2" aria-live="off">
        <p className="flex items-baseline gap-2">
          <b className="font-semibold">{percent === undefined ? t("running") : t("percent", { value: percent })}</b>
          {progress?.nodesTotal === undefined ? null : (
            <span className="text-ink-2">{t("nodes", { done: progress.nodesDone ?? 0, total: progress.nodesTotal })}</span>
          )}
          <span className="ml-auto text-ink-3">{startedAtMs === undefined ? null : <RunningDuration fromMs={startedAtMs} />}</span>
        </p>
        {progress?.value === undefined ? null : <ProgressBar value={progress.value} label={t("label")} className="h-1.5 w-full" />}
        {currentNode ? (
          <p className="text-ink-2">
            {progress?.step !== undefined && progress.steps !== undefined && progress.steps > 1
              ? t("nodeStep", { node: currentNode, step: progress.step, steps: progress.steps })
              : t("node", { node: currentNode })}
          </p>
        ) : null}
      </div>
    </Card>
  );
}
