import { useTranslations } from "next-intl";
import { type ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { Button, buttonStyle } from "@/components/ui/controls/button";
import { CopyButton } from "@/components/ui/controls/copy-button";
import { EmptyState } from "@/components/ui/empty-state";
import { StatusBadge, ToneIcon } from "@/components/ui/status-badge";
import { Duration } from "@/components/ui/time";
import { type JobFacts, type JobFailure, type JobNote } from "./job-facts";

type JobErrorProps = {
  failure: JobFailure;
  facts: JobFacts;
  onShowNode: (nodeId: string) => void;
};

/** Shows the failed node and the duration, then collapsed details from the service. */
export function JobError({ failure, facts: { job, timeline }, onShowNode }: JobErrorProps) {
  const t = useTranslations("jobs.job.error");
  const { startedAtMs, endedAtMs } = job;
  const doneCount = timeline.filter(({ state }) => state === "done" || state === "cached").length;
  const traceback = failure.traceback.join("").trimEnd();
  const node = failure.node ?? failure.nodeId;
  const title = failure.refusedNodes
    ? t("refused")
    : node
      ? t("inNode", { node, id: failure.nodeId ? `#${failure.nodeId}` : "" })
      : t("title");
  return (
    <section aria-label={t("title")} className="flex gap-2.5 rounded-lg border border-bad bg-bad-soft px-3.5 py-3">
      <span className="mt-0.5 text-bad">
        <ToneIcon tone="bad" />
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        <p>
          <b className="font-semibold">{title}</b>{" "}
          {startedAtMs !== undefined && endedAtMs !== undefined ? (
            <span className="text-ink-2">
              {t("after")} <Duration fromMs={startedAtMs} toMs={endedAtMs} />
              {timeline.length > 1 ? `, ${t("nodes", { done: doneCount, total: timeline.length })}` : null}
            </span>
          ) : null}
        </p>
        {failure.refusedNodes ? <RefusedNodes nodes={failure.refusedNodes} onShowNode={onShowNode} /> : <FailureReason failure={failure} />}
        <div className="flex flex-wrap items-start gap-2">
          {failure.isInGraph ? <Button onClick={() => onShowNode(failure.nodeId ?? "")}>{t("show")}</Button> : null}
          {traceback ? <Disclosure title={t("traceback")}>{traceback}</Disclosure> : null}
          {failure.inputs ? <Disclosure title={t("inputs")}>{failure.inputs}</Disclosure> : null}
          <CopyReport text={formatReport(job, failure, traceback)} />
        </div>
      </div>
    </section>
  );
}

/** Notes about a job that ran twice, or whose outputs a runner partly refused. */
export function JobNotes({ notes, onShowNode }: { notes: readonly JobNote[]; onShowNode: (nodeId: string) => void }) {
  const t = useTranslations("jobs.job.notes");
  return notes.map((jobNote, index) => (
    <section key={index} aria-label={t("title")} className="flex gap-2.5 rounded-lg border border-line bg-surface px-3.5 py-3">
      <span className="mt-0.5 text-wait">
        <ToneIcon tone="wait" />
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-2">
        {jobNote.code === "cache_cleared" ? (
          <p>{t("cacheCleared")}</p>
        ) : (
          <>
            <p>{t("outputsRefused", { runner: jobNote.runner })}</p>
            <RefusedNodes nodes={jobNote.refusedNodes} onShowNode={onShowNode} />
          </>
        )}
      </div>
    </section>
  ));
}

function FailureReason({ failure }: { failure: JobFailure }) {
  const t = useTranslations("jobs.job.error");
  const reason = [failure.type, failure.message].filter(Boolean).join(": ");
  return <p className="font-mono text-sm break-words whitespace-pre-wrap">{reason || t("silent")}</p>;
}

/** The problems of each refused node, with a link to the node in the graph. */
function RefusedNodes({ nodes, onShowNode }: { nodes: NonNullable<JobFailure["refusedNodes"]>; onShowNode: (nodeId: string) => void }) {
  const t = useTranslations("jobs.job.error");
  return (
    <ul className="flex flex-col gap-1.5">
      {nodes.map(({ nodeId, node, errors }) => (
        <li key={nodeId}>
          <button type="button" onClick={() => onShowNode(nodeId)} title={t("show")} className="rounded-sm hover:underline">
            <b className="font-semibold">{node ?? nodeId}</b> <span className="text-ink-2">#{nodeId}</span>
          </button>
          <ul className="list-inside list-disc">
            {errors.map(({ message, details, input }, index) => (
              <li key={index} className="break-words">
                {input === undefined || details.includes(input) ? null : <span className="font-mono text-sm">{input}: </span>}
                {[message, details].filter(Boolean).join(": ")}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function CopyReport({ text }: { text: string }) {
  const t = useTranslations("jobs.job.error");
  return (
    <span className={buttonStyle({ className: "relative pr-1" })}>
      {t("report")}
      <CopyButton text={text} label={t("copy")} className="size-[22px] after:absolute after:inset-0" />
    </span>
  );
}

/** Everything needed to investigate the failure, as plain text. Secrets are already masked. */
function formatReport(job: JobFacts["job"], failure: JobFailure, traceback: string): string {
  const toIso = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const refusedLines = failure.refusedNodes?.flatMap(({ nodeId, node, errors }) =>
    errors.map(({ message, details }) => `#${nodeId} ${node ?? ""}: ${[message, details].filter(Boolean).join(": ")}`),
  );
  const headerLines = [
    `Job ${job.id}`,
    `Status ${job.rawStatus}`,
    job.workflowId && `Workflow ${job.workflowId}`,
    job.assignedTo && `Machine ${job.assignedTo}`,
    job.createdAtMs !== undefined && `Submitted ${toIso(job.createdAtMs)}`,
    job.startedAtMs !== undefined && `Started ${toIso(job.startedAtMs)}`,
    job.endedAtMs !== undefined && `Ended ${toIso(job.endedAtMs)}`,
    failure.nodeId !== undefined && `Node #${failure.nodeId} ${failure.nodeType ?? failure.node ?? ""}`,
  ];
  const reason = refusedLines ? refusedLines.join("\n") : [failure.type, failure.message].filter(Boolean).join(": ");
  return [headerLines.filter(Boolean).join("\n"), reason, traceback, failure.inputs && `Inputs\n${failure.inputs}`]
    .filter(Boolean)
    .join("\n\n");
}

type JobMissingProps = {
  hasExisted: boolean;
  /** Whether the job had not ended when it was last seen. */
  wasActive?: boolean;
  isForbidden?: boolean;
  /** True if the id can't be part of a URL, so that no request was sent. */
  hasInvalidId?: boolean;
  /** The link back, if the list isn't next to it. */
  backLink?: ReactNode;
};

/** Shown instead of a state if the service lost an unfinished job. */
export function MissingJobBadge() {
  return <StatusBadge tone="off" label={useTranslations("jobs.job.missing")("badge")} />;
}

/** Most services respond the same for a deleted job and for another member's job. This page shows the same text for both. */
export function JobMissing({ hasExisted, wasActive = false, isForbidden = false, hasInvalidId = false, backLink }: JobMissingProps) {
  const t = useTranslations("jobs.job.missing");
  const cannotOpen = useTranslations("common")("cannotOpen");
  if (hasInvalidId) return <EmptyState title={cannotOpen} action={backLink} />;
  if (isForbidden) return <EmptyState title={t("forbidden")} text={t("forbiddenText")} action={backLink} />;
  if (!hasExisted) return <EmptyState title={t("title")} text={t("text")} action={backLink} />;
  return (
    <p role="status" className="rounded-lg border border-line bg-off-soft px-3.5 py-2.5">
      {t(wasActive ? "left" : "vanished")}
    </p>
  );
}

/** Collapsed text that opens without JavaScript. */
function Disclosure({ title, children }: { title: ReactNode; children: ReactNode }) {
  return (
    <details className="min-w-0 open:basis-full">
      <summary className={cn(buttonStyle(), "w-fit list-none after:content-['▾'] [&::-webkit-details-marker]:hidden")}>{title}</summary>
      <pre
        tabIndex={0}
        className="mt-2 max-h-[360px] overflow-auto rounded-md border border-line bg-surface p-2.5 font-mono text-xs whitespace-pre"
      >
        {children}
      </pre>
    </details>
  );
}
