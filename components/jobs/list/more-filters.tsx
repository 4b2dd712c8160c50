import { useTranslations } from "next-intl";
import { useState } from "react";
import useSWR from "swr";
import { useFeature } from "@/components/frame/connection/connection-context";
import { filterButton, FilterRow } from "@/components/frame/list/filters-panel";
import { Button } from "@/components/ui/controls/button";
import { Input, Select } from "@/components/ui/controls/fields";
import { FormField } from "@/components/ui/controls/form-field";
import { Dialog } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { outputTypes } from "@/lib/contract/jobs/job-list";
import { namelessWorkflow } from "@/lib/contract/workflow/workflow-name";
import { type JobRow } from "../job-row";
import { type ListState, useAskedQuery } from "./use-job-list";

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

type Known = { id: string; name: string };
type WorkflowPickerProps = { state: ListState; rows: readonly JobRow[]; connection: string | undefined; onClose: () => void };

const MAX_SHOWN = 50;

async function readKnown(path: `/${string}`): Promise<Known[]> {
  const result = await callApi<{ workflows: Known[] }>(path);
  // Those seen on the page are still offered, and an id can be pasted.
  return result.ok ? result.value.workflows : [];
}

/** One of the workflows seen on the page or known by name, or a pasted id. */
function WorkflowPicker({ state, rows, connection, onClose }: WorkflowPickerProps) {
  const t = useTranslations("jobs.workflowPicker");
  const common = useTranslations("common");
  const [text, setText] = useState("");
  const { data } = useSWR(withQuery("/api/console/workflows", { connection }), readKnown, { revalidateOnFocus: false });
  const wanted = text.trim().toLowerCase();
  const found = known(rows, data ?? []).filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(wanted));
  const pick = (id: string | undefined) => {
    onClose();
    state.go({ workflow_id: id });
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t("title")}
      actions={
        <>
          {state.query().workflow_id ? <Button onClick={() => pick(undefined)}>{t("any")}</Button> : null}
          <Button onClick={onClose}>{common("close")}</Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const only = found.length === 1 ? found[0]?.id : undefined;
          if (wanted !== "") pick(only ?? text.trim().slice(0, 200));
        }}
      >
        <FormField label={t("find")} hint={t("hint")}>
          {(control) => (
            <Input
              {...control}
              type="search"
              autoFocus
              maxLength={200}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
            />
          )}
        </FormField>
      </form>
      <ul className="mt-3 flex max-h-72 flex-col overflow-y-auto">
        {found.slice(0, MAX_SHOWN).map(({ id, name }) => (
          <li key={id}>
            <button
              type="button"
              title={id}
              onClick={() => pick(id)}
              className="flex w-full items-baseline gap-2 rounded-md px-2 py-1.5 text-left text-ink hover:bg-sunken"
            >
              {name === namelessWorkflow(id) ? (
                <span className="min-w-0 flex-1 truncate font-mono text-sm">{id}</span>
              ) : (
                <>
                  <span className="min-w-0 flex-1 truncate">{name}</span>
                  <span className="font-mono text-sm text-ink-3">{id.slice(0, 8)}</span>
                </>
              )}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 ? <p>{t("none")}</p> : null}
    </Dialog>
  );
}

function known(rows: readonly JobRow[], named: readonly Known[]): Known[] {
  const byId = new Map(named.map((workflow) => [workflow.id, workflow]));
  for (const { workflowId, workflow } of rows) {
    if (workflowId && !byId.has(workflowId)) byId.set(workflowId, { id: workflowId, name: workflow ?? namelessWorkflow(workflowId) });
  }
  return [...byId.values()].sort((a, b) => a.name.localeCompare(b.name));
}
