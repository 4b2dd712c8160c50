import { useTranslations } from "next-intl";
import useSWR from "swr";
import { faultOwners, toFaultCode } from "@/components/frame/failure/fault-owner";
import { JobStatus } from "@/components/frame/job-status";
import { Button } from "@/components/ui/controls/button";
import { FailureNotice } from "@/components/ui/empty-state";
import { Link } from "@/components/ui/link";
import { RelativeTime } from "@/components/ui/time/relative-time";
import { isSessionOver } from "@/lib/browser/live/live-state";
import { type Failure } from "@/lib/contract/failure";
import { toJobView } from "@/lib/contract/views/job-view";
import { valueOrThrow } from "@/lib/shared/result";
import { type Attempt, type SubmitApi } from "./attempt";
import { JobLink, useJobHrefs } from "./job-link";

/** Allowed difference between the clocks of the browser and the service. */
const MAX_CLOCK_SKEW_MS = 60_000;

export type UnknownActions = { onCheckAgain: () => void; onSendAgain?: () => void; onLeave: () => void };
type UnknownNoteProps = UnknownActions & { failure: Failure; attempt?: Attempt; newestJobs: SubmitApi["newestJobs"] };

/** For a submission without a clear response: shows the possible jobs and lets the user decide. Sends nothing. */
export function UnknownNote({ failure, attempt, newestJobs, onCheckAgain, onSendAgain, onLeave }: UnknownNoteProps) {
  const t = useTranslations("run.answer");
  return (
    <FailureNotice
      title={t("unknown")}
      cause={t("unknownCause", { owner: faultOwners[toFaultCode(failure)] })}
      next={t("unknownNext")}
      detail={failure.message ? t("reason", { message: failure.message }) : undefined}
      actions={
        <>
          {attempt ? <PossibleJobs attempt={attempt} newestJobs={newestJobs} /> : null}
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

function PossibleJobs({ attempt, newestJobs }: { attempt: Attempt; newestJobs: SubmitApi["newestJobs"] }) {
  const t = useTranslations("run.answer");
  const hrefs = useJobHrefs(attempt.connection);
  const fetchJobs = async () => valueOrThrow(await newestJobs(attempt));
  const { data, error } = useSWR(["run.maybe", attempt.key], fetchJobs, {
    shouldRetryOnError: false,
    refreshInterval: 5000,
    isPaused: isSessionOver,
  });
  const jobs = (data?.jobs ?? [])
    .map((job) => toJobView(job))
    .filter(({ createdAtMs = 0 }) => createdAtMs >= attempt.atMs - MAX_CLOCK_SKEW_MS);
  return (
    <div className="w-full" role="status">
      <p className="font-semibold">{t("maybe", { name: attempt.name })}</p>
      {error ? <p className="text-ink-2">{t("maybeFailed")}</p> : null}
      {data && jobs.length === 0 ? <p className="text-ink-2">{t("maybeNone")}</p> : null}
      <ul>
        {jobs.map(({ id, word, state, createdAtMs = 0 }) => (
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
