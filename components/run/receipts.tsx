"use client";

import { useTranslations } from "next-intl";
import { useConnection } from "@/components/frame/connection-context";
import { buttonStyle } from "@/components/ui/button";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { Picture } from "@/components/ui/picture";
import { RelativeTime } from "@/components/ui/relative-time";
import { ToneIcon } from "@/components/ui/tone-icon";
import { type Tone } from "@/components/ui/tone";
import { thumbnailUrl } from "@/lib/browser/urls";
import { type JobErrorView } from "@/lib/contract/job-error-view";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type JobState } from "@/lib/contract/states";
import { titleOf } from "./form-model";
import { JobLink, useJobHrefs } from "./job-link";
import { own } from "./own";
import { type Receipt } from "./run-state";
import { useStartedJob } from "./use-started-job";

const SHORT_ID = 8;
const LONGEST_REASON = 500;

type StandingState = Exclude<JobState, "unknown">;
const boxes: Readonly<Record<StandingState, { tone: Tone; style: string; ink: string }>> = {
  pending: { tone: "ok", style: "border-ok bg-ok-soft", ink: "text-ok" },
  in_progress: { tone: "run", style: "border-run bg-run-soft", ink: "text-run" },
  completed: { tone: "ok", style: "border-ok bg-ok-soft", ink: "text-ok" },
  failed: { tone: "bad", style: "border-bad bg-bad-soft", ink: "text-bad" },
  cancelled: { tone: "off", style: "border-line-strong bg-off-soft", ink: "text-off" },
};

type NewestReceiptProps = {
  receipt?: Receipt;
  fallbackName: string;
  /** What was sent last from the workflow that is open: it knows what a node is called. */
  sent?: Graph;
};

/** The newest job that this page started, and where it stands. The region stands from the start, so that a screen reader hears it fill. */
export function NewestReceipt({ receipt, fallbackName, sent }: NewestReceiptProps) {
  const t = useTranslations("run.answer");
  const connection = useConnection()?.id;
  const hrefs = useJobHrefs();
  const job = useStartedJob(receipt?.jobId, connection);
  const state = !job || job.state === "unknown" ? "pending" : job.state;
  const { tone, style, ink } = boxes[state];
  const picture = job?.preview?.file;
  return (
    <div role="status" className="empty:-mb-3.5">
      {receipt ? (
        <div
          className={cn("flex min-h-16 flex-wrap items-center gap-x-2.5 gap-y-2 rounded-lg border px-3.5 py-2.5", style)}
          data-job={receipt.jobId}
        >
          {picture ? (
            <Picture
              src={thumbnailUrl({ connection, file: picture, edge: 128 })}
              alt=""
              width={52}
              height={36}
              eager
              className="h-9 w-[52px]"
            />
          ) : (
            <span className={ink}>
              <ToneIcon tone={tone} />
            </span>
          )}
          <div className="min-w-0 flex-1 basis-64">
            {state === "failed" && job?.error ? (
              <FailedIn error={job.error} sent={sent} />
            ) : (
              <p className="font-semibold">{t(`standing.${state}`)}</p>
            )}
            <p className="text-ink-2">
              {t("acceptedText", { name: receipt.name || fallbackName, id: receipt.jobId.slice(0, SHORT_ID) })}
              {receipt.nodesRefused > 0 ? ` ${t("partial", { count: receipt.nodesRefused })}` : null}
            </p>
          </div>
          <Link href={hrefs.jobs()} className={buttonStyle({ tone: "quiet" })}>
            {t("allJobs")}
          </Link>
          <Link href={hrefs.job(receipt.jobId)} className={buttonStyle()}>
            {t("openJob", { id: receipt.jobId.slice(0, SHORT_ID) })}
          </Link>
        </div>
      ) : null}
    </div>
  );
}

/** The node and the reason; the rest of what the service knows stands at the job. */
function FailedIn({ error: { nodeId, nodeType, type, message }, sent }: { error: JobErrorView; sent?: Graph }) {
  const t = useTranslations("run.answer");
  const node = nodeId === undefined ? undefined : own(sent ?? {}, nodeId);
  // Another workflow may have been opened since: its node of this number is another one.
  const title = node && node.class_type === nodeType ? titleOf(node) : (nodeType ?? nodeId);
  const said = [type, message.trim()].filter(Boolean).join(": ");
  return (
    <>
      <p className="font-semibold">
        {title === undefined ? t("standing.failed") : t("failedIn", { node: title, id: nodeId === undefined ? "" : `#${nodeId}` })}
      </p>
      {said ? <p className="line-clamp-3 font-mono text-sm break-words">{said.slice(0, LONGEST_REASON)}</p> : null}
    </>
  );
}

export function EarlierReceipts({ receipts, fallbackName }: { receipts: readonly Receipt[]; fallbackName: string }) {
  return (
    <ul className="flex flex-col">
      {receipts.map(({ jobId, name, atMs, connection }) => (
        <li key={jobId} className="flex items-center gap-2 py-1">
          <JobLink id={jobId} connection={connection} />
          <span className="min-w-0 flex-1 truncate">{name || fallbackName}</span>
          <RelativeTime ms={atMs} className="text-sm whitespace-nowrap text-ink-3" />
        </li>
      ))}
    </ul>
  );
}
