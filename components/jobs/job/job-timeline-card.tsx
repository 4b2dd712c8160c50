import { useTranslations } from "next-intl";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { Duration, useKnownNow } from "@/components/ui/time/duration";
import { type JobFacts } from "./job-facts";
import { type Bar, barsOf } from "./job-timeline";

/** The wait and every node as a bar, in the order in which they ran. Without times only the order is shown. */
export function JobTimeline({ facts: { job, timeline } }: { facts: JobFacts }) {
  const t = useTranslations("jobs.job.timeline");
  const nowMs = useKnownNow();
  const { createdAtMs: createdMs, startedAtMs: startedMs, endedAtMs: endedMs } = job;
  if (timeline.length === 0) return null;
  const wait = { startMs: startedMs === undefined ? undefined : createdMs, endMs: startedMs };
  const spans = [wait, ...timeline].map((span) => ({
    ...span,
    endMs: span.endMs ?? (job.terminal ? (endedMs ?? span.startMs) : undefined),
  }));
  // The job's own span is not drawn, but scales the bars, so that none appears longer than it ran.
  const whole = { startMs: startedMs, endMs: endedMs ?? (job.terminal ? startedMs : undefined) };
  const [waitBar, ...bars] = barsOf([...spans, whole], nowMs);
  return (
    <Card title={t("title")} bodyClassName="py-2.5">
      <ol className="flex flex-col">
        {waitBar && startedMs !== undefined && createdMs !== undefined ? (
          <Line name={t("queued")} bar={waitBar} fill="fill-wait" fromMs={createdMs} toMs={startedMs} />
        ) : null}
        {timeline.map((node, index) =>
          index >= MOST && node.state !== "failed" && node.state !== "stopped" && node.state !== "running" ? null : (
            <Line
              key={node.nodeId}
              name={t("node", { id: node.nodeId, name: node.name })}
              note={node.state === "done" || (node.state === "failed" && bars[index]) ? undefined : t(node.state)}
              isMuted={node.state === "unreached"}
              bar={bars[index]}
              fill={fills[node.state]}
              fromMs={node.startMs}
              toMs={spans[index + 1]?.endMs ?? nowMs}
            />
          ),
        )}
      </ol>
      {timeline.length > MOST ? <p className="pt-1 text-xs text-ink-3">{t("more", { count: timeline.length - MOST })}</p> : null}
    </Card>
  );
}

/** The graph's list holds all of them. */
const MOST = 60;
const fills = { done: "fill-ok", cached: "fill-off", running: "fill-run", stopped: "fill-off", failed: "fill-bad", unreached: "fill-off" };

type LineProps = { name: string; note?: string; isMuted?: boolean; bar?: Bar; fill: string; fromMs?: number; toMs?: number };

function Line({ name, note, isMuted = false, bar, fill, fromMs, toMs }: LineProps) {
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
        {note ?? (bar && fromMs !== undefined && toMs !== undefined ? <Duration fromMs={fromMs} toMs={toMs} /> : null)}
      </span>
    </li>
  );
}
