import dynamic from "next/dynamic";
import { useTranslations } from "next-intl";
import { useEffect, useMemo, useRef } from "react";
import { FailureMessage } from "@/components/frame/failure/failure-message";
import { getRunningMarks, type NodeMark, type NodeMarks, withTitles } from "@/components/graph/node-search";
import { toStoredJobText } from "@/components/graph/save-workflow";
import { type NodeRequest } from "@/components/graph/workflow-graph";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { useIsNearViewport } from "@/components/ui/hooks/use-media";
import { Skeleton } from "@/components/ui/skeleton";
import { Duration, useClampedNow } from "@/components/ui/time";
import { useReadOnce } from "@/lib/browser/live/use-live";
import { withQuery } from "@/lib/browser/urls";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type JobDetail } from "@/lib/contract/schemas/job";
import { unwrapWorkflow } from "@/lib/contract/workflow/read-workflow";
import { getDrawing } from "@/lib/contract/workflow/workflow-name";
import { type Bar, getClassDisplayName, type JobFacts, toBars } from "./job-facts";

const WorkflowGraph = dynamic(() => import("@/components/graph/workflow-graph").then((module) => module.WorkflowGraph), {
  ssr: false,
  loading: () => <GraphSkeleton />,
});
const GraphJson = dynamic(() => import("@/components/graph/graph-json").then((module) => module.GraphJson), { ssr: false });

function parseSubmittedWorkflow({ workflow, class_names: names = {} }: JobDetail) {
  const { graph, extraData } = unwrapWorkflow(workflow) ?? {};
  return {
    json: workflow,
    graph: graph && withTitles(graph, (className) => getClassDisplayName(names, className)),
    drawing: getDrawing(extraData),
  };
}

/** `canSave`: whether the workflow can be saved to the service. */
type JobGraphProps = { facts: JobFacts; connection?: string; nodeRequest?: NodeRequest; canSave: boolean };

/** The workflow of a job. The graph and its code load when the card scrolls into view. */
export function JobGraph({ facts, connection, nodeRequest, canSave }: JobGraphProps) {
  const t = useTranslations("jobs.job.graph");
  const cardRef = useRef<HTMLDivElement>(null);
  const isNearViewport = useIsNearViewport(cardRef) || nodeRequest !== undefined;
  const id = facts.job.id;
  // A separate cache key, since the page parses the same details differently.
  const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const submittedWorkflow = useReadOnce(isNearViewport && facts.workflowCounts ? `${path}#workflow` : undefined, parseSubmittedWorkflow);
  const graph = submittedWorkflow.value?.graph;
  const marks = useMemo(() => getNodeMarks(facts, graph ?? {}), [facts, graph]);
  useEffect(() => {
    if (nodeRequest) cardRef.current?.scrollIntoView({ block: "nearest" });
  }, [nodeRequest]);
  if (!facts.workflowCounts) {
    return (
      <Card title={t("title")}>
        <p className="text-ink-3">{t("none")}</p>
      </Card>
    );
  }
  const fileName = `${facts.workflow.replace(/[^\p{L}\p{N} ._-]/gu, "_")}.json`;
  return (
    <div ref={cardRef} className="min-w-0 scroll-mt-16">
      {graph ? (
        <WorkflowGraph
          graph={graph}
          drawing={submittedWorkflow.value?.drawing}
          marks={marks}
          json={submittedWorkflow.value?.json}
          fileName={fileName}
          nodeRequest={nodeRequest}
          save={canSave ? { title: facts.workflow, connection, getText: () => toStoredJobText(submittedWorkflow.value?.json) } : undefined}
        />
      ) : submittedWorkflow.value ? (
        <Card title={t("title")} bodyClassName="p-0">
          <p className="border-b border-line px-3.5 py-2.5 text-ink-3">{t("undrawable")}</p>
          <GraphJson json={submittedWorkflow.value.json} fileName={fileName} />
        </Card>
      ) : submittedWorkflow.failure ? (
        <FailureMessage failure={submittedWorkflow.failure} onRetry={() => void submittedWorkflow.refresh()} />
      ) : (
        <GraphSkeleton />
      )}
    </div>
  );
}

function GraphSkeleton() {
  const t = useTranslations("jobs.job.graph");
  return (
    <Card title={t("title")} bodyClassName="p-0">
      <Skeleton className="h-[405px] rounded-none lg:h-[605px]" />
    </Card>
  );
}

