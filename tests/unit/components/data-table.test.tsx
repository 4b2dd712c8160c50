import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { getPageRange, Paging } from "@/components/data-table/paging";
import { reuseRows } from "@/components/data-table/paused-rows";
import { createSelection } from "@/components/data-table/selection";
import { createColumns } from "@/components/data-table/table-columns";
import { createRowWindow, groupRows, ROWS_PER_GROUP, toView, type View } from "@/components/data-table/table-rows";
import { createListState } from "@/components/frame/list/list-state";
import { DEFAULT_CHOICE } from "@/components/jobs/columns/columns";
import { type JobRow } from "@/components/jobs/job-row";
import { JobListTable } from "@/components/jobs/list/job-list-table";
import { parseListQuery } from "@/components/jobs/list/list-urls";
import { createJobListAddress } from "@/components/jobs/list/use-job-list";
import { renderInApp, wrapInApp } from "./render";

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

describe("table", () => {
  it("reuses a row's element when its position and data change", () => {
    const { container, rerender } = renderInApp(table([apple, pear]));
    const before = container.querySelector('[data-row="b"]');
    rerender(wrapInApp(table([{ ...pear, count: 13 }, apple])));
    expect(container.querySelector('[data-row="b"]')).toBe(before);
    expect(before?.textContent).toBe("Pear13");
  });

  it("moves with j, k and arrow keys, and selects with Shift", () => {
    const selectableColumns = column.columns([
      column.display({ id: "pick", header: "Pick", cell: ({ row }) => <input type="checkbox" aria-label={row.original.name} /> }),
      column.display({ id: "open", header: "Open", cell: ({ row }) => <a href={`#${row.id}`}>{row.original.name}</a> }),
    ]);
    renderInApp(<DataTable caption="Fruit" columns={selectableColumns} rows={[apple, pear, fig]} rowId={(row) => row.id} />);
    const press = (key: string, overrides = {}) => fireEvent.keyDown(document.activeElement ?? document.body, { key, ...overrides });
    const focusedText = () => document.activeElement?.textContent;
    // When the focus is outside the rows, an arrow key scrolls the page.
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
  ])("converts %o to %o", (page, range) => {
    expect(getPageRange(page)).toEqual(range);
  });

  it("shows the range and links adjacent pages", () => {
    renderInApp(<Paging offset={100} limit={100} count={100} total={1284} getHref={(offset) => `/jobs?offset=${offset}`} />);
    expect(screen.getByText("101–200 of 1,284")).toBeDefined();
    expect(screen.getByRole("link", { name: "Next page" }).getAttribute("href")).toBe("/jobs?offset=200");
    expect(screen.getByRole("link", { name: "Previous page" }).getAttribute("href")).toBe("/jobs?offset=0");
  });
});

