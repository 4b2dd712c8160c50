import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useState } from "react";
import { useFeature } from "@/components/frame/connection/connection-context";
import { filterButton, FilterRow } from "@/components/frame/list/filters-panel";
import { Select } from "@/components/ui/controls/select";
import { outputTypes } from "@/lib/contract/jobs/job-list";
import { namelessWorkflow } from "@/lib/contract/workflow/workflow-name";
import { type JobRow } from "../job-row";
import { type ListState } from "./list-state";
import { useAskedQuery } from "./use-list-state";

const WorkflowPicker = dynamic(() => import("./workflow-picker").then((module) => module.WorkflowPicker), { ssr: false });

type MoreFiltersProps = { state: ListState; rows: readonly JobRow[]; connection: string | undefined };

/** The Jobs filters in the popover. */
export function MoreFilters({ state, rows, connection }: MoreFiltersProps) {
  const t = useTranslations("jobs.filter");
  const [isPicking, setPicking] = useState(false);
  const { workflow_id: id } = useAskedQuery(state);
  const workflow = id && (rows.find((row) => row.workflowId === id)?.workflow ?? namelessWorkflow(id));
  return (
    <>
      <OutputFilter state={state} />
      <FilterRow name={t("workflow")}>
        <button type="button" aria-haspopup="dialog" title={id} onClick={() => setPicking(true)} className={filterButton}>
          <span className="min-w-0 flex-1">{workflow ?? t("anyWorkflow")}</span>
          <span aria-hidden="true">▾</span>
        </button>
      </FilterRow>
      {isPicking ? <WorkflowPicker state={state} rows={rows} connection={connection} onClose={() => setPicking(false)} /> : null}
    </>
  );
}

/** If the URL has this filter although the connection does not offer it, users can remove it. */
export function OutputFilter({ state }: { state: ListState }) {
  const t = useTranslations("jobs.filter");
  const query = useAskedQuery(state);
  const canFilter = useFeature("outputFilter");
  if (!canFilter && query.output_type === undefined) return null;
  return (
    <FilterRow name={t("output")}>
      <Select
        aria-label={t("output")}
        value={query.output_type ?? ""}
        onChange={({ currentTarget: { value } }) => state.go({ output_type: outputTypes.find((type) => type === value) })}
        className="w-full"
      >
        <option value="">{t("outputs.any")}</option>
        {outputTypes.map((type) => (
          <option key={type} value={type}>
            {t(`outputs.${type}`)}
          </option>
        ))}
      </Select>
    </FilterRow>
  );
}
