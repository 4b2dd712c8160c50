"use client";

import { useTranslations } from "next-intl";
import { CopyButton } from "@/components/ui/copy-button";
import { Duration } from "@/components/ui/duration";
import { ToneIcon } from "@/components/ui/tone-icon";
import { Unfold } from "@/components/ui/unfold";
import { type JobFacts, type JobFailure } from "./job-facts";

/** What failed, in which node, after how long; then what the service knows of it, folded away. */
export function JobError({ failure, facts: { job, timeline } }: { failure: JobFailure; facts: JobFacts }) {
  const t = useTranslations("jobs.job.error");
  const { startedAtMs, endedAtMs } = job;
  const nodesDone = timeline.filter(({ state }) => state === "done" || state === "cached").length;
  const traceback = failure.traceback.join("").trim();
  const node = failure.node ?? failure.nodeId;
  const title = failure.refused ? t("refused") : node ? t("inNode", { node, id: failure.nodeId ? `#${failure.nodeId}` : "" }) : t("title");
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
              {t("after")} <Duration fromMs={startedAtMs} toMs={endedAtMs} withTenths />
              {timeline.length > 1 ? `, ${t("nodes", { done: nodesDone, total: timeline.length })}` : null}
            </span>
          ) : null}
        </p>
        {failure.refused ? <RefusedNodes nodes={failure.refused} /> : <Said failure={failure} />}
        <div className="flex flex-wrap items-start gap-2">
          {traceback ? <Unfold title={t("traceback")}>{traceback}</Unfold> : null}
          {failure.inputs ? <Unfold title={t("inputs")}>{failure.inputs}</Unfold> : null}
          <CopyButton text={reportOf(job.id, failure, traceback)} label={t("copy")} className="size-[30px]" />
        </div>
      </div>
    </section>
  );
}

function Said({ failure }: { failure: JobFailure }) {
  const t = useTranslations("jobs.job.error");
  const said = [failure.type, failure.message].filter(Boolean).join(": ");
  return <p className="font-mono text-sm break-words whitespace-pre-wrap">{said || t("silent")}</p>;
}

function RefusedNodes({ nodes }: { nodes: NonNullable<JobFailure["refused"]> }) {
  return (
    <ul className="flex flex-col gap-1.5">
      {nodes.map(({ nodeId, node, errors }) => (
        <li key={nodeId}>
          <b className="font-semibold">{node ?? nodeId}</b> <span className="text-ink-2">#{nodeId}</span>
          <ul className="list-inside list-disc">
            {errors.map((error, index) => (
              <li key={index} className="break-words">
                {[error.message, error.details].filter(Boolean).join(": ")}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

function reportOf(jobId: string, failure: JobFailure, traceback: string): string {
  return [jobId, `${failure.node ?? ""} #${failure.nodeId ?? ""}`, `${failure.type}: ${failure.message}`, traceback, failure.inputs]
    .filter(Boolean)
    .join("\n\n");
}
