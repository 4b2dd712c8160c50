// @vitest-environment jsdom
// Guards the speed of a long list without measuring time: how many rows are made in a frame, and when they wait.
import { act, cleanup } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSelection } from "@/components/data-table/selection/selection";
import { usualChoice } from "@/components/jobs/columns/column-choice";
import { type JobRow } from "@/components/jobs/job-row";
import { ChosenTable } from "@/components/jobs/list/chosen-table";
import { readList } from "@/components/jobs/list/list-address";
import { createListState } from "@/components/jobs/list/use-job-list";
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
let msOfWork = 9;
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
  msOfWork = 9;
  let workedMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (workedMs += msOfWork));
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
    />,
  );
}
const drawn = () => [...document.querySelectorAll<HTMLElement>("tr[data-row]")].map((row) => row.dataset.row);
const wordsAt = (place: number) => [...document.querySelectorAll("tbody")][Math.floor(place / 10)]?.textContent;

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

describe("rows are whole as soon as they are seen", () => {
  const wholeWhile = (rowsAFrame: number, gapMs: number) => {
    msOfWork = 0;
    show();
    const seen = Math.floor(window.innerHeight / ROW_PX);
    for (let at = 0; at < 20; at += 1) {
      scrollTo(at * rowsAFrame * ROW_PX);
      frame(gapMs);
      const first = at * rowsAFrame;
      expect(drawn()).toEqual(expect.arrayContaining(rows.slice(first, first + seen).map(({ id }) => id)));
    }
  };

  it("where frames come in time, however fast the list is", () => {
    wholeWhile(6, 17);
  });

  it("where the list is slow, however late frames come", () => {
    wholeWhile(1, 60);
  });
});
