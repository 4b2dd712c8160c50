import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import {
  BottomBar,
  SelectionBar,
  SelectionButton,
  selectionItemStyle,
  StatusLine,
  StatusLines,
} from "@/components/data-table/bulk/bottom-bar";
import { formatFailure } from "@/components/frame/failure/failure-message";
import { useCopy } from "@/components/ui/controls/copy-button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { type ApiFailure, toFailure } from "@/lib/browser/api-failure";
import { saveFile } from "@/lib/browser/files/save-file";
import { parseFailureResponse } from "@/lib/browser/parse-response";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type InputId } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { useBusyJobs } from "../actions/busy-jobs";
import { canApply, type TargetJob } from "../actions/end-jobs";
import { JobLines } from "../actions/job-lines";
import { type JobAction } from "../actions/use-job-work";
import { type JobRow } from "../job-row";
import {
  type BulkJobActions,
  type Command,
  type JobSelection,
  MAX_PER_ACTION,
  narrowQuery,
  type PendingJobAction,
  toTargetJobs,
  useBulkJobActions,
} from "./use-bulk-job-actions";

type ExportFormat = "csv" | "json";

const MAX_IDS_IN_URL = 150;

/** `inputs`: additional columns. */
type ExportOptions = { connection: string | undefined; inputs: readonly InputId[] | undefined };

/** Returns a download link, so that the file streams to disk. Undefined if the ids don't fit in a URL. */
function getExportHref(selection: JobSelection, format: ExportFormat, { connection, inputs }: ExportOptions): string | undefined {
  if (selection.kind === "matching") {
    const { offset: _offset, limit: _limit, ...filters } = selection.query;
    return apiPath(withQuery("/api/console/jobs/export", { ...filters, format, inputs, connection }));
  }
  if (selection.ids.length > MAX_IDS_IN_URL) return undefined;
  return apiPath(withQuery("/api/console/jobs/export", { ids: selection.ids, format, inputs, connection }));
}

type SelectionActionsProps = {
  selection: JobSelection;
  rows: readonly JobRow[];
  connection?: string;
  inputs?: readonly InputId[];
  bulk: BulkJobActions;
  /** Called after an action that changed the list. */
  onDone: () => void;
  onClear: () => void;
  canRun: boolean;
  command?: Command;
  /** Present if more jobs match than are selected. */
  selectAll?: { total: number; onChoose: () => void };
};

/** Shows the actions for the selection, then the running action and its result. Stays mounted to show the result. */
export function SelectionActions({
  selection,
  rows,
  connection,
  inputs,
  bulk,
  onDone,
  onClear,
  canRun,
  command,
  selectAll,
}: SelectionActionsProps) {
  const t = useTranslations("acts");
  const copy = useCopy();
  const errors = useTranslations("errors");
  const allBusyIds = useBusyJobs();
  const isIdle = (jobAction: JobAction, { id }: TargetJob) => !(jobAction === "runAgain" ? bulk.busyIds : allBusyIds).has(id);
  const selectedJobs = selection.kind === "ids" ? toTargetJobs(selection.ids, rows) : [];
  const getApplicableJobs = (jobAction: JobAction, jobs = selectedJobs) =>
    jobs.filter((job) => isIdle(jobAction, job) && canApply(jobAction, job));
  const count = selection.kind === "ids" ? selection.ids.length : selection.total;
  const startAction = (jobAction: JobAction) => {
    if (selection.kind === "matching") void bulk.requestConfirmation(jobAction, selection.query);
    else bulk.start(jobAction, getApplicableJobs(jobAction));
  };
  const isAvailable = (jobAction: JobAction) =>
    selection.kind === "matching" ? narrowQuery(jobAction, selection.query) !== undefined : getApplicableJobs(jobAction).length > 0;
  const runCommand = useEffectEvent((newCommand: Command) => {
    const jobs = newCommand.ids && getApplicableJobs(newCommand.action, toTargetJobs(newCommand.ids, rows));
    if (jobs ? jobs.length === 0 : !isAvailable(newCommand.action)) bulk.reportNoMatches();
    else if (jobs) bulk.start(newCommand.action, jobs);
    else startAction(newCommand.action);
  });
  useEffect(() => {
    if (command) runCommand(command);
  }, [command]);
  function copyIds() {
    if (selection.kind === "matching") void bulk.collect(selection.query);
    else void copy(selection.ids.join("\n"), t("copied", { count }));
  }
  async function download(format: ExportFormat) {
    const failure = selection.kind === "ids" ? await downloadByIds(selection.ids, format, { connection, inputs }) : undefined;
    if (failure) showToast({ tone: "bad", text: formatFailure(errors, failure) });
  }
  return (
    <>
      <BottomBar>
        {bulk.hasNoMatches ? (
          <StatusLines label={t("label")}>
            <StatusLine tone="off" text={t("nothing")} onDismiss={bulk.dismissNoMatches} />
          </StatusLines>
        ) : null}
        <JobLines actions={bulk} connection={connection} onStopped={onDone} />
        <SelectionBar count={count} onClear={onClear}>
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {selectAll ? <SelectionButton onClick={selectAll.onChoose}>{t("all", { total: selectAll.total })}</SelectionButton> : null}
            {selection.kind === "matching" ? <span role="status">{t("matching")}</span> : null}
            {canRun && isAvailable("cancel") ? (
              <SelectionButton onClick={() => startAction("cancel")}>{t("cancel")}</SelectionButton>
            ) : null}
            {canRun && isAvailable("runAgain") ? (
              <SelectionButton onClick={() => startAction("runAgain")}>{t("runAgain")}</SelectionButton>
            ) : null}
            {canRun && isAvailable("remove") ? (
              <SelectionButton onClick={() => startAction("remove")}>{t("remove")}</SelectionButton>
            ) : null}
            <SelectionButton onClick={copyIds}>{t("copyIds")}</SelectionButton>
            {(["csv", "json"] as const).map((format) => (
              <ExportLink
                key={format}
                label={t("export", { format: format.toUpperCase() })}
                href={getExportHref(selection, format, { connection, inputs })}
                onSave={() => void download(format)}
              />
            ))}
          </span>
        </SelectionBar>
      </BottomBar>
      <BulkConfirm pendingAction={bulk.pendingAction} onClose={bulk.cancelConfirmation} onConfirm={bulk.confirm} />
    </>
  );
}

