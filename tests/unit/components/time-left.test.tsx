// Expected durations of runs, the time left, and when waiting jobs may start.
import { screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toQueueList } from "@/components/jobs/job-row";
import { estimateStartTimes } from "@/components/jobs/queue/queue-columns";
import { JobProgress } from "@/components/run/submit/job-sections";
import { estimateTimeLeft, type ExpectedRun, getExpectedProgress, toSpan } from "@/lib/contract/jobs/expected-run";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { toExpectedRun } from "@/lib/server/job-index/run-times";
import { type Language } from "@/lib/shared/languages";
import { ok } from "@/lib/shared/result";
import { showQueue } from "./jobs/render-queue";
import { renderInApp } from "./render";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

describe("toExpectedRun", () => {
  it("returns undefined for fewer than two runs", () => {
    expect(toExpectedRun([])).toBeUndefined();
    expect(toExpectedRun([MINUTE_MS])).toBeUndefined();
  });

  it("uses the shortest and longest of two or three runs", () => {
    expect(toExpectedRun([80_000, 60_000, 70_000])).toEqual({ low_ms: 60_000, median_ms: 70_000, high_ms: 80_000, late_ms: 96_000 });
  });

  it("uses the middle half of four or more runs", () => {
    const runs = [40_000, 10_000, 50_000, 20_000, 30_000];
    expect(toExpectedRun(runs)).toEqual({ low_ms: 20_000, median_ms: 30_000, high_ms: 40_000, late_ms: 60_000 });
  });

  it("uses the 95th percentile as the late limit when there are 20 runs", () => {
    const runs = Array.from({ length: 20 }, (_, index) => 100_000 + index * 1_000);
    expect(toExpectedRun([...runs.slice(1), 900_000])?.late_ms).toBe(119_000 + (900_000 - 119_000) * 0.05);
  });

  it("ignores runs that were served from a cache", () => {
    const expectedRun = toExpectedRun([60_000, 62_000, 64_000]);
    expect(toExpectedRun([60_000, 40, 62_000, 25, 64_000, 30])).toEqual(expectedRun);
    expect(toExpectedRun([60_000, 40])).toBeUndefined();
    expect(toExpectedRun([60_000, 61_000, 240_000])).toMatchObject({ low_ms: 60_000, high_ms: 240_000 });
  });

  it("adds one second to the late limit when runs are short", () => {
    expect(toExpectedRun([20, 30])).toEqual({ low_ms: 20, median_ms: 25, high_ms: 30, late_ms: 1_030 });
  });
});

const typicalRun: ExpectedRun = { low_ms: 2 * MINUTE_MS, median_ms: 3 * MINUTE_MS, high_ms: 4 * MINUTE_MS, late_ms: 6 * MINUTE_MS };
const quickRun: ExpectedRun = { low_ms: 10 * SECOND_MS, median_ms: 20 * SECOND_MS, high_ms: 30 * SECOND_MS, late_ms: 40 * SECOND_MS };

it("counts down to zero and returns undefined when a run is late", () => {
  expect(estimateTimeLeft(typicalRun, MINUTE_MS)).toEqual({ fromMs: MINUTE_MS, toMs: 3 * MINUTE_MS });
  expect(estimateTimeLeft(typicalRun, 3 * MINUTE_MS)).toEqual({ fromMs: 0, toMs: MINUTE_MS });
  expect(estimateTimeLeft(typicalRun, 5 * MINUTE_MS)).toEqual({ fromMs: 0, toMs: MINUTE_MS });
  expect(estimateTimeLeft(typicalRun, 6 * MINUTE_MS)).toEqual({ fromMs: 0, toMs: 0 });
  expect(estimateTimeLeft(typicalRun, 6 * MINUTE_MS + 1)).toBeUndefined();
});

it("computes progress from the median, up to 95%", () => {
  expect([-1, 0, 90, 171, 1_000].map((seconds) => getExpectedProgress(typicalRun, seconds * SECOND_MS))).toEqual([0, 0, 0.5, 0.95, 0.95]);
});

it.each([
  [0, 4 * SECOND_MS, { from: 0, to: 10, unit: "seconds" }],
  [14 * SECOND_MS, 31 * SECOND_MS, { from: 10, to: 40, unit: "seconds" }],
  [30 * SECOND_MS, 30 * SECOND_MS, { from: 20, to: 30, unit: "seconds" }],
  [80 * SECOND_MS, 100 * SECOND_MS, { from: 1, to: 2, unit: "minutes" }],
  [2.1 * MINUTE_MS, 2.9 * MINUTE_MS, { from: 2, to: 3, unit: "minutes" }],
  [90 * MINUTE_MS, 3.5 * HOUR_MS, { from: 1, to: 4, unit: "hours" }],
])("rounds %i to %i ms outwards in one unit", (fromMs, toMs, span) => {
  expect(toSpan({ fromMs, toMs })).toEqual(span);
});

