import { useTranslations } from "next-intl";
import { faultOwners, toFaultCode } from "@/components/frame/failure/fault-owner";
import { JobStatus } from "@/components/frame/job-status";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { useLive } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type JobView, toJobView } from "@/lib/contract/views/job-view";
import { type Attempt } from "./attempt";
import { JobLink, useJobHrefs } from "./job-link";

/** Allowed difference between the clocks of the browser and the service. */
const MAX_CLOCK_SKEW_MS = 60_000;

export type UnknownActions = { onCheckAgain: () => void; onSendAgain?: () => void; onLeave: () => void };
type UnknownNoteProps = UnknownActions & { failure: Failure; attempt?: Attempt };

/** For a submission without a clear response: shows the possible jobs and lets the user decide. Sends nothing. */
export function UnknownNote({ failure, attempt, onCheckAgain, onSendAgain, onLeave }: UnknownNoteProps) {
  const t = useTranslations("run.answer");
  return (
    <FailureNotice
      title={t("unknown")}
      cause={t("unknownCause", { owner: faultOwners[toFaultCode(failure)] })}
      next={t("unknownNext")}
      detail={failure.message ? t("reason", { message: failure.message }) : undefined}
      actions={
        <>
          {attempt ? <PossibleJobs attempt={attempt} /> : null}
          <Button onClick={onCheckAgain}>{t("lookAgain")}</Button>
          {onSendAgain ? <Button onClick={onSendAgain}>{t("sendAgain")}</Button> : null}
          <Button tone="quiet" onClick={onLeave}>
            {t("leave")}
          </Button>
        </>
      }
    />
  );
}

function PossibleJobs({ attempt }: { attempt: Attempt }) {
  const t = useTranslations("run.answer");
  const hrefs = useJobHrefs(attempt.connection);
  const path = withQuery("/api/jobs", { workflow_id: attempt.workflowId, limit: 5, connection: attempt.connection });
  const { value, failure } = useLive(path, { read: toViews });
  const jobs = value?.filter(({ createdAtMs = 0 }) => createdAtMs >= attempt.atMs - MAX_CLOCK_SKEW_MS);
  return (
    <div className="w-full" role="status">
      <p className="font-semibold">{t("maybe", { name: attempt.name })}</p>
      {failure ? <p className="text-ink-2">{t("maybeFailed")}</p> : null}
      {jobs?.length === 0 ? <p className="text-ink-2">{t("maybeNone")}</p> : null}
      <ul>
        {jobs?.map(({ id, word, state, createdAtMs = 0 }) => (
          <li key={id} className="flex items-center gap-2.5 py-1">
            <JobStatus word={word} state={state} />
            <JobLink id={id} connection={attempt.connection} />
            <RelativeTime ms={createdAtMs} className="text-sm text-ink-2" />
          </li>
        ))}
      </ul>
      <Link href={hrefs.jobs()} className="text-accent underline-offset-2 hover:underline">
        {t("lookInJobs")}
      </Link>
    </div>
  );
}

function toViews({ jobs }: Pick<JobsAnswer, "jobs">): readonly JobView[] {
  return jobs.map((job) => toJobView(job));
}
