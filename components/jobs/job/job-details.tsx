import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { useConnectionParam } from "@/components/frame/connection/connection-context";
import { useRunProgress } from "@/components/frame/job-status";
import { Card, Fact } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/controls/copy-button";
import { Link } from "@/components/ui/link";
import { Picture } from "@/components/ui/pictures/picture";
import { ProgressBar } from "@/components/ui/skeleton";
import { Duration, formatDuration, RelativeTime, RunningDuration, useNow, useTimeFormat } from "@/components/ui/time";
import { createLivePreviewUrl, toJobHref, toShortId } from "@/lib/browser/urls";
import { toJobState } from "@/lib/contract/jobs/job-list";
import { formatNamelessWorkflow } from "@/lib/contract/workflow/workflow-name";
import { type JobFacts, type RawStates } from "./job-facts";

export function JobDetails({ facts }: { facts: JobFacts }) {
  const { job, workflow, label, submittedBy, rerunOf, reruns, runner, rawStates } = facts;
  const t = useTranslations("jobs.job.details");
  const listTexts = useTranslations("jobList");
  const { createdAtMs, startedAtMs, endedAtMs } = job;
  const waitEndMs = startedAtMs ?? (job.terminal ? endedAtMs : undefined);
  // A workflow without an id and a name is named after the job.
  const hasWorkflow = job.workflowId !== undefined || workflow !== formatNamelessWorkflow(job.id);
  return (
    <Card title={t("title")}>
      <dl className="grid grid-cols-[80px_minmax(0,1fr)] gap-y-1.5">
        {shouldShowRawStates(rawStates) ? (
          <Fact name={t("state")}>
            <RawStateTexts rawStates={rawStates} />
          </Fact>
        ) : null}
        <Fact name={t("job")}>
          <CopyableId id={job.id} className="-my-0.5 [&>span]:text-xs" />
        </Fact>
        {hasWorkflow ? (
          <Fact name={t("workflow")}>
            <span title={job.workflowId}>{workflow}</span>
          </Fact>
        ) : null}
        {label ? <Fact name={t("label")}>{label}</Fact> : null}
        {rerunOf ? (
          <Fact name={t("rerunOf")}>
            <JobLinks ids={[rerunOf]} />
          </Fact>
        ) : null}
        {reruns ? (
          <Fact name={t("rerunAs")}>
            <JobLinks ids={reruns} />
          </Fact>
        ) : null}
        {createdAtMs === undefined ? null : (
          <Fact name={t("submitted")}>
            <AbsoluteTime ms={createdAtMs} />{" "}
            <span className="text-ink-3">
              (<RelativeTime ms={createdAtMs} />)
            </span>
            {submittedBy ? <span className="block">{t("by", { name: toSubmitterText(submittedBy, listTexts) })}</span> : null}
          </Fact>
        )}
        {createdAtMs === undefined || (waitEndMs === undefined && job.state !== "pending") ? null : (
          <Fact name={t("waited")}>
            {waitEndMs === undefined ? <RunningDuration fromMs={createdAtMs} /> : <WaitDuration fromMs={createdAtMs} toMs={waitEndMs} />}
          </Fact>
        )}
        {startedAtMs === undefined || (endedAtMs === undefined && job.terminal) ? null : (
          <Fact name={t("ran")}>
            {endedAtMs === undefined ? <RunningDuration fromMs={startedAtMs} /> : <Duration fromMs={startedAtMs} toMs={endedAtMs} />}
          </Fact>
        )}
        {job.stoppedIn ? (
          <Fact name={t("stoppedIn")}>
            {job.stoppedIn.nodeType} <span className="font-mono text-sm">#{job.stoppedIn.nodeId}</span>
          </Fact>
        ) : null}
        {runner ? (
          <Fact name={t("runner")}>
            {runner.label}
            {runner.attempt > 1 ? <span className="text-ink-3"> ({t("attempt", { attempt: runner.attempt })})</span> : null}
          </Fact>
        ) : job.assignedTo ? (
          <Fact name={t("machine")}>
            <span className="font-mono text-sm">{job.assignedTo}</span>
          </Fact>
        ) : null}
      </dl>
    </Card>
  );
}

function toSubmitterText({ name, token }: NonNullable<JobFacts["submittedBy"]>, t: ReturnType<typeof useTranslations<"jobList">>): string {
  return token === undefined ? name : t("byToken", { token, name });
}

