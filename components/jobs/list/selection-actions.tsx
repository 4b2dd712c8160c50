import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent } from "react";
import { LowerEdge, SelectionBar, SelectionButton, selectionItem, WorkLine, WorkLines } from "@/components/data-table/bulk/work-line";
import { failureText } from "@/components/frame/failure/failure-message";
import { useCopy } from "@/components/ui/controls/copy-button";
import { ConfirmDialog } from "@/components/ui/dialog";
import { showToast } from "@/components/ui/toast-store";
import { saveFile } from "@/lib/browser/files/save-file";
import { readFailure } from "@/lib/browser/read-answer";
import { type ApiFailure, toFailure } from "@/lib/browser/read-failure";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { type InputId } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { useBusyJobs } from "../actions/busy-jobs";
import { canApply, type TargetJob } from "../actions/end-jobs";
import { JobLines } from "../actions/job-lines";
import { type JobAction } from "../actions/use-job-work";
import { type JobRow } from "../job-row";
import {
  type Bulk,
  type ChosenJobs,
  type Command,
  MAX_PER_ACTION,
  narrowQuery,
  type PendingJobAction,
  toTargetJobs,
  useBulk,
} from "./use-bulk";

type ExportFormat = "csv" | "json";

const MAX_IDS_IN_URL = 150;

/** `inputs`: additional columns. */
type ExportOptions = { connection: string | undefined; inputs: readonly InputId[] | undefined };

/** A plain download link, so that the file streams to disk. Undefined if the ids don't fit in a URL. */
function exportHref(chosenJobs: ChosenJobs, format: ExportFormat, { connection, inputs }: ExportOptions): string | undefined {
  if (chosenJobs.kind === "matching") {
    const { offset: _offset, limit: _limit, ...filters } = chosenJobs.query;
    return apiPath(withQuery("/api/console/jobs/export", { ...filters, format, inputs, connection }));
  }
  if (chosenJobs.ids.length > MAX_IDS_IN_URL) return undefined;
  return apiPath(withQuery("/api/console/jobs/export", { ids: chosenJobs.ids, format, inputs, connection }));
}

type SelectionActionsProps = {
  chosen: ChosenJobs;
  rows: readonly JobRow[];
  connection?: string;
  inputs?: readonly InputId[];
  bulk: Bulk;
  /** Called after an action that changed the list. */
  onDone: () => void;
  onClear: () => void;
  canRun: boolean;
  command?: Command;
  /** Present if more jobs match than are selected. */
  all?: { total: number; onChoose: () => void };
};

