// @vitest-environment jsdom
// What guards the speed of a long list without a clock: how much a row is, how many come in a frame, and when they wait.
import { act, cleanup } from "@testing-library/react";
import { AppRouterContext } from "next/dist/shared/lib/app-router-context.shared-runtime";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createFlight } from "@/components/data-table/flight";
import { createSelection } from "@/components/data-table/selection-store";
import { usualChoice } from "@/components/jobs/columns/column-choice";
import { type JobRow } from "@/components/jobs/job-row";
import { readList } from "@/components/jobs/list/list-address";
import { createListState } from "@/components/jobs/list/list-state";
import { ChosenTable } from "@/components/jobs/list/chosen-table";
import { plainRouter } from "./plain-router";
import { renderInApp } from "./render";

const ROW_PX = 46;
const rows: JobRow[] = Array.from({ length: 400 }, (_, at) => ({
  id: `job-${String(at).padStart(4, "0")}`,
  word: "completed",
  state: "completed",
  workflow: "Portraits",
  createdMs: 1_767_225_600_000,
  startedMs: 1_767_225_600_000,
  endedMs: 1_767_225_601_000,
  outputs: 1,
  preview: { filename: "a.png", subfolder: "", type: "output" },
}));

let frames: ((atMs: number) => void)[] = [];
let nowMs = 0;
let scrolledPx = 0;
/** One frame, `gapMs` after the one before it. */
function frame(gapMs: number): void {
  nowMs += gapMs;
  act(() => frames.splice(0).forEach((act) => act(nowMs)));
}
function scrollTo(px: number): void {
  scrolledPx = px;
  window.dispatchEvent(new Event("scroll"));
}

beforeEach(() => {
  [frames, nowMs, scrolledPx] = [[], 1_000, 0];
  vi.stubGlobal("requestAnimationFrame", (act: (atMs: number) => void) => frames.push(act));
  vi.stubGlobal("matchMedia", () => ({ matches: true, addEventListener: () => undefined, removeEventListener: () => undefined }));
  // A slow machine: a row takes longer than a frame's share.
  let workedMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (workedMs += 9));
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
    const bodies = [...document.querySelectorAll("tbody")];
    const at = bodies.findIndex((body) => body === this);
    return new DOMRect(0, Math.max(0, at) * ROW_PX * 10 - scrolledPx, 1440, ROW_PX * 10);
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

function show(): void {
  const opened = { subscribe: () => () => undefined, get: () => undefined, has: () => false, open: () => false, close: () => undefined };
  renderInApp(
    <AppRouterContext value={plainRouter()}>
      <ChosenTable
        caption="Jobs"
        rows={rows}
        state={createListState("jobs", readList("jobs", new URLSearchParams()).query, {})}
        connection="c1"
        linked={undefined}
        selection={createSelection()}
        choice={usualChoice}
        onChoose={() => undefined}
        opened={{ ...opened, settle: () => undefined }}
      />
    </AppRouterContext>,
  );
}
const drawn = () => [...document.querySelectorAll<HTMLElement>("tr[data-row]")].map((row) => row.dataset.row);
const wordsAt = (place: number) => [...document.querySelectorAll("tbody")][Math.floor(place / 10)]?.textContent;

describe("a row", () => {
  it("is few elements: what it holds and a cell around it", () => {
    show();
    expect(document.querySelector("tr[data-row]")?.querySelectorAll("*").length).toBeLessThanOrEqual(18);
  });
});

describe("a slow machine", () => {
  it("makes one row in a frame, and lets none wait where somebody looks", () => {
    show();
    scrollTo(200 * ROW_PX);
    const counts: number[] = [];
    for (let at = 0; at < 17; at += 1) {
      const before = new Set(drawn());
      frame(100);
      counts.push(drawn().filter((id) => !before.has(id)).length);
    }
    expect(Math.max(...counts)).toBe(1);
    expect(drawn()).toEqual(expect.arrayContaining(["job-0200", "job-0216"]));
  });

  it("shows the words of what flies past, and makes it whole once it slows down", () => {
    show();
    for (let at = 1; at <= 10; at += 1) {
      scrollTo(150 * ROW_PX + at * 3 * ROW_PX);
      frame(30);
    }
    const flown = drawn().filter((id) => id !== undefined && id >= "job-0150").length;
    expect(flown).toBeLessThanOrEqual(3);
    expect(wordsAt(180)).toContain("job-0180");
    for (let at = 0; at < 40; at += 1) frame(40);
    expect(drawn()).toEqual(expect.arrayContaining(["job-0180", "job-0196"]));
  });
});

describe("rows wait", () => {
  const gap = (flight: ReturnType<typeof createFlight>, places: readonly number[], gapMs: number) =>
    places.map((place, at) => {
      const isOn = flight.isOn(5_000 + at * gapMs, place);
      if (!isOn) flight.made();
      return isOn;
    });
  const steps = (by: number) => Array.from({ length: 8 }, (_, at) => at * by);

  it("nowhere where frames come in time, however fast the list is", () => {
    expect(gap(createFlight(), steps(10), 17)).toEqual(Array(8).fill(false));
  });

  it("nowhere where the list is slow, however late frames come", () => {
    expect(gap(createFlight(), steps(1), 60)).toEqual(Array(8).fill(false));
  });

  it("from the first frame that they made late to the end of the flight", () => {
    const flight = createFlight();
    expect(gap(flight, steps(4), 40)).toEqual([false, ...Array(7).fill(true)]);
    expect([5_330, 5_390, 5_460].map((atMs) => flight.isOn(atMs, 28))).toEqual([true, true, false]);
  });
});