function JobLinks({ ids }: { ids: readonly string[] }) {
  const connectionParam = useConnectionParam();
  return (
    <span className="flex flex-wrap gap-x-2">
      {ids.map((id) => (
        <Link
          key={id}
          href={toJobHref(id, connectionParam)}
          title={id}
          prefetch={false}
          className="font-mono text-sm text-accent hover:underline"
        >
          {toShortId(id)}
        </Link>
      ))}
    </span>
  );
}

/** Services may report whole seconds, so a short wait is only an upper bound. */
function WaitDuration({ fromMs, toMs }: { fromMs: number; toMs: number }) {
  const t = useTranslations("jobs.job.details");
  const duration = formatDuration(useTranslations("common.duration"), toMs - fromMs);
  const isRounded = fromMs % 1000 === 0 && toMs - fromMs < 10_000;
  return <>{isRounded ? t("upTo", { duration }) : duration}</>;
}

const isSameState = ({ details, status }: RawStates) => status === undefined || toJobState(status) === toJobState(details);
const shouldShowRawStates = (rawStates: RawStates) => !isSameState(rawStates) || toJobState(rawStates.details) === "unknown";

/** The raw state of both views, since a service may use different words for the same state. */
function RawStateTexts({ rawStates }: { rawStates: RawStates }) {
  const { details, status } = rawStates;
  const t = useTranslations("jobs.job.details");
  const richTags = { code: (chunks: ReactNode) => <span className="font-mono text-sm">{chunks}</span> };
  // Names the views only if there are two. A local server has no status view.
  if (status === undefined || status === details) return richTags.code(details);
  return (
    <>
      {t.rich("wordOfDetails", { ...richTags, word: details })}, {t.rich("wordOfStatus", { ...richTags, word: status })}
      {isSameState(rawStates) ? null : <span className="block text-wait">{t("disagree")}</span>}
    </>
  );
}

const DAY_MS = 86_400_000;

/** The time in the browser's time zone, with the date if it is more than a day ago. */
function AbsoluteTime({ ms }: { ms: number }) {
  const formatTime = useTimeFormat();
  const isRecent = useNow() - ms < DAY_MS;
  return formatTime(ms, isRecent ? "second" : "until") ?? <span className="inline-block w-[52px]" />;
}

/** The progress of a pending or running job, as the service reports it. */
export function JobProgress({ facts: { job, currentNode, waiting }, connection }: { facts: JobFacts; connection?: string }) {
  const t = useTranslations("jobs.job.progress");
  const { state, createdAtMs, startedAtMs, progress, expected } = job;
  const { share, remaining } = useRunProgress({ value: progress?.value, expected, startedMs: startedAtMs });
  if (state === "pending") {
    return (
      <Card>
        <p className="flex items-baseline gap-2">
          <b className="font-semibold">{t("waiting")}</b>
          <span className="ml-auto text-ink-3">{createdAtMs === undefined ? null : <RunningDuration fromMs={createdAtMs} />}</span>
        </p>
        {waiting ? (
          <p className="mt-1 text-wait">
            {t(`waits.${waiting.state}`, { runners: waiting.runners.join(", "), count: waiting.runners.length, ahead: waiting.ahead ?? 0 })}
          </p>
        ) : null}
      </Card>
    );
  }
  if (state !== "in_progress") return null;
  return (
    <Card>
      <div className="flex flex-col gap-2" aria-live="off">
        <p className="flex items-baseline gap-2">
          <b className="font-semibold">{share === undefined ? t("running") : t("percent", { value: Math.round(share * 100) })}</b>
          {progress?.nodesTotal === undefined ? null : (
            <span className="text-ink-2">{t("nodes", { done: progress.nodesDone ?? 0, total: progress.nodesTotal })}</span>
          )}
          {remaining ? <span className="text-ink-2 tabular-nums">{remaining}</span> : null}
          <span className="ml-auto text-ink-3">{startedAtMs === undefined ? null : <RunningDuration fromMs={startedAtMs} />}</span>
        </p>
        {share === undefined ? null : <ProgressBar value={share} label={t("label")} className="h-1.5 w-full" />}
        {currentNode ? (
          <p className="text-ink-2">
            {progress?.step !== undefined && progress.steps !== undefined && progress.steps > 1
              ? t("nodeStep", { node: currentNode, step: progress.step, steps: progress.steps })
              : t("node", { node: currentNode })}
          </p>
        ) : null}
        {progress?.previewVersion === undefined ? null : (
          <Picture
            src={createLivePreviewUrl({ connection, jobId: job.id, version: progress.previewVersion })}
            alt={t("preview")}
            width={256}
            height={256}
            fit="contain"
            eager
          />
        )}
      </div>
    </Card>
  );
}