/** The actions for the selection, then the running action, then its result. Stays mounted to show the result. */
export function SelectionActions({ chosen, rows, connection, inputs, bulk, onDone, onClear, canRun, command, all }: SelectionActionsProps) {
  const t = useTranslations("acts");
  const copy = useCopy();
  const errors = useTranslations("errors");
  const busy = useBusyJobs();
  const isFree = (jobAction: JobAction, { id }: TargetJob) => !(jobAction === "runAgain" ? bulk.busyIds : busy).has(id);
  const selectedJobs = chosen.kind === "ids" ? toTargetJobs(chosen.ids, rows) : [];
  const getApplicableJobs = (jobAction: JobAction, jobs = selectedJobs) =>
    jobs.filter((job) => isFree(jobAction, job) && canApply(jobAction, job));
  const count = chosen.kind === "ids" ? chosen.ids.length : chosen.total;
  const startAction = (jobAction: JobAction) => {
    if (chosen.kind === "matching") void bulk.ask(jobAction, chosen.query);
    else bulk.start(jobAction, getApplicableJobs(jobAction));
  };
  const isOffered = (jobAction: JobAction) =>
    chosen.kind === "matching" ? narrowQuery(jobAction, chosen.query) !== undefined : getApplicableJobs(jobAction).length > 0;
  const begin = useEffectEvent((next: Command) => {
    const jobs = next.ids && getApplicableJobs(next.action, toTargetJobs(next.ids, rows));
    if (jobs ? jobs.length === 0 : !isOffered(next.action)) bulk.reportNoMatches();
    else if (jobs) bulk.start(next.action, jobs);
    else startAction(next.action);
  });
  useEffect(() => {
    if (command) begin(command);
  }, [command]);
  function copyIds() {
    if (chosen.kind === "matching") void bulk.collect(chosen.query);
    else void copy(chosen.ids.join("\n"), t("copied", { count }));
  }
  async function save(format: ExportFormat) {
    const failure = chosen.kind === "ids" ? await saveByIds(chosen.ids, format, { connection, inputs }) : undefined;
    if (failure) showToast({ tone: "bad", text: failureText(errors, failure) });
  }
  return (
    <>
      <LowerEdge>
        {bulk.hasNoMatches ? (
          <WorkLines label={t("label")}>
            <WorkLine tone="off" text={t("nothing")} onDismiss={bulk.dismissNoMatches} />
          </WorkLines>
        ) : null}
        <JobLines actions={bulk} connection={connection} onStopped={onDone} />
        <SelectionBar count={count} onClear={onClear}>
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {all ? <SelectionButton onClick={all.onChoose}>{t("all", { total: all.total })}</SelectionButton> : null}
            {chosen.kind === "matching" ? <span role="status">{t("matching")}</span> : null}
            {canRun && isOffered("cancel") ? <SelectionButton onClick={() => startAction("cancel")}>{t("cancel")}</SelectionButton> : null}
            {canRun && isOffered("runAgain") ? (
              <SelectionButton onClick={() => startAction("runAgain")}>{t("runAgain")}</SelectionButton>
            ) : null}
            {canRun && isOffered("remove") ? <SelectionButton onClick={() => startAction("remove")}>{t("remove")}</SelectionButton> : null}
            <SelectionButton onClick={copyIds}>{t("copyIds")}</SelectionButton>
            {(["csv", "json"] as const).map((format) => (
              <ExportLink
                key={format}
                label={t("export", { format: format.toUpperCase() })}
                href={exportHref(chosen, format, { connection, inputs })}
                onSave={() => void save(format)}
              />
            ))}
          </span>
        </SelectionBar>
      </LowerEdge>
      <BulkConfirm pendingAct={bulk.pendingAct} onClose={bulk.leave} onConfirm={bulk.confirm} />
    </>
  );
}

type OwnBulkProps = Omit<SelectionActionsProps, "bulk"> & {
  onRestored: (ids: readonly string[]) => void;
  onStarted?: () => void;
};

/** Includes the actions, so that both load only when something is selected. */
export function OwnSelectionActions({ onRestored, onStarted, ...props }: OwnBulkProps) {
  const { connection, onDone, onClear } = props;
  const begin = () => {
    onClear();
    onStarted?.();
  };
  const bulk = useBulk({ connection, onDone, onStarted: begin, onRestored: (back) => onRestored(back.map(({ id }) => id)) });
  return <SelectionActions {...props} bulk={bulk} />;
}

/** Without `href`, the file is requested on click, since the ids don't fit in a URL. */
function ExportLink({ href, label, onSave }: { href: string | undefined; label: string; onSave: () => void }) {
  if (href === undefined) return <SelectionButton onClick={onSave}>{label}</SelectionButton>;
  return (
    <a href={href} download className={selectionItem}>
      {label}
    </a>
  );
}

/** Saves the file of jobs whose ids don't fit in a URL: at most one page, so it fits in memory. */
async function saveByIds(
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
    if (!response.ok) return readFailure(response.status, response.headers.get("retry-after"), await response.text());
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `jobs.${format}`;
    saveFile(name, await response.blob());
    return undefined;
  } catch (cause) {
    return toFailure(cause);
  }
}

type BulkConfirmProps = { pendingAct: PendingJobAction | undefined; onClose: () => void; onConfirm: () => void };

/** Asks for confirmation with the number, and warns if it exceeds the limit. */
function BulkConfirm({ pendingAct, onClose, onConfirm }: BulkConfirmProps) {
  const t = useTranslations("acts");
  if (!pendingAct) return null;
  const { action, count } = pendingAct;
  const cappedCount = count === undefined ? undefined : Math.min(count, MAX_PER_ACTION);
  const title = cappedCount === undefined ? t(`ask.${action}.all`) : t(`ask.${action}.title`, { count: cappedCount });
  return (
    <ConfirmDialog
      isOpen
      title={title}
      keep={action === "cancel" ? t("ask.keep") : undefined}
      tone={action === "runAgain" ? "primary" : "danger"}
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>{t(`ask.${action}.text`)}</p>
      {count === undefined || count > MAX_PER_ACTION ? <p className="mt-2">{t("ask.bound", { max: MAX_PER_ACTION })}</p> : null}
    </ConfirmDialog>
  );
}
