"use client";

import { useTranslations } from "next-intl";
import { type JobFacts } from "./job-facts";

/** The name of the job's workflow. One without a name is called after an id, which says nothing and stands beside the title anyway. */
export function JobTitle({ facts }: { facts: JobFacts | undefined }) {
  const t = useTranslations("jobs.job");
  const name = facts && !(facts.job.workflowId ?? facts.job.id).startsWith(facts.workflow) ? facts.workflow : undefined;
  return (
    <span title={name} className="block max-w-[min(440px,64vw)] truncate">
      {name ?? t("title")}
    </span>
  );
}