/** Marks each node in the graph. Nodes without a state are unmarked, or pending if the service reports progress. */
export function getNodeMarks({ job, timeline, failure, outputs }: JobFacts, graph: Graph): NodeMarks {
  const progress = job.state === "in_progress" ? job.progress : undefined;
  const views = outputs.map(({ view }) => view);
  const marks = progress ? getRunningMarks(graph, progress.currentNode ?? "", views) : new Map<string, NodeMark>();
  for (const { nodeId, state, startMs, endMs } of timeline) {
    marks.set(nodeId, {
      state,
      ...(startMs !== undefined && { fromMs: startMs }),
      ...(endMs !== undefined && { toMs: endMs }),
      ...(state === "failed" && failure && { problems: [[failure.type, failure.message].filter(Boolean).join(": ")] }),
    });
  }
  for (const { nodeId, errors } of failure?.refusedNodes ?? []) {
    marks.set(nodeId, { state: "refused", problems: errors.map(({ message, details }) => [message, details].filter(Boolean).join(": ")) });
  }
  return marks;
}

/** Shows the wait and each node as a bar, in execution order. Without times, shows only the order. */
export function JobTimeline({ facts: { job, timeline } }: { facts: JobFacts }) {
  const t = useTranslations("jobs.job.timeline");
  const nowMs = useClampedNow();
  const { createdAtMs, startedAtMs, endedAtMs } = job;
  if (timeline.length === 0) return null;
  const waitSpan = { startMs: startedAtMs === undefined ? undefined : createdAtMs, endMs: startedAtMs };
  const spans = [waitSpan, ...timeline].map((span) => ({
    ...span,
    endMs: span.endMs ?? (job.terminal ? (endedAtMs ?? span.startMs) : undefined),
  }));
  // The job's own span is not drawn, but determines the scale.
  const jobSpan = { startMs: startedAtMs, endMs: endedAtMs ?? (job.terminal ? startedAtMs : undefined) };
  const [waitBar, ...bars] = toBars([...spans, jobSpan], nowMs);
  return (
    <Card title={t("title")} bodyClassName="py-2.5">
      <ol className="flex flex-col">
        {waitBar && startedAtMs !== undefined && createdAtMs !== undefined ? (
          <TimelineRow name={t("queued")} bar={waitBar} fill="fill-wait" fromMs={createdAtMs} toMs={startedAtMs} />
        ) : null}
        {timeline.map((node, index) =>
          index >= MAX_TIMELINE_NODES && node.state !== "failed" && node.state !== "stopped" && node.state !== "running" ? null : (
            <TimelineRow
              key={node.nodeId}
              name={t("node", { id: node.nodeId, name: node.name })}
              caption={node.state === "done" || (node.state === "failed" && bars[index]) ? undefined : t(node.state)}
              isMuted={node.state === "unreached"}
              bar={bars[index]}
              fill={stateFills[node.state]}
              fromMs={node.startMs}
              toMs={spans[index + 1]?.endMs ?? nowMs}
            />
          ),
        )}
      </ol>
      {timeline.length > MAX_TIMELINE_NODES ? (
        <p className="pt-1 text-xs text-ink-3">{t("more", { count: timeline.length - MAX_TIMELINE_NODES })}</p>
      ) : null}
    </Card>
  );
}

/** The graph shows the other nodes. */
const MAX_TIMELINE_NODES = 60;
const stateFills = {
  done: "fill-ok",
  cached: "fill-off",
  running: "fill-run",
  stopped: "fill-off",
  failed: "fill-bad",
  unreached: "fill-off",
};

type TimelineRowProps = { name: string; caption?: string; isMuted?: boolean; bar?: Bar; fill: string; fromMs?: number; toMs?: number };

function TimelineRow({ name, caption, isMuted = false, bar, fill, fromMs, toMs }: TimelineRowProps) {
  return (
    <li className="grid grid-cols-[128px_minmax(0,1fr)_68px] items-center gap-2 py-[3px] text-xs">
      <span title={name} className={cn("truncate", isMuted ? "text-ink-3" : "text-ink-2")}>
        {name}
      </span>
      {bar ? (
        <svg viewBox="0 0 100 8" preserveAspectRatio="none" className="h-2 w-full" aria-hidden="true">
          <rect x={Math.min(bar.from, 98.5)} width={Math.max(1.5, bar.to - bar.from)} height="8" rx="1" className={fill} />
        </svg>
      ) : (
        <span />
      )}
      <span className="text-right whitespace-nowrap text-ink-3">
        {caption ?? (bar && fromMs !== undefined && toMs !== undefined ? <Duration fromMs={fromMs} toMs={toMs} /> : null)}
      </span>
    </li>
  );
}
