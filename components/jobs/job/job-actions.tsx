import { useTranslations } from "next-intl";
import { type MouseEvent, useState } from "react";
import { LowerEdge, WorkLine, WorkLines } from "@/components/data-table/bulk/work-line";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useBusyJobs } from "@/components/jobs/actions/busy-jobs";
import { JobLines, useCanStop } from "@/components/jobs/actions/job-lines";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { ButtonLink } from "@/components/ui/link";
import { type Tone } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { shortId, toJobHref, withQuery } from "@/lib/browser/urls";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { type MaskedInput, randomSeed } from "../actions/resubmission";
import { runAgain } from "../actions/run-again";
import { type JobFacts } from "./job-facts";

type JobActionsProps = {
  facts: JobFacts;
  actions: ReturnType<typeof useJobActions>;
};

export function JobActions({ facts: { job, workflowParts }, actions }: JobActionsProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("jobs.job.acts");
  const { isEnding } = actions;
  const isBusy = actions.again.isBusy === true;
  const canStop = useCanStop(actions.connection, job.state === "in_progress");
  return (
    <span className="flex flex-wrap justify-end gap-2">
      {job.state === "pending" ? (
        <Button tone="danger" busy={isEnding} onClick={() => actions.end(job.state)}>
          {t("cancel")}
        </Button>
      ) : null}
      {job.state !== "in_progress" ? null : canStop ? (
        <Button tone="danger" busy={isEnding} onClick={() => actions.end(job.state)}>
          {t("stop")}
        </Button>
      ) : (
        <span className="self-center text-ink-3">{t("cannotStop")}</span>
      )}
      {workflowParts && workflowParts.nodes > 0 ? (
        <>
          <ButtonLink href={withQuery("/apps/new", { job: job.id, connection: connectionParam })} tone="quiet">
            {t("makeApp")}
          </ButtonLink>
          <ButtonLink href={editHref(job.id, connectionParam)}>{t("edit")}</ButtonLink>
          {workflowParts.seeds > 0 ? (
            <Button busy={isBusy} onClick={ignoreDoubleClick(() => void actions.runAgain(true))}>
              {t("newSeeds")}
            </Button>
          ) : null}
          <Button tone={job.terminal ? "primary" : "plain"} busy={isBusy} onClick={ignoreDoubleClick(() => void actions.runAgain(false))}>
            {t("again")}
          </Button>
        </>
      ) : null}
    </span>
  );
}

/** Undo, the newest result and errors, at the bottom of the page so that nothing moves. */
export function JobActionResult({ facts: { job }, actions }: JobActionsProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("jobs.job.acts");
  const common = useTranslations("common");
  const actionTexts = useTranslations("acts");
  const { result, failure, masked } = actions.again;
  return (
    <>
      <LowerEdge>
        <JobLines actions={actions.work} connection={actions.connection} onStopped={actions.refresh} />
        {result ? (
          <WorkLines label={t("label")}>
            <WorkLine tone={result.tone} text={result.text} onDismiss={actions.dismiss}>
              {result.jobId ? (
                <ButtonLink href={toJobHref(result.jobId, connectionParam)} size="small">
                  {t("open", { id: shortId(result.jobId) })}
                </ButtonLink>
              ) : null}
            </WorkLine>
          </WorkLines>
        ) : null}
        {failure ? (
          <div className="w-[min(640px,calc(100%-32px))] rounded-lg bg-surface shadow-xl">
            <FailureMessage failure={failure} actions={<Button onClick={actions.dismiss}>{common("dismiss")}</Button>} />
          </div>
        ) : null}
      </LowerEdge>
      <Dialog
        isOpen={masked !== undefined}
        onClose={actions.dismiss}
        title={t("maskedTitle", { count: masked?.length ?? 0 })}
        actions={
          <>
            <Button onClick={actions.dismiss}>{common("cancel")}</Button>
            <ButtonLink href={withoutSecretsHref(job.id, connectionParam)}>{actionTexts("secrets.again")}</ButtonLink>
            <ButtonLink href={editHref(job.id, connectionParam)} tone="primary">
              {t("edit")}
            </ButtonLink>
          </>
        }
      >
        <p>{t("maskedText")}</p>
        <ul className="mt-2 list-inside list-disc">
          {masked?.map(({ nodeId, node, input }) => (
            <li key={`${nodeId}/${input}`} className="break-words">
              {t("maskedInput", { node, id: nodeId, input })}
            </li>
          ))}
        </ul>
      </Dialog>
    </>
  );
}

/** Ignores the second click of a double click, even after a response in between. */
function ignoreDoubleClick(act: () => void) {
  return ({ detail }: MouseEvent) => (detail > 1 ? undefined : act());
}

/** The Run page with the job's workflow, without its masked values. */
export function withoutSecretsHref(id: string, connection: string | undefined) {
  return withQuery("/run", { job: id, without: "secrets", connection });
}

function editHref(id: string, connection: string | undefined) {
  return withQuery("/run", { job: id, connection });
}

type RerunResult = { tone: Tone; text: string; jobId?: string };
type RerunState = { isBusy?: boolean; result?: RerunResult; failure?: ApiFailure; masked?: MaskedInput[] };

/** Ends a job, which can be undone for a moment, and runs its workflow again. */
export function useJobActions({ jobId, connection, onDone }: { jobId: string; connection: string | undefined; onDone: () => void }) {
  const t = useTranslations("jobs.job.acts");
  const [rerun, setRerun] = useState<RerunState>({});
  const work = useJobWork({ connection, onDone });

  async function run(withNewSeeds: boolean) {
    setRerun({ isBusy: true });
    const result = await runAgain(jobId, connection, { newSeed: withNewSeeds ? randomSeed : undefined });
    if (result.kind === "submitted") setRerun({ result: { tone: "ok", text: t("submitted"), jobId: result.id } });
    else if (result.kind === "masked") setRerun({ masked: result.inputs });
    else if (result.kind === "no-graph") setRerun({ result: { tone: "off", text: t("noGraph") } });
    else if (result.kind === "unread" || result.kind === "refused") setRerun({ failure: result.failure });
    else setRerun({ result: { tone: "unknown", text: t("outcomeUnknown") } });
  }

  return {
    connection,
    work,
    again: rerun,
    isEnding: useBusyJobs().has(jobId),
    end: (state: JobState) => {
      setRerun({});
      work.dismissEnded();
      work.schedule({ action: "cancel", items: [{ id: jobId, state }] });
    },
    refresh: onDone,
    runAgain: run,
    dismiss: () => setRerun({}),
  };
}
