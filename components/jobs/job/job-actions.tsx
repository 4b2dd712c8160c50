import { useTranslations } from "next-intl";
import { type MouseEvent, useState } from "react";
import { BottomBar, StatusLine, StatusLines } from "@/components/data-table/bulk/bottom-bar";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { useBusyJobs } from "@/components/jobs/actions/busy-jobs";
import { JobLines, useCanStop } from "@/components/jobs/actions/job-lines";
import { useJobWork } from "@/components/jobs/actions/use-job-work";
import { Button } from "@/components/ui/controls/button";
import { Dialog } from "@/components/ui/dialog";
import { ButtonLink } from "@/components/ui/link";
import { type Tone } from "@/components/ui/status-badge";
import { type ApiFailure } from "@/lib/browser/api-failure";
import { toJobHref, toShortId, withQuery } from "@/lib/browser/urls";
import { type JobState } from "@/lib/contract/jobs/job-list";
import { createRandomSeed, type MaskedInput } from "../actions/resubmission";
import { runAgain } from "../actions/run-again";
import { type JobFacts } from "./job-facts";

type JobActionsProps = {
  facts: JobFacts;
  actions: ReturnType<typeof useJobActions>;
};

export function JobActions({ facts: { job, workflowCounts }, actions }: JobActionsProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("jobs.job.acts");
  const { isEnding } = actions;
  const isBusy = actions.rerun.isBusy === true;
  const canStop = useCanStop(actions.connection, job.state === "in_progress");
  return (
    <span className="flex flex-wrap justify-end gap-2">
      {job.state === "pending" ? (
        <Button tone="danger" busy={isEnding} onClick={() => actions.endJob(job.state)}>
          {t("cancel")}
        </Button>
      ) : null}
      {job.state !== "in_progress" ? null : canStop ? (
        <Button tone="danger" busy={isEnding} onClick={() => actions.endJob(job.state)}>
          {t("stop")}
        </Button>
      ) : (
        <span className="self-center text-ink-3">{t("cannotStop")}</span>
      )}
      {workflowCounts && workflowCounts.nodes > 0 ? (
        <>
          <ButtonLink href={withQuery("/apps/new", { job: job.id, connection: connectionParam })} tone="quiet">
            {t("makeApp")}
          </ButtonLink>
          <ButtonLink href={getEditHref(job.id, connectionParam)}>{t("edit")}</ButtonLink>
          {workflowCounts.seeds > 0 ? (
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

/** Shows undo, the newest result and errors at the bottom of the page, so that the layout doesn't shift. */
export function JobActionResult({ facts: { job }, actions }: JobActionsProps) {
  const connectionParam = useConnectionParam();
  const t = useTranslations("jobs.job.acts");
  const common = useTranslations("common");
  const actionTexts = useTranslations("acts");
  const { result, failure, maskedInputs } = actions.rerun;
  return (
    <>
      <BottomBar>
        <JobLines actions={actions.work} connection={actions.connection} onStopped={actions.refresh} />
        {result ? (
          <StatusLines label={t("label")}>
            <StatusLine tone={result.tone} text={result.text} onDismiss={actions.dismiss}>
              {result.jobId ? (
                <ButtonLink href={toJobHref(result.jobId, connectionParam)} size="small">
                  {t("open", { id: toShortId(result.jobId) })}
                </ButtonLink>
              ) : null}
            </StatusLine>
          </StatusLines>
        ) : null}
        {failure ? (
          <div className="w-[min(640px,calc(100%-32px))] rounded-lg bg-surface shadow-xl">
            <FailureMessage failure={failure} actions={<Button onClick={actions.dismiss}>{common("dismiss")}</Button>} />
          </div>
        ) : null}
      </BottomBar>
      <Dialog
        isOpen={maskedInputs !== undefined}
        onClose={actions.dismiss}
        title={t("maskedTitle", { count: maskedInputs?.length ?? 0 })}
        actions={
          <>
            <Button onClick={actions.dismiss}>{common("cancel")}</Button>
            <ButtonLink href={getRunWithoutSecretsHref(job.id, connectionParam)}>{actionTexts("secrets.again")}</ButtonLink>
            <ButtonLink href={getEditHref(job.id, connectionParam)} tone="primary">
              {t("edit")}
            </ButtonLink>
          </>
        }
      >
        <p>{t("maskedText")}</p>
        <ul className="mt-2 list-inside list-disc">
          {maskedInputs?.map(({ nodeId, node, input }) => (
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
function ignoreDoubleClick(callback: () => void) {
  return ({ detail }: MouseEvent) => (detail > 1 ? undefined : callback());
}

/** The Run page with the job's workflow, without its masked values. */
export function getRunWithoutSecretsHref(id: string, connection: string | undefined) {
  return withQuery("/run", { job: id, without: "secrets", connection });
}

function getEditHref(id: string, connection: string | undefined) {
  return withQuery("/run", { job: id, connection });
}

type RerunResult = { tone: Tone; text: string; jobId?: string };
type RerunState = { isBusy?: boolean; result?: RerunResult; failure?: ApiFailure; maskedInputs?: MaskedInput[] };

/** Cancels a job with a short undo period, and reruns its workflow. */
export function useJobActions({ jobId, connection, onDone }: { jobId: string; connection: string | undefined; onDone: () => void }) {
  const t = useTranslations("jobs.job.acts");
  const [rerun, setRerun] = useState<RerunState>({});
  const work = useJobWork({ connection, onDone });

  async function rerunJob(shouldChangeSeeds: boolean) {
    setRerun({ isBusy: true });
    const result = await runAgain(jobId, connection, { createSeed: shouldChangeSeeds ? createRandomSeed : undefined });
    if (result.kind === "submitted") setRerun({ result: { tone: "ok", text: t("submitted"), jobId: result.id } });
    else if (result.kind === "masked") setRerun({ maskedInputs: result.inputs });
    else if (result.kind === "no-graph") setRerun({ result: { tone: "off", text: t("noGraph") } });
    else if (result.kind === "unread" || result.kind === "refused") setRerun({ failure: result.failure });
    else setRerun({ result: { tone: "unknown", text: t("outcomeUnknown") } });
  }

  return {
    connection,
    work,
    rerun,
    isEnding: useBusyJobs().has(jobId),
    endJob: (state: JobState) => {
      setRerun({});
      work.dismissEnded();
      work.schedule({ action: "cancel", items: [{ id: jobId, state }] });
    },
    refresh: onDone,
    runAgain: rerunJob,
    dismiss: () => setRerun({}),
  };
}
