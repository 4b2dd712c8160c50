"use client";

import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { JobSearchFilters } from "@/components/jobs/search/job-search-filters";
import { chipStyle } from "@/components/ui/chip";
import { Select } from "@/components/ui/select";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { namelessWorkflow } from "@/lib/contract/workflow-name";
import { type JobRow } from "../job-row";
import { OutputFilter } from "./output-filter";
import { StatusFilter } from "./status-filter";
import { type JobsPlace } from "./list-state";
import { usePlaceOf } from "./use-list-state";

const WorkflowPicker = dynamic(() => import("./workflow-picker").then((module) => module.WorkflowPicker), { ssr: false });

const sorts = {
  newest: { sort_by: "create_time", sort_order: "desc" },
  oldest: { sort_by: "create_time", sort_order: "asc" },
  longest: { sort_by: "execution_time", sort_order: "desc" },
  shortest: { sort_by: "execution_time", sort_order: "asc" },
} as const satisfies Record<string, Pick<JobSearchQuery, "sort_by" | "sort_order">>;
const sortNames = ["newest", "oldest", "longest", "shortest"] as const;

type JobsFiltersProps = { place: JobsPlace; rows: readonly JobRow[]; total?: number; connection: string | undefined };

export function JobsFilters({ place: store, rows, total, connection }: JobsFiltersProps) {
  const t = useTranslations("jobs.filter");
  const [isPicking, setPicking] = useState(false);
  const place = usePlaceOf(store);
  const { query, go } = place;
  const workflow =
    query.workflow_id && (rows.find((row) => row.workflowId === query.workflow_id)?.workflow ?? namelessWorkflow(query.workflow_id));
  const sort = sortNames.find((name) => sorts[name].sort_by === query.sort_by && sorts[name].sort_order === query.sort_order);
  return (
    <>
      <JobSearchFilters search={query} connection={connection} onGo={go} />
      <StatusFilter place={place} total={total} />
      <span aria-hidden="true" className="h-5 shrink-0 border-l border-line" />
      <OutputFilter place={place} />
      <button
        type="button"
        aria-haspopup="dialog"
        title={query.workflow_id}
        onClick={() => setPicking(true)}
        className={chipStyle(query.workflow_id !== undefined, "max-w-60")}
      >
        <span className="truncate">{workflow ? t("workflowIs", { name: workflow }) : t("workflow")}</span>
        <span aria-hidden="true">▾</span>
      </button>
      <Select
        aria-label={t("sort")}
        value={sort}
        onChange={({ currentTarget: { value } }) => {
          const wanted = sortNames.find((name) => name === value);
          if (wanted) go(sorts[wanted]);
        }}
        className="ml-auto shrink-0 border-transparent bg-transparent text-ink-3 max-sm:text-[13px]"
      >
        {sortNames.map((name) => (
          <option key={name} value={name}>
            {t(`sorts.${name}`)}
          </option>
        ))}
      </Select>
      {isPicking ? <WorkflowPicker place={place} rows={rows} connection={connection} onClose={() => setPicking(false)} /> : null}
    </>
  );
}
