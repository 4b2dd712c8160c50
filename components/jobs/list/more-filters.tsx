import { useTranslations } from "next-intl";
import { type ReactNode, useState } from "react";
import useSWR from "swr";
import { useFeature } from "@/components/frame/connection/connection-context";
import { filterButtonStyle, FilterRow } from "@/components/frame/list/filters-panel";
import { useListQuery } from "@/components/frame/list/list-state";
import { Button } from "@/components/ui/controls/button";
import { InputField, Options, Select } from "@/components/ui/controls/fields";
import { Dialog } from "@/components/ui/dialog";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toShortId, withQuery } from "@/lib/browser/urls";
import { type JobPeople } from "@/lib/contract/console";
import { outputTypes } from "@/lib/contract/jobs/job-list";
import { formatNamelessWorkflow } from "@/lib/contract/workflow/workflow-name";
import { unwrapResult } from "@/lib/shared/result";
import { type JobRow } from "../job-row";
import { type JobListState } from "./use-job-list";

type MoreFiltersProps = { state: JobListState; rows: readonly JobRow[]; connection: string | undefined };

/** Less common filters. Members and workflows load when their filter is set or opened. */
export function MoreFilters({ state, rows, connection }: MoreFiltersProps) {
  const t = useTranslations();
  const [openPicker, setOpenPicker] = useState<"member" | "workflow">();
  const close = () => setOpenPicker(undefined);
  const { member, workflow_id: workflowId } = useListQuery(state);
  const workflow = workflowId && (rows.find((row) => row.workflowId === workflowId)?.workflow ?? formatNamelessWorkflow(workflowId));
  return (
    <>
      <FilterRow name={t("jobSearch.person")}>
        <PickerButton onClick={() => setOpenPicker("member")}>
          {member === undefined ? t("jobSearch.personDialog.any") : <MemberName member={member} connection={connection} />}
        </PickerButton>
      </FilterRow>
      <OutputFilter state={state} />
      <FilterRow name={t("jobList.filter.workflow")}>
        <PickerButton title={workflowId} onClick={() => setOpenPicker("workflow")}>
          {workflow ?? t("jobList.filter.anyWorkflow")}
        </PickerButton>
      </FilterRow>
      {openPicker === "member" ? <MemberPicker state={state} connection={connection} onClose={close} /> : null}
      {openPicker === "workflow" ? <WorkflowPicker state={state} rows={rows} connection={connection} onClose={close} /> : null}
    </>
  );
}

function PickerButton({ title, onClick, children }: { title?: string; onClick: () => void; children: ReactNode }) {
  return (
    <button type="button" aria-haspopup="dialog" title={title} onClick={onClick} className={filterButtonStyle}>
      <span className="min-w-0 flex-1">{children}</span>
      <span aria-hidden="true">▾</span>
    </button>
  );
}

/** Also shown if the URL has this filter but the connection does not support it, so that it can be removed. */
export function OutputFilter({ state }: { state: JobListState }) {
  const t = useTranslations("jobList.filter");
  const query = useListQuery(state);
  const canFilter = useFeature("outputFilter");
  if (!canFilter && query.output_type === undefined) return null;
  return (
    <FilterRow name={t("output")}>
      <Select
        aria-label={t("output")}
        value={query.output_type ?? ""}
        onChange={({ currentTarget: { value } }) => state.navigate({ output_type: outputTypes.find((type) => type === value) })}
        className="w-full"
      >
        <option value="">{t("outputs.any")}</option>
        <Options of={outputTypes.map((type) => [type, t(`outputs.${type}`)])} />
      </Select>
    </FilterRow>
  );
}

type PickerDialogProps = {
  title: string;
  /** The label of the button that removes the filter. Undefined if the filter is not set. */
  clearLabel: string | undefined;
  items: readonly { id: string; label: ReactNode; title?: string; isCurrent?: boolean }[];
  onPick: (id: string | undefined) => void;
  onClose: () => void;
  /** Shown above the items. */
  children: ReactNode;
  /** Shown below the items. */
  footer?: ReactNode;
};

function PickerDialog({ title, clearLabel, items, onPick, onClose, children, footer }: PickerDialogProps) {
  const common = useTranslations("common");
  const pick = (id: string | undefined) => {
    onClose();
    onPick(id);
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      actions={
        <>
          {clearLabel === undefined ? null : <Button onClick={() => pick(undefined)}>{clearLabel}</Button>}
          <Button onClick={onClose}>{common("close")}</Button>
        </>
      }
    >
      {children}
      <ul className="mt-3 flex max-h-72 flex-col overflow-y-auto">
        {items.map(({ id, label, title: itemTitle, isCurrent }) => (
          <li key={id}>
            <button
              type="button"
              title={itemTitle}
              aria-current={isCurrent ? "true" : undefined}
              onClick={() => pick(id)}
              className="flex w-full items-baseline gap-2 rounded-md px-2 py-1.5 text-left text-ink hover:bg-sunken"
            >
              {label}
            </button>
          </li>
        ))}
      </ul>
      {footer}
    </Dialog>
  );
}

