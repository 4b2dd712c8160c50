"use client";

import { useTranslations } from "next-intl";
import { SelectionBar, SelectionButton, selectionItem } from "@/components/data-table/selection-bar";
import { LowerEdge, WorkLine, WorkLines } from "@/components/data-table/work-line";
import { fits } from "@/components/jobs/actions/end-jobs";
import { JobLines } from "@/components/jobs/actions/job-lines";
import { type JobAct } from "@/components/jobs/actions/use-job-work";
import { failureText } from "@/components/frame/failure-text";
import { showToast } from "@/components/ui/toast-store";
import { useCopy } from "@/components/ui/use-copy";
import { type JobRow } from "../job-row";
import { type BulkSelection, chosenJobs } from "./bulk-selection";
import { useBulk, type Asked } from "./use-bulk";
import { type ApiFailure, failureOfThrown, readFailure } from "@/lib/browser/read-failure";
import { saveFile } from "@/lib/browser/save-file";
import { apiPath, withQuery } from "@/lib/browser/urls";
import { writeExactJson } from "@/lib/contract/exact-json";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { MOST_AT_ONCE } from "./walk-jobs";

type ExportFormat = "csv" | "json";

/** An address is bounded: proxies in front of a console refuse longer ones. */
const MOST_IDS_IN_ADDRESS = 150;

/** A link that saves: the file streams to the disk and passes through no script. Undefined where too many jobs are named. */
function exportHref(selection: BulkSelection, format: ExportFormat, connection: string | undefined): string | undefined {
  if (selection.kind === "matching") {
    const { offset: _offset, limit: _limit, ...filters } = selection.query;
    return apiPath(withQuery("/api/console/jobs/export", { ...filters, format, connection }));
  }
  if (selection.ids.length > MOST_IDS_IN_ADDRESS) return undefined;
  return apiPath(withQuery("/api/console/jobs/export", { ids: selection.ids, format, connection }));
}

type BulkBarProps = {
  selection: BulkSelection;
  rows: readonly JobRow[];
  connection?: string;
  /** After an act: the list has changed. */
  onDone: () => void;
  onClear: () => void;
  /** Taken back while they were held: they are selected as before. */
  onBack: (ids: readonly string[]) => void;
  canRun: boolean;
  /** More match than are chosen. */
  all?: { total: number; onChoose: () => void };
};

/** What can be done with the selection, then what is being done, then what was done. It stays mounted while nothing is selected: it holds the receipt. */
export function BulkBar({ selection, rows, connection, onDone, onClear, onBack, canRun, all }: BulkBarProps) {
  const t = useTranslations("acts");
  const copy = useCopy();
  const errors = useTranslations("errors");
  const bulk = useBulk({
    connection,
    onDone,
    onBegun: onClear,
    onBack: (back) => onBack(back.map(({ id }) => id)),
  });
  const jobs = selection.kind === "ids" ? chosenJobs(selection.ids, rows) : [];
  const count = selection.kind === "ids" ? selection.ids.length : selection.total;
  const act = (which: JobAct) => {
    if (selection.kind === "matching") void bulk.ask(which, selection.query);
    else
      bulk.start(
        which,
        jobs.filter((job) => fits(which, job)),
      );
  };
  const offered = (which: JobAct) => selection.kind === "matching" || jobs.some((job) => fits(which, job));
  function copyIds() {
    if (selection.kind === "matching") void bulk.collect(selection.query);
    else void copy(selection.ids.join("\n"), t("copied", { count }));
  }
  async function save(format: ExportFormat) {
    const failure = selection.kind === "ids" ? await saveNamed(selection.ids, format, connection) : undefined;
    if (failure) showToast({ tone: "bad", text: failureText(errors, failure) });
  }
  return (
    <>
      <LowerEdge>
        {bulk.isNothing ? (
          <WorkLines label={t("label")}>
            <WorkLine tone="off" text={t("nothing")} onDismiss={bulk.forgetNothing} />
          </WorkLines>
        ) : null}
        <JobLines acts={bulk} connection={connection} onStopped={onDone} />
        <SelectionBar count={count} onClear={onClear}>
          <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
            {all ? <SelectionButton onClick={all.onChoose}>{t("all", { total: all.total })}</SelectionButton> : null}
            {selection.kind === "matching" ? <span role="status">{t("matching")}</span> : null}
            {canRun && offered("cancel") ? <SelectionButton onClick={() => act("cancel")}>{t("cancel")}</SelectionButton> : null}
            {canRun ? <SelectionButton onClick={() => act("runAgain")}>{t("runAgain")}</SelectionButton> : null}
            {canRun && offered("remove") ? <SelectionButton onClick={() => act("remove")}>{t("remove")}</SelectionButton> : null}
            <SelectionButton onClick={copyIds}>{t("copyIds")}</SelectionButton>
            {(["csv", "json"] as const).map((format) => (
              <ExportLink
                key={format}
                label={t("export", { format: format.toUpperCase() })}
                href={exportHref(selection, format, connection)}
                onSave={() => void save(format)}
              />
            ))}
          </span>
        </SelectionBar>
      </LowerEdge>
      <BulkConfirm asked={bulk.asked} onClose={bulk.leave} onConfirm={bulk.confirm} />
    </>
  );
}

/** Named jobs beyond what an address holds are asked for by a press instead. */
function ExportLink({ href, label, onSave }: { href: string | undefined; label: string; onSave: () => void }) {
  if (href === undefined) return <SelectionButton onClick={onSave}>{label}</SelectionButton>;
  return (
    <a href={href} download className={selectionItem}>
      {label}
    </a>
  );
}

/** The file of jobs whose ids no address holds: at most a page of them, so it may pass through the browser's memory. */
async function saveNamed(ids: readonly string[], format: ExportFormat, connection: string | undefined): Promise<ApiFailure | undefined> {
  try {
    const response = await fetch(apiPath(withQuery("/api/console/jobs/export", { connection })), {
      method: "POST",
      credentials: "same-origin",
      headers: { "content-type": "application/json" },
      body: writeExactJson({ ids, format }),
    });
    if (!response.ok) return readFailure(response.status, response.headers.get("retry-after"), await response.text());
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? `jobs.${format}`;
    saveFile(name, await response.blob());
    return undefined;
  } catch (cause) {
    return failureOfThrown(cause);
  }
}

type BulkConfirmProps = { asked: Asked | undefined; onClose: () => void; onConfirm: () => void };

/** Asks by the number; a number that one press cannot reach is said before, not after. */
function BulkConfirm({ asked, onClose, onConfirm }: BulkConfirmProps) {
  const t = useTranslations("acts");
  if (!asked) return null;
  const { act, count } = asked;
  const meant = count === undefined ? undefined : Math.min(count, MOST_AT_ONCE);
  const title = meant === undefined ? t(`ask.${act}.all`) : t(`ask.${act}.title`, { count: meant });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={title}
      actions={
        <>
          <Button onClick={onClose}>{t("ask.keep")}</Button>
          <Button tone={act === "runAgain" ? "primary" : "danger"} onClick={onConfirm}>
            {title}
          </Button>
        </>
      }
    >
      <p>{t(`ask.${act}.text`)}</p>
      {count === undefined || count > MOST_AT_ONCE ? <p className="mt-2">{t("ask.bound", { most: MOST_AT_ONCE })}</p> : null}
    </Dialog>
  );
}
