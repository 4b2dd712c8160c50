"use client";

import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { useNumber } from "@/components/ui/use-numbers";
import { OutputList } from "@/components/viewer/output-list";
import { type JobFacts } from "./job-facts";

export function JobOutputs({ facts: { job, outputs }, connection }: { facts: JobFacts; connection?: string }) {
  const t = useTranslations("jobs.job.outputs");
  const number = useNumber();
  if (outputs.length === 0) {
    return job.terminal ? (
      <Card title={t("title")}>
        <p className="text-ink-3">{t("none")}</p>
      </Card>
    ) : null;
  }
  return (
    <Card title={t("title")} note={number(outputs.length)} bodyClassName="flex flex-col gap-3">
      <OutputList outputs={outputs} connection={connection} />
    </Card>
  );
}
