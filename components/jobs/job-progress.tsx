"use client";

import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { RunningDuration } from "@/components/ui/duration";
import { ProgressBar } from "@/components/ui/progress-bar";
import { type JobView } from "./job-view";

/** While a job waits or runs: how far it is, in the words and numbers that the service sends and no others. */
export function JobProgress({ view }: { view: JobView }) {
  const t = useTranslations("jobs.job.progress");
  const { row, steps } = view;
  if (row.state === "pending") {
    return (
      <Card>
        <p className="flex items-baseline gap-2">
          <b className="font-semibold">{t("waiting")}</b>
          <span className="ml-auto text-ink-3">{row.createdMs === undefined ? null : <RunningDuration fromMs={row.createdMs} />}</span>
        </p>
      </Card>
    );
  }
  if (row.state !== "in_progress") return null;
  const percent = row.progress === undefined ? undefined : Math.round(row.progress * 100);
  return (
    <Card>
      <div className="flex flex-col gap-2" aria-live="off">
        <p className="flex items-baseline gap-2">
          <b className="font-semibold">{percent === undefined ? t("running") : t("percent", { value: percent })}</b>
          {steps ? <span className="text-ink-2">{t("nodes", { done: steps.done, total: steps.total })}</span> : null}
          <span className="ml-auto text-ink-3">{row.startedMs === undefined ? null : <RunningDuration fromMs={row.startedMs} />}</span>
        </p>
        {row.progress === undefined ? null : <ProgressBar value={row.progress} label={t("label")} className="h-1.5 w-full" />}
        {steps?.node ? (
          <p className="text-ink-2">
            {steps.step !== undefined && steps.steps !== undefined && steps.steps > 1
              ? t("nodeStep", { node: steps.node, step: steps.step, steps: steps.steps })
              : t("node", { node: steps.node })}
          </p>
        ) : null}
      </div>
    </Card>
  );
}
