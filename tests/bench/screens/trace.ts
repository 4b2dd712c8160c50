// The processor time that the page's main thread took, task by task. Unlike any clock, it excludes other programs of the machine.
import { type CDPSession } from "@playwright/test";

type TraceEvent = { name: string; ph: string; cat: string; pid: number; tid: number; ts: number; tdur?: number; args?: { name?: string } };
const LONG_MS = 50;

/** Milliseconds of processor time on the main thread; `blockedMs` is the time of its tasks beyond 50 ms each. */
export type Busy = { allMs: number; longestMs: number; over50: number; blockedMs: number };

export async function traced(cdp: CDPSession, act: () => Promise<void>): Promise<Busy> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }) => {
    for (const event of value) if (isTraceEvent(event)) events.push(event);
  };
  cdp.on("Tracing.dataCollected", collect);
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories: ["toplevel", "__metadata"] } });
  await act();
  const complete = new Promise<void>((resolve) => cdp.once("Tracing.tracingComplete", () => resolve()));
  await cdp.send("Tracing.end");
  await complete;
  cdp.off("Tracing.dataCollected", collect);
  return busyOf(events);
}

function isTraceEvent(event: object): event is TraceEvent {
  return "name" in event && "ph" in event && "pid" in event && "tid" in event;
}

/** The busiest renderer is the page; the browser's own renderers are idle. */
function busyOf(events: readonly TraceEvent[]): Busy {
  const mains = events.filter(({ name, args }) => name === "thread_name" && args?.name === "CrRendererMain");
  const tasksOf = ({ pid, tid }: TraceEvent) =>
    events.filter((event) => event.ph === "X" && event.pid === pid && event.tid === tid && event.name.endsWith("RunTask"));
  const found = mains.map((main) => {
    const times = tasksOf(main).map(({ tdur = 0 }) => tdur / 1000);
    return {
      allMs: times.reduce((sum, ms) => sum + ms, 0),
      longestMs: Math.max(0, ...times),
      over50: times.filter((ms) => ms > LONG_MS).length,
      blockedMs: times.reduce((sum, ms) => sum + Math.max(0, ms - LONG_MS), 0),
    };
  });
  return found.sort((a, b) => b.allMs - a.allMs)[0] ?? { allMs: NaN, longestMs: NaN, over50: NaN, blockedMs: NaN };
}
