// Expected durations of runs, the time left, and when waiting jobs may start.
import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { toQueueList } from "@/components/jobs/job-row";
import { estimateStartTimes } from "@/components/jobs/queue/queue-columns";
import { JobProgress } from "@/components/run/submit/job-sections";
import { estimateTimeLeft, type ExpectedRun, toSpan } from "@/lib/contract/jobs/expected-run";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { toExpectedRun } from "@/lib/server/job-index/expected-runs";
import { showQueue } from "./jobs/render-queue";
import { renderInApp } from "./render";
import { stubScreenWidth } from "./render-screen";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

const similarRuns = Array.from({ length: 19 }, (_, index) => 101_000 + index * 1_000);

it.each([
  ["returns undefined for fewer than two runs", [MINUTE_MS], undefined],
  ["returns undefined when only one run was not cached", [60_000, 40], undefined],
  [
    "uses the shortest and longest of three runs",
    [80_000, 60_000, 70_000],
    { low_ms: 60_000, median_ms: 70_000, high_ms: 80_000, late_ms: 96_000 },
  ],
  [
    "uses the middle half of four or more runs",
    [40_000, 10_000, 50_000, 20_000, 30_000],
    { low_ms: 20_000, median_ms: 30_000, high_ms: 40_000, late_ms: 60_000 },
  ],
  [
    "uses the 95th percentile as the late limit when there are 20 runs",
    [...similarRuns, 900_000],
    expect.objectContaining({ late_ms: 119_000 + (900_000 - 119_000) * 0.05 }),
  ],
  ["ignores runs that were served from a cache", [60_000, 40, 62_000, 25, 64_000, 30], toExpectedRun([60_000, 62_000, 64_000])],
  ["keeps slow runs", [60_000, 61_000, 240_000], expect.objectContaining({ low_ms: 60_000, high_ms: 240_000 })],
  ["adds one second to the late limit when runs are short", [20, 30], { low_ms: 20, median_ms: 25, high_ms: 30, late_ms: 1_030 }],
])("%s", (_, runsMs, expectedRun) => {
  expect(toExpectedRun(runsMs)).toEqual(expectedRun);
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
    stubScreenWidth(true);
  });
  const createRunningJob = (ranMs: number): JobListItem => ({
    id: "runs-1",
    status: "in_progress",
    progress: { value: 0.9, start_time: NOW - ranMs },
    expected_run: typicalRun,
  });

  it.each([
    [0, "2–4 min left", "0"],
    [MINUTE_MS, "1–3 min left", "33"],
    [3.5 * MINUTE_MS, "Less than 30 s left", "95"],
    [7 * MINUTE_MS, "Longer than usual", "95"],
  ])("shows the time left after %i ms", (ranMs, text, percent) => {
    renderInApp(<JobProgress job={toJobView(createRunningJob(ranMs))} />);
    expect(screen.getByText(text)).toBeDefined();
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe(percent);
  });

  it("shows progress by nodes when there are no earlier runs", () => {
    renderInApp(<JobProgress job={toJobView({ ...createRunningJob(MINUTE_MS), expected_run: undefined })} />);
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("90");
    expect(screen.queryByText(/left|usual/)).toBeNull();
  });

  it("shows the time left and expected starts in the queue", async () => {
    const pending = [
      { id: "wait-1", status: "pending", expected_run: quickRun },
      { id: "wait-2", status: "pending" },
      { id: "wait-3", status: "pending", expected_run: quickRun },
    ];
    await showQueue(toQueueList({ running: [createRunningJob(MINUTE_MS)], pending, source: "queue", canStop: false }));
    const getText = (id: string) => document.querySelector(`tr[data-row="${id}"]`)?.textContent ?? "";
    expect(getText("runs-1")).toContain("33%1–3 min left");
    expect(getText("wait-1")).toContain("in 1–3 min");
    expect(getText("wait-2")).toContain("in 1–4 min");
    expect(getText("wait-3")).not.toMatch(/in \d|within/);
  });
});
