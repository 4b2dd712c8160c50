import { X } from "lucide-react";
import { useTranslations } from "next-intl";
import { useEffect, useEffectEvent, useRef } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { useJobHrefs } from "@/components/frame/job-link";
import { hasRemovableSecrets, JobLines, SecretsNotice } from "@/components/jobs/actions/job-lines";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle, IconButton } from "@/components/ui/controls/button";
import { ButtonLink, Link } from "@/components/ui/link";
import { ToneIcon } from "@/components/ui/status-badge";
import { toShortId } from "@/lib/browser/urls";
import { type OpenWorkflow } from "../workflow/opened-workflow";
import { type SubmittedJob } from "./attempt";
import { JobFailure, JobProgress, JobResult } from "./job-sections";
import { type DisplayedJobState, useEndJobs, useStartedJob } from "./use-started-job";

const stateStyles = {
  pending: { tone: "wait", style: "border-line-strong bg-surface", ink: "text-wait" },
  in_progress: { tone: "run", style: "border-run bg-run-soft", ink: "text-run" },
  completed: { tone: "ok", style: "border-ok bg-ok-soft", ink: "text-ok" },
  failed: { tone: "bad", style: "border-bad bg-bad-soft", ink: "text-bad" },
  cancelled: { tone: "off", style: "border-line-strong bg-off-soft", ink: "text-off" },
  gone: { tone: "off", style: "border-line-strong bg-off-soft", ink: "text-off" },
} as const satisfies Readonly<Record<DisplayedJobState, { tone: string; style: string; ink: string }>>;

type NewestJobProps = {
  submittedJob?: SubmittedJob;
  fallbackName: string;
  /** The graph that the open workflow sent last, used for node names. */
  sentGraph?: OpenWorkflow["graph"];
  onCancelled: (jobIds: readonly string[]) => void;
  onDismiss: (jobId: string) => void;
  /** Removes the submitted keys from the form. Absent if no form is open. */
  onRemoveSecrets?: (secretPlaces: NonNullable<SubmittedJob["secretPlaces"]>) => void;
};

/**
 * The newest job that this page started, at the bottom of the window: its state, Stop, and its results. Its region is always rendered, so that
 * screen readers announce its content.
 */
