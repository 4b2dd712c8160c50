import { useTranslations } from "next-intl";
import { toFaultCode } from "@/components/frame/failure/fault-owner";
import { JobStatus } from "@/components/frame/job-status";
import { ProgressBar } from "@/components/ui/progress-bar";
import { StatusBadge } from "@/components/ui/status-badge";
import { type Tone } from "@/components/ui/tone";
import { JobLink } from "../submit/job-link";
import { type Copy, type CopyJob } from "./copies-state";

type CopyLineProps = { copy: Copy; job: CopyJob | undefined; connection?: string };

/** The outcome of one copy; its job's state instead, once that is known. */
export function CopyLine({ copy, job, connection }: CopyLineProps) {
  const { label, outcome } = copy;
  const failure = outcome && outcome.kind !== "accepted" ? outcome.failure : undefined;
  const errors = useTranslations("errors");
  return (
    <li className="flex min-h-8 items-center gap-2.5 py-1 [content-visibility:auto]">
      <span title={label} className="min-w-0 flex-1 truncate tabular-nums">
        {label}
      </span>
      {failure ? (
        <span title={failure.message} className="max-w-[40%] min-w-0 truncate text-sm text-ink-3 max-sm:hidden">
          {failure.message || errors(`${toFaultCode(failure)}.title`)}
        </span>
      ) : null}
      {job ? <Standing copy={copy} job={job} /> : <Sending copy={copy} />}
      {outcome?.kind === "accepted" ? <JobLink id={outcome.jobId} connection={connection} /> : null}
    </li>
  );
}

function Standing({ copy: { label, outcome }, job }: { copy: Copy; job: CopyJob }) {
  const t = useTranslations("run.copies.line");
  const accepted = outcome?.kind === "accepted" ? outcome : undefined;
  if (job.isGone) return <StatusBadge tone="off" word={t(accepted?.isCancelled ? "cancelled" : "gone")} />;
  return (
    <>
      {job.state === "in_progress" && job.progress !== undefined ? (
        <ProgressBar value={job.progress} label={label} className="max-sm:w-10" />
      ) : null}
      {accepted?.nodesRefused ? <span className="text-sm text-ink-3">{t("without", { count: accepted.nodesRefused })}</span> : null}
      <JobStatus word={job.word} state={job.state} />
    </>
  );
}

const tones: Record<"accepted" | "unknown" | "refused" | "invalid" | "lost", Tone> = {
  accepted: "ok",
  unknown: "unknown",
  refused: "bad",
  invalid: "bad",
  lost: "off",
};

function Sending({ copy: { isBegun, outcome } }: { copy: Copy }) {
  const t = useTranslations("run.copies.line");
  if (!outcome) return <StatusBadge tone={isBegun ? "run" : "off"} word={t(isBegun ? "sending" : "left")} />;
  if (outcome.kind !== "accepted") return <StatusBadge tone={tones[outcome.kind]} word={t(outcome.kind)} />;
  const { isCancelled, nodesRefused } = outcome;
  if (isCancelled) return <StatusBadge tone="off" word={t("cancelled")} />;
  return <StatusBadge tone={tones.accepted} word={nodesRefused > 0 ? t("partial", { count: nodesRefused }) : t("accepted")} />;
}
