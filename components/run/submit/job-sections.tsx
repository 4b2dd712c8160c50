import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useId, useState } from "react";
import { useConnection } from "@/components/frame/connection/connection-context";
import { useRunProgress } from "@/components/frame/job-status";
import { Button } from "@/components/ui/controls/button";
import { Picture } from "@/components/ui/pictures/picture";
import { ProgressBar } from "@/components/ui/skeleton";
import { createLivePreviewUrl } from "@/lib/browser/urls";
import { getOwn } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { getNodeName } from "@/lib/contract/workflow/graph";
import { type StartedJob } from "./use-started-job";

const OutputList = dynamic(() => import("@/components/viewer/output-list").then((module) => module.OutputList), { ssr: false });

const MAX_REASON_LENGTH = 500;

/** Shows the job's progress as reported by the service. */
export function JobProgress({
  job: { id, state, progress, expected, startedAtMs, outputs },
  sentGraph,
}: {
  job: StartedJob;
  sentGraph?: Graph;
}) {
  const t = useTranslations("run.answer.job");
  const connection = useConnection()?.id;
  const { share, remaining } = useRunProgress({ value: progress?.value, expected, startedMs: startedAtMs });
  const { nodesDone = 0, nodesTotal, currentNode, step, steps, previewVersion } = progress ?? {};
  const runningNode = currentNode === undefined ? undefined : getOwn(sentGraph ?? {}, currentNode);
  const nodeName = runningNode ? getNodeName(runningNode) : currentNode;
  if (state !== "in_progress" || (!progress && share === undefined)) return null;
  return (
    <div className="flex flex-col gap-1.5 px-3.5 pb-2.5 text-sm" aria-live="off">
      {share === undefined ? null : <ProgressBar value={share} label={t("progress")} className="h-1.5 w-full" />}
      <p className="flex flex-wrap gap-x-3 text-ink-2 tabular-nums">
        {share === undefined ? null : <span>{t("percent", { value: Math.round(share * 100) })}</span>}
        {remaining ? <span>{remaining}</span> : null}
        {nodesTotal === undefined ? null : <span>{t("nodes", { done: nodesDone, total: nodesTotal })}</span>}
        {nodeName === undefined ? null : (
          <span>
            {step !== undefined && steps !== undefined && steps > 1
              ? t("nodeStep", { node: nodeName, step, steps })
              : t("node", { node: nodeName })}
          </span>
        )}
      </p>
      {previewVersion === undefined ? null : (
        <Picture
          src={createLivePreviewUrl({ connection, jobId: id, version: previewVersion })}
          alt={t("preview")}
          width={outputs ? 128 : 256}
          height={outputs ? 128 : 256}
          fit="contain"
          eager
        />
      )}
    </div>
  );
}

type JobResultProps = { outputs: NonNullable<StartedJob["outputs"]>; sentGraph?: Graph; connection?: string };

/** The job's outputs. One button shows a picture in full, another hides the outputs. */
export function JobResult({ outputs, sentGraph, connection }: JobResultProps) {
  const t = useTranslations("run.answer.job");
  const [isShown, setShown] = useState(true);
  const id = useId();
  if (outputs.length === 0) return <p className="px-3.5 pb-2.5 text-ink-2">{t("noResult")}</p>;
  const namedOutputs = outputs.map((view) => {
    const node = getOwn(sentGraph ?? {}, view.nodeId);
    return { view, node: node ? getNodeName(node) : view.nodeId };
  });
  return (
    <div className="flex flex-col rounded-b-lg border-t border-line bg-surface">
      <Button
        tone="quiet"
        size="small"
        className="m-1.5 self-start"
        aria-expanded={isShown}
        aria-controls={id}
        onClick={() => setShown(!isShown)}
      >
        {t(isShown ? "hideResult" : "showResult")}
      </Button>
      <div
        id={id}
        role="region"
        aria-label={t("result")}
        tabIndex={isShown ? 0 : undefined}
        hidden={!isShown}
        className="max-h-[min(440px,calc(38*var(--dvh)+48px))] overflow-y-auto px-3.5 pb-3 [&:not([hidden])]:flex [&:not([hidden])]:flex-col [&:not([hidden])]:gap-3"
      >
        {isShown ? <OutputList outputs={namedOutputs} connection={connection} isSmall /> : null}
      </div>
    </div>
  );
}

/** Shows the failed node and the reason. The job's page has the details. */
export function JobFailure({
  error: { nodeId, nodeType, type, message },
  sentGraph,
}: {
  error: NonNullable<StartedJob["error"]>;
  sentGraph?: Graph;
}) {
  const t = useTranslations("run.answer");
  const node = nodeId === undefined ? undefined : getOwn(sentGraph ?? {}, nodeId);
  // Another workflow may have been opened since, with a different node of this id.
  const title = node && node.class_type === nodeType ? getNodeName(node) : (nodeType ?? nodeId);
  const reason = [type, message.trim()].filter(Boolean).join(": ");
  return (
    <>
      <p className="font-semibold">
        {title === undefined ? t("standing.failed") : t("failedIn", { node: title, id: nodeId === undefined ? "" : `#${nodeId}` })}
      </p>
      {reason ? <p className="line-clamp-3 font-mono text-sm break-words">{reason.slice(0, MAX_REASON_LENGTH)}</p> : null}
    </>
  );
}
