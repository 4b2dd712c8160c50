// Measures the processor time of the page's main thread per task. Unlike wall-clock time, it excludes other processes.
import { type CDPSession } from "@playwright/test";

type TraceEvent = { name: string; ph: string; cat: string; pid: number; tid: number; ts: number; tdur?: number; args?: { name?: string } };
const LONG_TASK_MS = 50;

/** Processor time of the main thread. `blockedMs`: the sum of each task's time beyond 50 ms. */
export type CpuTime = { totalMs: number; longestMs: number; longTasks: number; blockedMs: number };

export async function traceCpuTime(cdp: CDPSession, work: () => Promise<void>): Promise<CpuTime> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => {
    for (const event of value) if (isTraceEvent(event)) events.push(event);
  };
  cdp.on("Tracing.dataCollected", collect);
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "__metadata"] } });
  await work();
  const complete = new Promise<void>((resolve) => cdp.once("Tracing.tracingComplete", () => resolve()));
  await cdp.send("Tracing.end");
  await complete;
  cdp.off("Tracing.dataCollected", collect);
  return getCpuTime(events);
}

function isTraceEvent(event: object): event is TraceEvent {
  return "name" in event && "ph" in event && "pid" in event && "tid" in event;
}

/** Picks the busiest renderer, which is the page: the browser's own renderers are idle. */
function getCpuTime(events: readonly TraceEvent[]): CpuTime {
  const mainThreads = events.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  const getTasks = ({ pid, tid }: TraceEvent) =>
    events.filter((event) => event.ph === "X" && event.pid === pid && event.tid === tid && event.name.endsWith("RunTask"));
  const threadTimes = mainThreads.map((thread) => {
    const times = getTasks(thread).map(({ tdur = 0 }) => tdur / 1000);
    return {
      totalMs: times.reduce((sum, ms) => sum + ms, 0),
      longestMs: Math.max(0, ...times),
      longTasks: times.filter((ms) => ms > LONG_TASK_MS).length,
      blockedMs: times.reduce((sum, ms) => sum + Math.max(0, ms - LONG_TASK_MS), 0),
    };
  });
  return threadTimes.sort((a, b) => b.totalMs - a.totalMs)[0] ?? { totalMs: NaN, longestMs: NaN, longTasks: NaN, blockedMs: NaN };
}
