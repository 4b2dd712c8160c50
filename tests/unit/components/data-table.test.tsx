import { fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { getLastOffset, getPageRange, Paging } from "@/components/data-table/paging";
import { createColumns } from "@/components/data-table/table-columns";
import { createRowWindow, groupRows, ROWS_PER_GROUP, toView } from "@/components/data-table/table-rows";
import { createJobTable, createRows, stubAnimationFrames } from "./jobs/render-job-table";
import { renderInApp, wrapInApp } from "./render";
import { getRowIds, stubScreenWidth } from "./render-screen";

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
    ["offers no page after the last one", { offset: 1200, count: 84, total: 1284 }, { from: 1201, to: 1284, previous: 1100 }],
    ["starts the previous page at 0 at the earliest", { offset: 50, count: 50 }, { from: 51, to: 100, previous: 0 }],
    ["offers a next page when the total is unknown", { offset: 0, count: 100 }, { from: 1, to: 100, next: 100 }],
    ["offers no next page when the service has no more", { offset: 0, count: 100, hasMore: false }, { from: 1, to: 100 }],
    ["continues after a shortened page", { offset: 0, count: 20, nextOffset: 20, hasMore: false }, { from: 1, to: 20, next: 20 }],
    ["shows an empty list", { offset: 0, count: 0, total: 0 }, { from: 0, to: 0 }],
    ["links the last page when the offset is beyond the end", { offset: 900, count: 0, total: 306 }, { from: 900, to: 900, previous: 300 }],
  ])("%s", (_, page, range) => {
    expect(getPageRange({ limit: 100, ...page })).toEqual(range);
  });

  it("returns the offset of the last page", () => {
    expect([getLastOffset(306, 100), getLastOffset(300, 100), getLastOffset(0, 100)]).toEqual([300, 200, 0]);
  });

  it("shows the range and links adjacent pages", () => {
    renderInApp(<Paging offset={100} limit={100} count={100} total={1284} getHref={(offset) => `/jobs?offset=${offset}`} />);
    expect(screen.getByText("101–200 of 1,284")).toBeDefined();
    expect(screen.getByRole("link", { name: "Next page" }).getAttribute("href")).toBe("/jobs?offset=200");
    expect(screen.getByRole("link", { name: "Previous page" }).getAttribute("href")).toBe("/jobs?offset=0");
  });

  it("keeps focus on the page link when the last page opens", () => {
    const createPaging = (offset: number) => wrapInApp(<Paging {...{ offset, limit: 1, count: 1, total: 2, getHref: () => "/jobs" }} />);
    const { rerender } = render(createPaging(0));
    screen.getByRole("link", { name: "Next page" }).focus();
    rerender(createPaging(1));
    expect(document.activeElement).toBe(screen.getByRole("link", { name: "Next page" }));
    rerender(createPaging(0));
    expect(document.activeElement).toBe(screen.getByRole("link", { name: "Next page" }));
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

  it("computes the rows in view from the scroll offset", () => {
    const geometry = { rowPx: 50, screenPx: 1000, count: 1000 };
    expect(toView({ top: -99_000, ...geometry, base: 0 })).toMatchObject({ from: 999, to: 999 });
    expect(toView({ top: -25_000, ...geometry, base: -3 })).toEqual({ from: 497, to: 517, first: -3, last: 996 });
  });

  it("removes rows far from the view unless they are in use", () => {
    const rowWindow = createRowWindow(4);
    while (rowWindow.dropFarGroup({ from: 505, to: 514, first: 0, last: 999 }, (key) => key === 2));
    const completeGroups = Array.from({ length: 100 }, (_, key) => key).filter((key) => rowWindow.getSpan(key).to > 0);
    expect(completeGroups).toEqual([2]);
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
});

describe("row rendering", () => {
  const ROW_PX = 46;
  const rows = createRows(400);
  let runNextFrame: (atMs: number) => void;
  let nowMs = 0;
  let scrolledPx = 0;
  let rowDurationMs = 0;
  /** Runs one frame, `gapMs` after the previous one. */
  function runFrame(gapMs: number): void {
    nowMs += gapMs;
    runNextFrame(nowMs);
  }
  function scrollTo(px: number): void {
    scrolledPx = px;
    window.dispatchEvent(new Event("scroll"));
  }

  beforeEach(() => {
    [nowMs, scrolledPx, rowDurationMs] = [1_000, 0, 0];
    runNextFrame = stubAnimationFrames();
    stubScreenWidth(true);
    let elapsedMs = 0;
    vi.spyOn(performance, "now").mockImplementation(() => (elapsedMs += rowDurationMs));
    vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
      const bodies = [...document.querySelectorAll("tbody")];
      const at = bodies.findIndex((body) => body === this);
      return new DOMRect(0, Math.max(0, at) * ROW_PX * ROWS_PER_GROUP - scrolledPx, 1440, ROW_PX * ROWS_PER_GROUP);
    });
  });

  it("renders one row per frame on a slow machine and the text of the others", () => {
    // One row takes longer than the time budget of a frame.
    rowDurationMs = 9;
    renderInApp(createJobTable(rows));
    scrollTo(200 * ROW_PX);
    const runSlowFrame = () => {
      const before = new Set(getRowIds());
      runFrame(100);
      expect(getRowIds().filter((id) => !before.has(id)).length).toBeLessThanOrEqual(1);
    };
    runSlowFrame();
    expect(getRowIds()).not.toContain("job-0210");
    expect(document.querySelectorAll("tbody")[21]?.textContent).toContain("job-0210");
    for (let count = 1; count < 17; count += 1) runSlowFrame();
    expect(getRowIds()).toEqual(expect.arrayContaining(["job-0200", "job-0216"]));
  });

  it.each([
    ["fast at a normal frame rate", 6, 17],
    ["slowly at a low frame rate", 1, 60],
  ])("renders all rows in view when scrolling %s", (_, rowsPerFrame, gapMs) => {
    renderInApp(createJobTable(rows));
    const visibleCount = Math.floor(window.innerHeight / ROW_PX);
    for (let at = 0; at < 20; at += 1) {
      const first = at * rowsPerFrame;
      scrollTo(first * ROW_PX);
      runFrame(gapMs);
      expect(getRowIds()).toEqual(expect.arrayContaining(rows.slice(first, first + visibleCount).map(({ id }) => id)));
    }
  });
});