type JobSelectionActionsProps = Omit<SelectionActionsProps, "bulk"> & {
  onRestored: (ids: readonly string[]) => void;
  onStarted?: () => void;
};

/** Combines the actions with their state, so that both load only when something is selected. */
export function JobSelectionActions({ onRestored, onStarted, ...props }: JobSelectionActionsProps) {
  const { connection, onDone, onClear } = props;
  const handleStarted = () => {
    onClear();
    onStarted?.();
  };
  const bulk = useBulkJobActions({
    connection,
    onDone,
    onStarted: handleStarted,
    onRestored: (restoredJobs) => onRestored(restoredJobs.map(({ id }) => id)),
  });
  return <SelectionActions {...props} bulk={bulk} />;
}

/** Without `href`, the file is requested on click, since the ids don't fit in a URL. */
function ExportLink({ href, label, onSave }: { href: string | undefined; label: string; onSave: () => void }) {
  if (href === undefined) return <SelectionButton onClick={onSave}>{label}</SelectionButton>;
  return (
    <a href={href} download className={selectionItemStyle}>
      {label}
    </a>
  );
}

/** Downloads the export of jobs whose ids don't fit in a URL. It covers at most one page, so it fits in memory. */
async function downloadByIds(
  ids: readonly string[],
  format: ExportFormat,
  { connection, inputs }: ExportOptions,
): Promise<ApiFailure | undefined> {
  try {
    const response = await fetch(apiPath(withQuery("/api/console/jobs/export", { connection })), {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json" },
      body: writeExactJson({ ids, format, inputs }),
    });
    if (!response.ok) return parseFailureResponse(response.status, response.headers.get("retry-after"), await response.text());
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `jobs.${format}`;
    saveFile(name, await response.blob());
    return undefined;
  } catch (cause) {
    return toFailure(cause);
  }
}

type BulkConfirmProps = { pendingAction: PendingJobAction | undefined; onClose: () => void; onConfirm: () => void };

/** Confirms the action with the job count, and warns if it exceeds the limit. */
function BulkConfirm({ pendingAction, onClose, onConfirm }: BulkConfirmProps) {
  const t = useTranslations("acts");
  if (!pendingAction) return null;
  const { action, count } = pendingAction;
  const cappedCount = count === undefined ? undefined : Math.min(count, MAX_PER_ACTION);
  const title = cappedCount === undefined ? t(`ask.${action}.all`) : t(`ask.${action}.title`, { count: cappedCount });
  return (
    <ConfirmDialog
      isOpen
      title={title}
      cancelLabel={action === "cancel" ? t("ask.keep") : undefined}
      tone={action === "runAgain" ? "primary" : "danger"}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t(`ask.${action}.text`)}</p>
      {count === undefined || count > MAX_PER_ACTION ? <p className="mt-2">{t("ask.bound", { max: MAX_PER_ACTION })}</p> : null}
    </ConfirmDialog>
  );
}