export function NewestJob({ submittedJob, fallbackName, sentGraph, onCancelled, onDismiss, onRemoveSecrets }: NewestJobProps) {
  const t = useTranslations("run.answer");
  const tSecrets = useTranslations("acts.secrets");
  const common = useTranslations("common");
  const connection = useConnection()?.id;
  const hrefs = useJobHrefs();
  const { job, state, canStop, isUnavailable, refresh } = useStartedJob(submittedJob, connection);
  const jobActions = useEndJobs({ connection, onCancelled, refresh });
  // Starting a job dismisses the results of the last one, but not Undo of earlier jobs.
  const dismissResults = useEffectEvent(() => jobActions.dismissEnded());
  useEffect(() => dismissResults(), [submittedJob?.jobId]);
  const { tone, style, ink } = stateStyles[state];
  const region = useRef<HTMLElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    // The pressed button disappears with the stopped job, which would move the focus to the top of the page.
    if (state !== "pending" && state !== "in_progress" && hadFocus.current && document.activeElement === document.body) {
      region.current?.focus({ preventScroll: true });
    }
  }, [state]);
  return (
    <section
      ref={region}
      tabIndex={-1}
      onFocus={() => void (hadFocus.current = true)}
      onBlur={({ relatedTarget }) => {
        // When a focused element is removed, `relatedTarget` is null.
        if (relatedTarget) hadFocus.current = false;
      }}
      aria-label={t("job.label")}
      data-job={submittedJob?.jobId}
      data-lower-edge={submittedJob || jobActions.operations.length > 0 ? "" : undefined}
      data-tone={submittedJob && tone}
      className={cn(
        "z-10 flex flex-col gap-2",
        submittedJob || jobActions.operations.length > 0
          ? "sticky bottom-[calc(104px+env(safe-area-inset-bottom))] mx-2 md:bottom-3 md:mr-5 md:ml-auto md:w-[min(680px,calc(var(--form-width,100%)-20px))] md:max-w-[calc(100%-40px)]"
          : "sr-only",
      )}
    >
      <JobLines actions={jobActions} connection={connection} onStopped={() => void refresh()} />
      <div className={cn("flex flex-col rounded-lg bg-surface text-ink shadow-xl", submittedJob && ["border", style])}>
        <div className="flex min-h-12 flex-wrap items-center gap-x-2.5 gap-y-2 px-3.5 py-2">
          {submittedJob ? (
            <span className={ink}>
              <ToneIcon tone={tone} />
            </span>
          ) : null}
          <div role="status" className="min-w-0 flex-1 basis-52">
            {submittedJob ? (
              <>
                {state === "failed" && job?.error ? (
                  <JobFailure error={job.error} sentGraph={sentGraph} />
                ) : (
                  <p className="font-semibold">{isUnavailable ? t("job.away") : t(`standing.${state}`)}</p>
                )}
                {state === "pending" && job?.waits?.state === "queued" ? (
                  <p className="text-wait">{t("job.queuedOn", { runners: job.waits.runners.join(", "), ahead: job.waits.ahead ?? 0 })}</p>
                ) : null}
                {state === "gone" ? <p className="text-ink-2">{t("job.goneText")}</p> : null}
                <p className="truncate text-ink-2 max-sm:text-sm">
                  {t("acceptedText", { name: submittedJob.name || fallbackName, id: toShortId(submittedJob.jobId) })}
                </p>
                {submittedJob.nodesRefused > 0 ? <p className="text-ink-2">{t("partial", { count: submittedJob.nodesRefused })}</p> : null}
              </>
            ) : null}
          </div>
          {submittedJob ? (
            <>
              {state === "in_progress" && !canStop ? <span className="text-sm text-ink-3">{t("job.cannotStop")}</span> : null}
              {state === "pending" || (state === "in_progress" && canStop) ? (
                <Button
                  tone="danger"
                  busy={jobActions.pendingIds.has(submittedJob.jobId) || jobActions.busyIds.has(submittedJob.jobId)}
                  onClick={() => {
                    jobActions.dismissEnded();
                    jobActions.schedule({ action: "cancel", items: [{ id: submittedJob.jobId, state }] });
                  }}
                >
                  {t(state === "pending" ? "job.cancel" : "job.stop")}
                </Button>
              ) : null}
              <Link href={hrefs.getJobsHref()} className={cn(buttonStyle({ tone: "quiet" }), "max-sm:hidden")}>
                {t("allJobs")}
              </Link>
              <ButtonLink href={hrefs.getJobHref(submittedJob.jobId)}>{t("openJob", { id: toShortId(submittedJob.jobId) })}</ButtonLink>
              <IconButton
                tone="quiet"
                icon={X}
                label={common("dismiss")}
                className="ml-auto"
                onClick={() => {
                  // The button disappears with the card, so the focus moves to the region.
                  region.current?.focus({ preventScroll: true });
                  onDismiss(submittedJob.jobId);
                }}
              />
            </>
          ) : null}
        </div>
        {submittedJob?.secretPlaces ? (
          <SecretsNotice
            places={submittedJob.secretPlaces}
            className="mx-3.5 mb-3 max-h-48 overflow-y-auto"
            actions={
              onRemoveSecrets && hasRemovableSecrets(submittedJob.secretPlaces) ? (
                <Button
                  size="small"
                  onClick={() => {
                    onRemoveSecrets(submittedJob.secretPlaces ?? []);
                    onDismiss(submittedJob.jobId);
                  }}
                >
                  {tSecrets("takeOut")}
                </Button>
              ) : null
            }
          />
        ) : null}
        {submittedJob && job ? <JobProgress job={job} sentGraph={sentGraph} /> : null}
        {submittedJob && job?.outputs && (job.outputs.length > 0 || state === "completed") ? (
          <JobResult key={submittedJob.jobId} outputs={job.outputs} sentGraph={sentGraph} connection={connection} />
        ) : null}
      </div>
    </section>
  );
}