async function fetchMembers(path: `/${string}`): Promise<JobPeople["people"]> {
  return unwrapResult(await callApi<JobPeople>(path)).people;
}

function useJobMembers(connection: string | undefined) {
  const path = withQuery("/api/console/jobs/people", { connection });
  return useSWR<JobPeople["people"], ApiFailure>(path, fetchMembers, { revalidateOnFocus: false });
}

function MemberName({ member, connection }: { member: string; connection: string | undefined }) {
  const t = useTranslations("jobSearch");
  const { data: members } = useJobMembers(connection);
  return members?.find(({ id }) => id === member)?.name ?? (members ? t("unknownPerson") : "…");
}

type PickerProps = { state: JobListState; connection: string | undefined; onClose: () => void };

/** The members who submitted jobs. */
function MemberPicker({ state, connection, onClose }: PickerProps) {
  const t = useTranslations("jobSearch.personDialog");
  const { data: members, error } = useJobMembers(connection);
  const { member } = state.query();
  return (
    <PickerDialog
      title={t("title")}
      clearLabel={member === undefined ? undefined : t("any")}
      items={(members ?? []).map(({ id, name }) => ({ id, label: <span className="truncate">{name}</span>, isCurrent: id === member }))}
      onPick={(id) => state.navigate({ member: id })}
      onClose={onClose}
      footer={error ? <p className="text-bad">{t("failed")}</p> : members?.length === 0 ? <p role="status">{t("none")}</p> : null}
    >
      <p className="text-sm text-ink-3">{t("hint")}</p>
    </PickerDialog>
  );
}

type WorkflowOption = { id: string; name: string };

const MAX_SHOWN_WORKFLOWS = 50;

async function fetchWorkflows(path: `/${string}`): Promise<WorkflowOption[]> {
  const result = await callApi<{ workflows: WorkflowOption[] }>(path);
  // On failure, offers only the workflows on the page. Users can still paste an id.
  return result.ok ? result.value.workflows : [];
}

/** Selects a workflow by name or by a pasted id. */
function WorkflowPicker({ state, rows, connection, onClose }: PickerProps & { rows: readonly JobRow[] }) {
  const t = useTranslations("jobList.workflowPicker");
  const [text, setText] = useState("");
  const { data } = useSWR(withQuery("/api/console/workflows", { connection }), fetchWorkflows, { revalidateOnFocus: false });
  const searchText = text.trim().toLowerCase();
  const matchingWorkflows = mergeWorkflows(rows, data ?? []).filter(({ id, name }) => `${name} ${id}`.toLowerCase().includes(searchText));
  const pick = (id: string | undefined) => state.navigate({ workflow_id: id });
  return (
    <PickerDialog
      title={t("title")}
      clearLabel={state.query().workflow_id ? t("any") : undefined}
      items={matchingWorkflows
        .slice(0, MAX_SHOWN_WORKFLOWS)
        .map(({ id, name }) => ({ id, title: id, label: <WorkflowLabel id={id} name={name} /> }))}
      onPick={pick}
      onClose={onClose}
      footer={matchingWorkflows.length === 0 ? <p>{t("none")}</p> : null}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (searchText === "") return;
          onClose();
          pick((matchingWorkflows.length === 1 ? matchingWorkflows[0]?.id : undefined) ?? text.trim().slice(0, 200));
        }}
      >
        <InputField
          label={t("find")}
          hint={t("hint")}
          type="search"
          autoFocus
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
        />
      </form>
    </PickerDialog>
  );
}

function WorkflowLabel({ id, name }: WorkflowOption) {
  if (name === formatNamelessWorkflow(id)) return <span className="min-w-0 flex-1 truncate font-mono text-sm">{id}</span>;
  return (
    <>
      <span className="min-w-0 flex-1 truncate">{name}</span>
      <span className="font-mono text-sm text-ink-3">{toShortId(id)}</span>
    </>
  );
}

function mergeWorkflows(rows: readonly JobRow[], workflows: readonly WorkflowOption[]): WorkflowOption[] {
  const workflowsById = new Map(workflows.map((workflow) => [workflow.id, workflow]));
  for (const { workflowId, workflow } of rows) {
    if (workflowId && !workflowsById.has(workflowId))
      workflowsById.set(workflowId, { id: workflowId, name: workflow ?? formatNamelessWorkflow(workflowId) });
  }
  return [...workflowsById.values()].sort((a, b) => a.name.localeCompare(b.name));
}
