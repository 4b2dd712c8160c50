// @vitest-environment jsdom
import { cleanup } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { StartCell } from "@/components/jobs/queue/queue-columns";
import { type RunTimes, runTimesOf, startRanges } from "@/components/jobs/queue/use-starts";
import { renderInApp } from "./render";

afterEach(cleanup);

const second = 1_000;
const minute = 60 * second;
const times: Record<string, RunTimes> = {
  quick: { shortMs: 10 * second, longMs: 30 * second },
  slow: { shortMs: 2 * minute, longMs: 6 * minute },
};
const timesOf = (id: string | undefined) => times[id ?? ""];
const running = (workflowId: string, ranMs: number) => ({ workflowId, startedMs: -ranMs });
const pending = (...ids: string[]) => ids.map((workflowId) => ({ workflowId }));

describe("when a job may start", () => {
  it("lies between what the run ahead of it took at its shortest and at its longest, less what it ran already", () => {
    expect(startRanges({ running: [running("slow", minute)], pending: pending("quick"), timesOf, nowMs: 0 })).toEqual([
      { fromMs: minute, toMs: 5 * minute },
    ]);
  });

  it("counts everything that waits ahead of it", () => {
    const ranges = startRanges({ running: [running("quick", 0)], pending: pending("slow", "quick", "quick"), timesOf, nowMs: 0 });
    expect(ranges).toEqual([
      { fromMs: 10 * second, toMs: 30 * second },
      { fromMs: 10 * second + 2 * minute, toMs: 30 * second + 6 * minute },
      { fromMs: 20 * second + 2 * minute, toMs: minute + 6 * minute },
    ]);
  });

  it("takes the place that is free first, of as many as run at once", () => {
    const now = [running("slow", 0), running("quick", 0)];
    expect(startRanges({ running: now, pending: pending("quick", "quick"), timesOf, nowMs: 0 })).toEqual([
      { fromMs: 10 * second, toMs: 30 * second },
      { fromMs: 20 * second, toMs: minute },
    ]);
  });

  it("has no end behind a workflow that nobody ran before, and is not known where it has no beginning either", () => {
    const queue = { timesOf, nowMs: 0 };
    expect(startRanges({ ...queue, running: [running("quick", 0)], pending: pending("new", "quick") })).toEqual([
      { fromMs: 10 * second, toMs: 30 * second },
      { fromMs: 10 * second },
    ]);
    expect(startRanges({ ...queue, running: [running("new", 0)], pending: pending("quick") })).toEqual([undefined]);
  });

  it("promises nothing of a run that is longer already than any before it", () => {
    expect(startRanges({ running: [running("quick", minute)], pending: pending("quick"), timesOf, nowMs: 0 })).toEqual([undefined]);
  });

  it("is not known where nothing runs that it could wait for", () => {
    expect(startRanges({ running: [], pending: pending("quick", "slow"), timesOf, nowMs: 0 })).toEqual([undefined, undefined]);
  });
});

describe("how long past runs took", () => {
  it("is all of them where they are few, and without the rare ones where they are many", () => {
    expect(runTimesOf([])).toBeUndefined();
    expect(runTimesOf([5])).toEqual({ shortMs: 5, longMs: 5 });
    expect(runTimesOf([9, 5, 7])).toEqual({ shortMs: 5, longMs: 9 });
    const many = [1, ...Array.from({ length: 18 }, (_, index) => 100 + index), 9_000];
    expect(runTimesOf(many)).toEqual({ shortMs: 100, longMs: 117 });
  });
});

describe("the words of it", () => {
  it.each([
    [{ fromMs: 4 * second, toMs: 27 * second }, "within 30 s"],
    [{ fromMs: 14 * second, toMs: 31 * second }, "in 10 s to 40 s"],
    [{ fromMs: 2 * minute + 9 * second, toMs: 6 * minute + second }, "in 2 min to 7 min"],
    [{ fromMs: 3 * minute, toMs: 3 * minute }, "in 3 min to 4 min"],
    [{ fromMs: 190 * minute, toMs: 400 * minute }, "in 3 h to 7 h"],
    [{ fromMs: 12 * second }, "in 10 s or later"],
    [{ fromMs: 4 * second }, "unknown"],
    [undefined, "unknown"],
  ])("of %j are %s", (range, words) => {
    expect(renderInApp(<StartCell range={range} />).container.textContent).toBe(words);
  });
});
