"use client";

import { useTranslations } from "next-intl";
import { type JobFacts, ownName } from "./job-facts";

/** The name of the job's workflow, where it has one. */
export function JobTitle({ facts }: { facts: JobFacts | undefined }) {
  const t = useTranslations("jobs.job");
  const name = facts && ownName(facts);
  return (
    <span title={name} className="block max-w-[min(440px,64vw)] truncate">
      {name ?? t("title")}
    </span>
  );
}