describe("startRanges", () => {
  const createRunning = (expected: ExpectedRun | undefined, ranMs: number) => ({ expected, startedMs: -ranMs });
  const getRanges = (runningJobs: ReturnType<typeof createRunning>[], ...pending: (ExpectedRun | undefined)[]) =>
    estimateStartTimes({ running: runningJobs, pending: pending.map((expected) => ({ expected })), nowMs: 0 });

  it("adds the time left of the running job and the jobs ahead", () => {
    expect(getRanges([createRunning(typicalRun, MINUTE_MS)], quickRun, quickRun)).toEqual([
      { fromMs: MINUTE_MS, toMs: 3 * MINUTE_MS },
      { fromMs: MINUTE_MS + 10 * SECOND_MS, toMs: 3 * MINUTE_MS + 30 * SECOND_MS },
    ]);
  });

  it("uses the first slot that becomes free", () => {
    expect(getRanges([createRunning(typicalRun, 0), createRunning(quickRun, 0)], quickRun, quickRun)).toEqual([
      { fromMs: 10 * SECOND_MS, toMs: 30 * SECOND_MS },
      { fromMs: 20 * SECOND_MS, toMs: MINUTE_MS },
    ]);
  });

  it("returns undefined without earlier runs or behind a late job", () => {
    expect(getRanges([createRunning(undefined, 0)], quickRun)).toEqual([undefined]);
    expect(estimateStartTimes({ running: [{ expected: quickRun }], pending: [{}], nowMs: 0 })).toEqual([undefined]);
    expect(getRanges([createRunning(quickRun, 0)], undefined, quickRun)).toEqual([
      { fromMs: 10 * SECOND_MS, toMs: 30 * SECOND_MS },
      undefined,
    ]);
    expect(getRanges([createRunning(quickRun, MINUTE_MS)], quickRun)).toEqual([undefined]);
    expect(getRanges([], quickRun)).toEqual([undefined]);
  });
});

describe("job screens", () => {
  // The same time as the clock of `renderInApp`.
  const NOW = Date.UTC(2026, 2, 1, 12);
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
    vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  });
  afterEach(() => vi.useRealTimers());
  const createRunningJob = (ranMs: number): JobListItem => ({
    id: "runs-1",
    status: "in_progress",
    progress: { value: 0.9, start_time: NOW - ranMs },
    expected_run: typicalRun,
  });

  it.each([
    [MINUTE_MS, "en", "1–3 min left", "33"],
    [3.5 * MINUTE_MS, "en", "Less than 30 s left", "95"],
    [7 * MINUTE_MS, "en", "Longer than usual", "95"],
    [MINUTE_MS, "zh-CN", "剩余 1–3 分钟", "33"],
    [3.5 * MINUTE_MS, "zh-CN", "剩余不到 30 秒", "95"],
  ] satisfies [number, Language, string, string][])("shows the time left after %i ms in %s", (ranMs, language, text, percent) => {
    renderInApp(<JobProgress job={toJobView(createRunningJob(ranMs))} />, language);
    expect(screen.getByText(text)).toBeDefined();
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe(percent);
  });

  it("shows progress by nodes when there are no earlier runs", () => {
    renderInApp(<JobProgress job={toJobView({ ...createRunningJob(MINUTE_MS), expected_run: undefined })} />);
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("90");
    expect(screen.queryByText(/left|usual/)).toBeNull();
  });

  it("shows the time left and expected starts in the queue", async () => {
    const waiting = ["wait-1", "wait-2", "wait-3"].map((id, at) => ({
      id,
      status: "pending",
      ...(at !== 1 && { expected_run: quickRun }),
    }));
    const view = { running: [createRunningJob(MINUTE_MS)], pending: waiting, source: "queue" as const, canStop: false };
    await showQueue(Promise.resolve(ok({ value: toQueueList(view), atMs: NOW })));
    const getText = (id: string) => document.querySelector(`tr[data-row="${id}"]`)?.textContent ?? "";
    expect(getText("runs-1")).toContain("33%1–3 min left");
    expect(getText("wait-1")).toContain("in 1–3 min");
    expect(getText("wait-2")).toContain("in 1–4 min");
    expect(getText("wait-3")).not.toMatch(/in \d|within/);
  });
});
