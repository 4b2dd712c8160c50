import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { pageRange, Paging } from "@/components/data-table/paging";
import { reuseRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection";
import { createColumns } from "@/components/data-table/table-columns";
import { createRowWindow, groupRows, ROWS_PER_GROUP, toView, type View } from "@/components/data-table/table-rows";
import { createListState } from "@/components/frame/list/list-state";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { type JobRow } from "@/components/jobs/job-row";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { readList } from "@/components/jobs/list/list-address";
import { jobsAddress } from "@/components/jobs/list/use-job-list";
import { inApp, renderInApp } from "./render";

type Fruit = { id: string; name: string; count: number };
const column = createColumns<Fruit>();
const columns = column.columns([
  column.accessor("name", { header: "Name" }),
  column.accessor("count", { header: "Count", meta: { align: "end" } }),
]);
const table = (rows: Fruit[]) => (
  <DataTable caption="Fruit" columns={columns} rows={rows} rowId={(row) => row.id} isSelected={(row) => row.id === "b"} />
);
const apple = { id: "a", name: "Apple", count: 3 };
const pear = { id: "b", name: "Pear", count: 12 };
const fig = { id: "c", name: "Fig", count: 1 };

describe("the table", () => {
  it("keeps a row's element when a response moves and changes it", () => {
    const { container, rerender } = renderInApp(table([apple, pear]));
    const before = container.querySelector('[data-row="b"]');
    rerender(inApp(table([{ ...pear, count: 13 }, apple])));
    expect(container.querySelector('[data-row="b"]')).toBe(before);
    expect(before?.textContent).toBe("Pear13");
  });

  it("moves by j, k and arrows, and selects with shift", () => {
    const walked = column.columns([
      column.display({ id: "pick", header: "Pick", cell: ({ row }) => <input type="checkbox" aria-label={row.original.name} /> }),
      column.display({ id: "open", header: "Open", cell: ({ row }) => <a href={`#${row.id}`}>{row.original.name}</a> }),
    ]);
    renderInApp(<DataTable caption="Fruit" columns={walked} rows={[apple, pear, fig]} rowId={(row) => row.id} />);
    const press = (key: string, overrides = {}) => fireEvent.keyDown(document.activeElement ?? document.body, { key, ...overrides });
    const focusedText = () => document.activeElement?.textContent;
    // With the focus outside of the rows, an arrow scrolls the page.
    expect(press("ArrowDown")).toBe(true);
    press("j");
    expect(focusedText()).toBe("Apple");
    expect(press("ArrowDown")).toBe(false);
    expect(focusedText()).toBe("Pear");
    press("ArrowDown", { shiftKey: true });
    expect(focusedText()).toBe("Fig");
    press("ArrowUp");
    press("k");
    expect(focusedText()).toBe("Apple");
    const checkedBoxes = screen.getAllByRole<HTMLInputElement>("checkbox").map(({ checked }) => checked);
    expect(checkedBoxes).toEqual([false, true, true]);
  });
});

describe("paging", () => {
  it.each([
    [
      { offset: 0, limit: 100, count: 100, total: 1284 },
      { from: 1, to: 100, next: 100 },
    ],
    [
      { offset: 1200, limit: 100, count: 84, total: 1284 },
      { from: 1201, to: 1284, previous: 1100 },
    ],
    [
      { offset: 50, limit: 100, count: 100, total: 1284 },
      { from: 51, to: 150, previous: 0, next: 150 },
    ],
    [
      { offset: 0, limit: 100, count: 100 },
      { from: 1, to: 100, next: 100 },
    ],
    [
      { offset: 0, limit: 100, count: 100, hasMore: false },
      { from: 1, to: 100 },
    ],
    [
      { offset: 100, limit: 100, count: 20, nextOffset: 120, total: 150 },
      { from: 101, to: 120, previous: 0, next: 120 },
    ],
    [
      { offset: 0, limit: 100, count: 20, nextOffset: 20, hasMore: false },
      { from: 1, to: 20, next: 20 },
    ],
    [
      { offset: 0, limit: 100, count: 0, total: 0 },
      { from: 0, to: 0 },
    ],
  ])("of %o shows %o", (page, range) => {
    expect(pageRange(page)).toEqual(range);
  });

  it("shows the range and links adjacent pages", () => {
    renderInApp(<Paging offset={100} limit={100} count={100} total={1284} getHref={(offset) => `/jobs?offset=${offset}`} />);
    expect(screen.getByText("101–200 of 1,284")).toBeDefined();
    expect(screen.getByRole("link", { name: "Next page" }).getAttribute("href")).toBe("/jobs?offset=200");
    expect(screen.getByRole("link", { name: "Previous page" }).getAttribute("href")).toBe("/jobs?offset=0");
  });
});

describe("a thousand rows", () => {
  type Item = { id: string };
  const column = createColumns<Item>();
  const columns = column.columns([column.accessor("id", { header: "Id" })]);
  const items = Array.from({ length: 1000 }, (_, index) => ({ id: `job-${index}` }));

  it("are drawn in view and kept as text elsewhere for page search", () => {
    const { container } = renderInApp(
      <DataTable caption="Jobs" columns={columns} rows={items} rowId={({ id }) => id} placeholderText={({ id }) => id} />,
    );
    expect(container.querySelectorAll("tr[data-row]").length).toBeLessThan(100);
    for (const { id } of [items[0], items[500], items[999]].flatMap((item) => item ?? [])) expect(container.textContent).toContain(id);
    expect(screen.getByRole("table").getAttribute("aria-rowcount")).toBe("1001");
  });

  const geometry = { rowPx: 50, screenPx: 1000, count: 1000, base: 0 };
  const getCompleteRows = (rowWindow: ReturnType<typeof createRowWindow>, { first, last }: View) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((index) => {
      const key = Math.floor(index / ROWS_PER_GROUP);
      const { from, to } = rowWindow.getSpan(key);
      return index - key * ROWS_PER_GROUP >= from && index - key * ROWS_PER_GROUP < to;
    });

  it("cover the screen from its upper to its lower edge", () => {
    expect(toView({ top: 100, ...geometry })).toEqual({ from: 0, to: 18, first: 0, last: 999 });
    expect(toView({ top: -25_000, ...geometry })).toMatchObject({ from: 500, to: 520 });
    expect(toView({ top: -99_000, ...geometry })).toMatchObject({ from: 999, to: 999 });
    expect(toView({ top: -25_000, ...geometry, base: -3 })).toEqual({ from: 497, to: 517, first: -3, last: 996 });
  });

  it("are drawn one by one, view first, then a screen below and above", () => {
    const rowWindow = createRowWindow(0);
    const view = { from: 505, to: 514, first: 0, last: 999 };
    for (let count = 0; count < 10; count += 1) expect(rowWindow.makeOne(view)).toBe(true);
    expect(getCompleteRows(rowWindow, view)).toEqual(Array.from({ length: 10 }, (_, at) => 505 + at));
    while (rowWindow.makeOne(view));
    expect([getCompleteRows(rowWindow, view)[0], getCompleteRows(rowWindow, view).at(-1)]).toEqual([490, 529]);
    expect(rowWindow.dropOne(view, () => false)).toBe(false);
  });

  it("are removed when far away, but not while in use", () => {
    const rowWindow = createRowWindow(4);
    const view = { from: 505, to: 514, first: 0, last: 999 };
    while (rowWindow.dropOne(view, (key) => key === 2));
    expect(getCompleteRows(rowWindow, view)).toEqual(Array.from({ length: 10 }, (_, at) => 20 + at));
  });

  it("are drawn whole above the list without replacing elements", () => {
    const before = groupRows(items, ({ id }) => id);
    const after = groupRows([{ id: "new" }, ...items.slice(0, -1)], ({ id }) => id, before);
    expect(after.groups.slice(0, 2).map(({ key, rows }) => [key, rows.length])).toEqual([
      [-1, 1],
      [0, ROWS_PER_GROUP],
    ]);
    expect(after.groups[1]?.rows).toEqual(before.groups[0]?.rows);
    const rowWindow = createRowWindow(4);
    expect(rowWindow.getSpan(-1)).toEqual({ from: 0, to: ROWS_PER_GROUP });
    expect(rowWindow.getSpan(50)).toEqual({ from: 0, to: 0 });
  });

  it("keep their identity except the changed row's group", () => {
    const before = groupRows(items, ({ id }) => id);
    const changedItems = items.map((item, at) => (at === 15 ? { ...item } : item));
    const after = groupRows(changedItems, ({ id }) => id, before);
    expect(after.groups.filter((group, at) => group !== before.groups[at]).map(({ key }) => key)).toEqual([1]);
  });

  it("keep their identity when unchanged", () => {
    const before = [
      { id: "a", preview: { name: "x" } },
      { id: "b", preview: { name: "y" } },
    ];
    const after = reuseRows(before, [
      { id: "b", preview: { name: "z" } },
      { id: "a", preview: { name: "x" } },
    ]);
    expect(after[1]).toBe(before[0]);
    expect(after[0]).not.toBe(before[1]);
    expect(reuseRows(before, structuredClone(before))).toBe(before);
  });
});

describe("row making", () => {
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
    act(() => frames.splice(0).forEach((callback) => callback(nowMs)));
  }
  function scrollTo(px: number): void {
    scrolledPx = px;
    window.dispatchEvent(new Event("scroll"));
  }

  beforeEach(() => {
    [frames, nowMs, scrolledPx] = [[], 1_000, 0];
    vi.stubGlobal("requestAnimationFrame", (callback: (atMs: number) => void) => frames.push(callback));
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

  function show(): void {
    const noPanel = { subscribe: () => () => undefined, get: () => undefined, has: () => false, open: () => false, close: () => undefined };
    renderInApp(
      <JobListTable
        caption="Jobs"
        rows={rows}
        state={createListState(readList("jobs", new URLSearchParams()).query, jobsAddress("jobs", {}))}
        connection="c1"
        selection={createSelection()}
        choice={DEFAULT_CHOICE}
        onChoiceChange={() => undefined}
        openPanel={{ ...noPanel, settle: () => undefined }}
      />,
    );
  }
  const renderedRows = () => [...document.querySelectorAll<HTMLElement>("tr[data-row]")].map((row) => row.dataset.row);
  const getWordsAt = (index: number) => [...document.querySelectorAll("tbody")][Math.floor(index / 10)]?.textContent;

  describe("a slow machine", () => {
    it("creates one row per frame, rows in view first", () => {
      show();
      scrollTo(200 * ROW_PX);
      const counts: number[] = [];
      for (let at = 0; at < 17; at += 1) {
        const before = new Set(renderedRows());
        frame(100);
        counts.push(renderedRows().filter((id) => !before.has(id)).length);
      }
      expect(Math.max(...counts)).toBe(1);
      expect(renderedRows()).toEqual(expect.arrayContaining(["job-0200", "job-0216"]));
    });

    it("shows the text of incomplete rows", () => {
      show();
      scrollTo(150 * ROW_PX);
      frame(30);
      expect(renderedRows()).not.toContain("job-0160");
      expect(getWordsAt(160)).toContain("job-0160");
    });
  });

  describe("rows are complete in view", () => {
    const wholeWhile = (rowsAFrame: number, gapMs: number) => {
      msOfWork = 0;
      show();
      const visibleCount = Math.floor(window.innerHeight / ROW_PX);
      for (let at = 0; at < 20; at += 1) {
        scrollTo(at * rowsAFrame * ROW_PX);
        frame(gapMs);
        const first = at * rowsAFrame;
        expect(renderedRows()).toEqual(expect.arrayContaining(rows.slice(first, first + visibleCount).map(({ id }) => id)));
      }
    };

    it("catches up when frames arrive in time at any speed", () => {
      wholeWhile(6, 17);
    });

    it("catches up when the list is slow, however late frames are", () => {
      wholeWhile(1, 60);
    });
  });
});