describe("long table", () => {
  type Item = { id: string };
  const column = createColumns<Item>();
  const columns = column.columns([column.accessor("id", { header: "Id" })]);
  const items = Array.from({ length: 1000 }, (_, index) => ({ id: `job-${index}` }));

  it("renders rows in view and keeps the text of others for page search", () => {
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

  it("computes the rows in view from the scroll offset", () => {
    expect(toView({ top: 100, ...geometry })).toEqual({ from: 0, to: 18, first: 0, last: 999 });
    expect(toView({ top: -25_000, ...geometry })).toMatchObject({ from: 500, to: 520 });
    expect(toView({ top: -99_000, ...geometry })).toMatchObject({ from: 999, to: 999 });
    expect(toView({ top: -25_000, ...geometry, base: -3 })).toEqual({ from: 497, to: 517, first: -3, last: 996 });
  });

  it("renders rows one by one, first in view and then around it", () => {
    const rowWindow = createRowWindow(0);
    const view = { from: 505, to: 514, first: 0, last: 999 };
    for (let count = 0; count < 10; count += 1) expect(rowWindow.completeNextRow(view)).toBe(true);
    expect(getCompleteRows(rowWindow, view)).toEqual(Array.from({ length: 10 }, (_, at) => 505 + at));
    while (rowWindow.completeNextRow(view));
    expect([getCompleteRows(rowWindow, view)[0], getCompleteRows(rowWindow, view).at(-1)]).toEqual([490, 529]);
    expect(rowWindow.dropFarGroup(view, () => false)).toBe(false);
  });

  it("removes rows far from the view unless they are in use", () => {
    const rowWindow = createRowWindow(4);
    const view = { from: 505, to: 514, first: 0, last: 999 };
    while (rowWindow.dropFarGroup(view, (key) => key === 2));
    expect(getCompleteRows(rowWindow, view)).toEqual(Array.from({ length: 10 }, (_, at) => 20 + at));
  });

  it("adds new rows above the list without replacing groups", () => {
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

  it("replaces only the group of a changed row", () => {
    const before = groupRows(items, ({ id }) => id);
    const changedItems = items.map((item, at) => (at === 15 ? { ...item } : item));
    const after = groupRows(changedItems, ({ id }) => id, before);
    expect(after.groups.filter((group, at) => group !== before.groups[at]).map(({ key }) => key)).toEqual([1]);
  });

  it("reuses rows that have not changed", () => {
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

describe("row rendering", () => {
  const ROW_PX = 46;
  const rows: JobRow[] = Array.from({ length: 400 }, (_, at) => ({
    id: `job-${String(at).padStart(4, "0")}`,
    rawStatus: "completed",
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
  let rowDurationMs = 9;
  /** Runs one frame, `gapMs` after the previous one. */
  function runFrame(gapMs: number): void {
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
    // On a slow machine, one row takes longer than the time budget of a frame.
    rowDurationMs = 9;
    let elapsedMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (elapsedMs += rowDurationMs));
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
        state={createListState(parseListQuery("jobs", new URLSearchParams()).query, createJobListAddress("jobs", {}))}
        connection="c1"
        selection={createSelection()}
        choice={DEFAULT_CHOICE}
        onChoiceChange={() => undefined}
        openPanel={{ ...noPanel, syncWithUrl: () => undefined }}
      />,
    );
  }
  const getRenderedIds = () => [...document.querySelectorAll<HTMLElement>("tr[data-row]")].map((row) => row.dataset.row);
  const getGroupText = (index: number) => [...document.querySelectorAll("tbody")][Math.floor(index / 10)]?.textContent;

  describe("slow machine", () => {
    it("renders one row per frame, starting with rows in view", () => {
      show();
      scrollTo(200 * ROW_PX);
      const counts: number[] = [];
      for (let at = 0; at < 17; at += 1) {
        const before = new Set(getRenderedIds());
        runFrame(100);
        counts.push(getRenderedIds().filter((id) => !before.has(id)).length);
      }
      expect(Math.max(...counts)).toBe(1);
      expect(getRenderedIds()).toEqual(expect.arrayContaining(["job-0200", "job-0216"]));
    });

    it("shows the text of rows that are not rendered yet", () => {
      show();
      scrollTo(150 * ROW_PX);
      runFrame(30);
      expect(getRenderedIds()).not.toContain("job-0160");
      expect(getGroupText(160)).toContain("job-0160");
    });
  });

  describe("fast machine", () => {
    const expectCompleteRows = (rowsPerFrame: number, gapMs: number) => {
      rowDurationMs = 0;
      show();
      const visibleCount = Math.floor(window.innerHeight / ROW_PX);
      for (let at = 0; at < 20; at += 1) {
        scrollTo(at * rowsPerFrame * ROW_PX);
        runFrame(gapMs);
        const first = at * rowsPerFrame;
        expect(getRenderedIds()).toEqual(expect.arrayContaining(rows.slice(first, first + visibleCount).map(({ id }) => id)));
      }
    };

    it("renders all rows in view when scrolling fast at a normal frame rate", () => {
      expectCompleteRows(6, 17);
    });

    it("renders all rows in view when scrolling slowly at a low frame rate", () => {
      expectCompleteRows(1, 60);
    });
  });
});
