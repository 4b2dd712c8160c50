"use client";

import Link from "next/link";
import { useTranslations } from "next-intl";
import { use } from "react";
import { useConnection } from "@/components/frame/connection-context";
import { FailureMessage } from "@/components/frame/failure-message";
import { Freshness } from "@/components/frame/freshness";
import { JobStatus } from "@/components/frame/job-status";
import { useFollowCounts } from "@/components/frame/counts-context";
import { PageHeader } from "@/components/frame/page-header";
import { CopyableId } from "@/components/ui/copyable-id";
import { initialOf, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type Failure } from "@/lib/contract/failure";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { CancelJob } from "./cancel-job";
import { JobDetails } from "./job-details";
import { JobError } from "./job-error";
import { JobMissing } from "./job-missing";
import { JobOutputs } from "./job-outputs-card";
import { JobProgress } from "./job-progress";
import { JobTimeline } from "./job-timeline-card";
import { type JobFacts, toJobFacts, toStatusFacts, withStatusFacts } from "./job-facts";

type JobScreenProps = { jobId: string; connection?: string; canRun: boolean; job: Promise<Result<Stamped<JobFacts>, Failure>> };

const readJob = (detail: JobDetail) => toJobFacts(detail);
const once = () => "final" as const;
const motionOf = (facts: JobFacts) => (facts.job.terminal ? "final" : "moving");

export function JobScreen({ jobId, connection, canRun, job }: JobScreenProps) {
  const t = useTranslations("jobs");
  const first = use(job);
  const connectionId = useConnection()?.id;
  const id = encodeURIComponent(jobId);
  const path = connectionId ? withQuery(`/api/jobs/${id}`, { connection: connectionId }) : undefined;
  const poll = usePoll(path, { ...initialOf(first), read: readJob, motion: motionOf });
  const failure = poll.failure;
  const read = first.ok ? first.value.value.job : undefined;
  // The page polls the details; a job that was opened before it had a machine asks the status view for it, once.
  const isUnplaced = read?.assignedTo === undefined && poll.value?.job.startedAtMs !== undefined;
  const statusPath = connectionId && isUnplaced ? withQuery(`/api/job/${id}/status`, { connection: connectionId }) : undefined;
  const status = usePoll(statusPath, { read: toStatusFacts, motion: once });
  const facts = poll.value && withStatusFacts(poll.value, { ...read, ...status.value });
  useFollowCounts(facts?.job.state);
  return (
    <>
      <PageHeader
        trail={
          <Link href={withQuery("/jobs", { connection })} className="rounded-sm hover:text-ink">
            {t("job.trail")}
          </Link>
        }
        title={<CopyableId id={jobId} shown={8} />}
        badge={facts ? <JobStatus word={facts.job.word} state={facts.job.state} /> : null}
      >
        {facts === undefined || facts.job.terminal ? null : (
          <Freshness atMs={poll.atMs} everyMs={poll.everyMs} isFailing={poll.failure !== undefined} />
        )}
        {canRun && facts?.job.state === "pending" ? (
          <CancelJob jobId={jobId} connection={connectionId} onDone={() => void poll.refresh()} />
        ) : null}
      </PageHeader>
      <div className="flex flex-col gap-3.5 p-4 md:px-5">
        {failure?.code === "NOT_FOUND" ? <JobMissing wasThere={facts !== undefined} connection={connection} /> : null}
        {failure && failure.code !== "NOT_FOUND" ? <FailureMessage failure={failure} onRetry={() => void poll.refresh()} /> : null}
        {facts ? (
          <div className="grid items-start gap-3.5 lg:grid-cols-[minmax(0,1fr)_380px]">
            <div className="flex min-w-0 flex-col gap-3.5">
              {facts.failure ? <JobError failure={facts.failure} facts={facts} /> : null}
              <JobProgress facts={facts} />
              <JobOutputs facts={facts} connection={connectionId} />
            </div>
            <div className="flex min-w-0 flex-col gap-3.5">
              <JobTimeline facts={facts} />
              <JobDetails facts={facts} />
            </div>
          </div>
        ) : null}
      </div>
    </>
  );
}
