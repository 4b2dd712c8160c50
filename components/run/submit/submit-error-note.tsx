import { useTranslations } from "next-intl";
import { FailureMessage, failureOwners, toFailureCode } from "@/components/frame/failure/failure-message";
import { JobLink, useJobHrefs } from "@/components/frame/job-link";
import { JobStatus } from "@/components/frame/job-status";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type JobsResponse } from "@/lib/contract/schemas/job";
import { type JobView, toJobView } from "@/lib/contract/views/job-view";
import { NOT_WHOLE, type PlacedProblems, ProblemList } from "../form/problems";
import { type SubmitError } from "../run-store";

type SubmitErrorNoteProps = {
  submitError: SubmitError;
  placedProblems: PlacedProblems;
  missingClass?: string;
  unknownActions: UnknownActions;
  /** Sends despite a suspected problem. The service decides. */
  onSendAnyway?: () => void;
};

/** Explains why a run didn't start, with the remedy. Sends nothing itself. */
export function SubmitErrorNote({ submitError, placedProblems, missingClass, unknownActions, onSendAnyway }: SubmitErrorNoteProps) {
  const t = useTranslations("run.answer");
  const common = useTranslations("common");
  const { kind, failure } = submitError;
  if (kind === "unknown") return <UnknownNote failure={failure} attempt={submitError.attempt} {...unknownActions} />;
  const dismissButton = (
    <Button tone="quiet" onClick={unknownActions.onDismiss}>
      {common("dismiss")}
    </Button>
  );
  if (kind === "lost") return <FailureNotice title={t("lost")} cause={t("lostCause")} remedy={t("lostNext")} actions={dismissButton} />;
  const actions = (
    <>
      {/* The page found this problem before sending anything. */}
      {failure.status === 0 && failure.code !== NOT_WHOLE && onSendAnyway ? <Button onClick={onSendAnyway}>{t("anyway")}</Button> : null}
      {dismissButton}
    </>
  );
  if (failure.code === "masked_value") {
    return <FailureNotice title={t("masked")} cause={t("maskedCause")} remedy={t("maskedNext")} actions={dismissButton} />;
  }
  if (kind === "invalid" && missingClass !== undefined) {
    return (
      <FailureNotice
        title={t("missingClass", { classType: missingClass })}
        cause={t("missingClassCause")}
        remedy={t("missingClassNext")}
        actions={actions}
      />
    );
  }
  if (kind === "invalid") {
    const reason = placedProblems.nodeCount === 0 && failure.message ? t("reason", { message: failure.message }) : undefined;
    return (
      <FailureNotice
        title={t("invalid", { count: placedProblems.nodeCount })}
        cause={t("invalidCause")}
        remedy={t("invalidNext")}
        detail={placedProblems.unplaced.length > 0 ? <UnplacedProblems placedProblems={placedProblems} /> : reason}
        actions={actions}
      />
    );
  }
  if (failure.code === "prompt_no_outputs")
    return <FailureNotice title={t("noOutputs")} cause={t("invalidCause")} remedy={t("noOutputsNext")} actions={actions} />;
  return (
    <div className="flex flex-col gap-1.5">
      <FailureMessage failure={failure} onRetry={onSendAnyway} actions={dismissButton} />
      <p className="px-1 text-ink-2">{t("kept")}</p>
    </div>
  );
}

function UnplacedProblems({ placedProblems }: { placedProblems: PlacedProblems }) {
  const t = useTranslations("run.answer");
  return placedProblems.unplaced.map(({ nodeId, problems }) => (
    <div key={nodeId}>
      {t("stray", { id: nodeId })}
      <ProblemList problems={problems} />
    </div>
  ));
}

/** Allowed difference between the clocks of the browser and the service. */
const MAX_CLOCK_SKEW_MS = 60_000;

export type UnknownActions = { onCheckAgain: () => void; onSendAgain?: () => void; onDismiss: () => void };
type UnknownNoteProps = UnknownActions & { failure: Failure; attempt: SubmitError["attempt"] };

/** For a submission without a clear response: shows the possible jobs and lets the user decide. Sends nothing. */
function UnknownNote({ failure, attempt, onCheckAgain, onSendAgain, onDismiss }: UnknownNoteProps) {
  const t = useTranslations("run.answer");
  return (
    <FailureNotice
      title={t("unknown")}
      cause={t("unknownCause", { owner: failureOwners[toFailureCode(failure)] })}
      remedy={t("unknownNext")}
      detail={failure.message ? t("reason", { message: failure.message }) : undefined}
      actions={
        <>
          {attempt ? <PossibleJobs attempt={attempt} /> : null}
          <Button onClick={onCheckAgain}>{t("lookAgain")}</Button>
          {onSendAgain ? <Button onClick={onSendAgain}>{t("sendAgain")}</Button> : null}
          <Button tone="quiet" onClick={onDismiss}>
            {t("leave")}
          </Button>
        </>
      }
    />
  );
}

function PossibleJobs({ attempt }: { attempt: NonNullable<SubmitError["attempt"]> }) {
  const t = useTranslations("run.answer");
  const hrefs = useJobHrefs(attempt.connection);
  const path = withQuery("/api/jobs", { workflow_id: attempt.workflowId, limit: 5, connection: attempt.connection });
  const { value, failure } = useLive(path, { read: toJobViews });
  const jobs = value?.filter(({ createdAtMs = 0 }) => createdAtMs >= attempt.atMs - MAX_CLOCK_SKEW_MS);
  return (
    <div className="w-full" role="status">
      <p className="font-semibold">{t("maybe", { name: attempt.name })}</p>
      {failure ? <p className="text-ink-2">{t("maybeFailed")}</p> : null}
      {jobs?.length === 0 ? <p className="text-ink-2">{t("maybeNone")}</p> : null}
      <ul>
        {jobs?.map(({ id, rawStatus, state, createdAtMs = 0 }) => (
          <li key={id} className="flex items-center gap-2.5 py-1">
            <JobStatus word={rawStatus} state={state} />
            <JobLink id={id} connection={attempt.connection} />
            <RelativeTime ms={createdAtMs} className="text-sm text-ink-2" />
          </li>
        ))}
      </ul>
      <Link href={hrefs.getJobsHref()} className="text-accent underline-offset-2 hover:underline">
        {t("lookInJobs")}
      </Link>
    </div>
  );
}

function toJobViews({ jobs }: Pick<JobsResponse, "jobs">): readonly JobView[] {
  return jobs.map((job) => toJobView(job));
}
