// Expected durations of runs, the time left, and when waiting jobs may start.
import { screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { toQueueList } from "@/components/jobs/job-row";
import { startRanges } from "@/components/jobs/queue/queue-columns";
import { JobProgress } from "@/components/run/submit/job-parts";
import { estimateTimeLeft, type ExpectedRun, getExpectedShare, toSpan } from "@/lib/contract/jobs/expected-run";
import { type JobListItem } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { toExpectedRun } from "@/lib/server/job-index/run-times";
import { type Language } from "@/lib/shared/languages";
import { ok } from "@/lib/shared/result";
import { show } from "./jobs/shown-queue";
import { renderInApp } from "./render";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

describe("toExpectedRun", () => {
  it("needs two runs", () => {
    expect(toExpectedRun([])).toBeUndefined();
    expect(toExpectedRun([minute])).toBeUndefined();
  });

  it("ranges from the shortest to the longest of two or three runs", () => {
    expect(toExpectedRun([80_000, 60_000, 70_000])).toEqual({ low_ms: 60_000, median_ms: 70_000, high_ms: 80_000, late_ms: 96_000 });
  });

  it("ranges over the middle half of four or more runs", () => {
    const runs = [40_000, 10_000, 50_000, 20_000, 30_000];
    expect(toExpectedRun(runs)).toEqual({ low_ms: 20_000, median_ms: 30_000, high_ms: 40_000, late_ms: 60_000 });
  });

  it("uses the 95th percentile of twenty runs as the late limit", () => {
    const runs = Array.from({ length: 20 }, (_, index) => 100_000 + index * 1_000);
    expect(toExpectedRun([...runs.slice(1), 900_000])?.late_ms).toBe(119_000 + (900_000 - 119_000) * 0.05);
  });

  it("ignores runs that took their results from a cache", () => {
    const full = toExpectedRun([60_000, 62_000, 64_000]);
    expect(toExpectedRun([60_000, 40, 62_000, 25, 64_000, 30])).toEqual(full);
    expect(toExpectedRun([60_000, 40])).toBeUndefined();
    expect(toExpectedRun([60_000, 61_000, 240_000])).toMatchObject({ low_ms: 60_000, high_ms: 240_000 });
  });

  it("allows short runs a second before they are late", () => {
    expect(toExpectedRun([20, 30])).toEqual({ low_ms: 20, median_ms: 25, high_ms: 30, late_ms: 1_030 });
  });
});

const typical: ExpectedRun = { low_ms: 2 * minute, median_ms: 3 * minute, high_ms: 4 * minute, late_ms: 6 * minute };
const quick: ExpectedRun = { low_ms: 10 * second, median_ms: 20 * second, high_ms: 30 * second, late_ms: 40 * second };

it("counts the time left down to zero and stops when a run is late", () => {
  expect(estimateTimeLeft(typical, minute)).toEqual({ fromMs: minute, toMs: 3 * minute });
  expect(estimateTimeLeft(typical, 3 * minute)).toEqual({ fromMs: 0, toMs: minute });
  expect(estimateTimeLeft(typical, 5 * minute)).toEqual({ fromMs: 0, toMs: minute });
  expect(estimateTimeLeft(typical, 6 * minute)).toEqual({ fromMs: 0, toMs: 0 });
  expect(estimateTimeLeft(typical, 6 * minute + 1)).toBeUndefined();
});

it("shows progress by the median, at most 95 %", () => {
  expect([-1, 0, 90, 171, 1_000].map((seconds) => getExpectedShare(typical, seconds * second))).toEqual([0, 0, 0.5, 0.95, 0.95]);
});

it.each([
  [0, 4 * second, { from: 0, to: 10, unit: "seconds" }],
  [14 * second, 31 * second, { from: 10, to: 40, unit: "seconds" }],
  [30 * second, 30 * second, { from: 20, to: 30, unit: "seconds" }],
  [80 * second, 100 * second, { from: 1, to: 2, unit: "minutes" }],
  [2.1 * minute, 2.9 * minute, { from: 2, to: 3, unit: "minutes" }],
  [90 * minute, 3.5 * hour, { from: 1, to: 4, unit: "hours" }],
])("rounds %i to %i ms outwards to one unit", (fromMs, toMs, span) => {
  expect(toSpan({ fromMs, toMs })).toEqual(span);
});

describe("startRanges", () => {
  const running = (expected: ExpectedRun | undefined, ranMs: number) => ({ expected, startedMs: -ranMs });
  const ranges = (now: ReturnType<typeof running>[], ...pending: (ExpectedRun | undefined)[]) =>
    startRanges({ running: now, pending: pending.map((expected) => ({ expected })), nowMs: 0 });

  it("sums the rest of the running job and the jobs ahead", () => {
    expect(ranges([running(typical, minute)], quick, quick)).toEqual([
      { fromMs: minute, toMs: 3 * minute },
      { fromMs: minute + 10 * second, toMs: 3 * minute + 30 * second },
    ]);
  });

  it("uses the first free slot of the current number", () => {
    expect(ranges([running(typical, 0), running(quick, 0)], quick, quick)).toEqual([
      { fromMs: 10 * second, toMs: 30 * second },
      { fromMs: 20 * second, toMs: minute },
    ]);
  });

  it("is unknown without earlier runs, behind late jobs or with nothing running", () => {
    expect(ranges([running(undefined, 0)], quick)).toEqual([undefined]);
    expect(startRanges({ running: [{ expected: quick }], pending: [{}], nowMs: 0 })).toEqual([undefined]);
    expect(ranges([running(quick, 0)], undefined, quick)).toEqual([{ fromMs: 10 * second, toMs: 30 * second }, undefined]);
    expect(ranges([running(quick, minute)], quick)).toEqual([undefined]);
    expect(ranges([], quick)).toEqual([undefined]);
  });
});

describe("on screens", () => {
  // The clock of `renderInApp`.
  const NOW = Date.UTC(2026, 2, 1, 12);
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW, toFake: ["Date"] });
    vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  });
  afterEach(() => vi.useRealTimers());
  const running = (ranMs: number): JobListItem => ({
    id: "runs-1",
    status: "in_progress",
    progress: { value: 0.9, start_time: NOW - ranMs },
    expected_run: typical,
  });

  it.each([
    [minute, "en", "1–3 min left", "33"],
    [3.5 * minute, "en", "Less than 30 s left", "95"],
    [7 * minute, "en", "Longer than usual", "95"],
    [minute, "zh-CN", "剩余 1–3 分钟", "33"],
    [3.5 * minute, "zh-CN", "剩余不到 30 秒", "95"],
  ] satisfies [number, Language, string, string][])("shows the time left after %i ms in %s", (ranMs, language, text, percent) => {
    renderInApp(<JobProgress job={toJobView(running(ranMs))} />, language);
    expect(screen.getByText(text)).toBeDefined();
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe(percent);
  });

  it("shows progress by nodes, and no time left, without earlier runs", () => {
    renderInApp(<JobProgress job={toJobView({ ...running(minute), expected_run: undefined })} />);
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("90");
    expect(screen.queryByText(/left|usual/)).toBeNull();
  });

  it("shows time left and starts in the queue, if known", async () => {
    const waiting = ["wait-1", "wait-2", "wait-3"].map((id, at) => ({ id, status: "pending", ...(at !== 1 && { expected_run: quick }) }));
    const view = { running: [running(minute)], pending: waiting, source: "queue" as const, canStop: false };
    await show(Promise.resolve(ok({ value: toQueueList(view), atMs: NOW })));
    const getText = (id: string) => document.querySelector(`tr[data-row="${id}"]`)?.textContent ?? "";
    expect(getText("runs-1")).toContain("33%1–3 min left");
    expect(getText("wait-1")).toContain("in 1–3 min");
    expect(getText("wait-2")).toContain("in 1–4 min");
    expect(getText("wait-3")).not.toMatch(/in \d|within/);
  });
});
