// @vitest-environment jsdom
import { cleanup, fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { pageRange, Paging } from "@/components/data-table/paging";
import { columnsFor } from "@/components/data-table/table-columns";
import { inApp, renderInApp } from "./render";

afterEach(cleanup);

type Fruit = { id: string; name: string; count: number };
const column = columnsFor<Fruit>();
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
  it("has a name, a header for each column and a row for each thing", () => {
    renderInApp(table([apple, pear]));
    const found = screen.getByRole("table", { name: "Fruit" });
    expect(
      within(found)
        .getAllByRole("columnheader")
        .map((cell) => cell.textContent),
    ).toEqual(["Name", "Count"]);
    expect(
      within(found)
        .getAllByRole("row")
        .map((row) => row.textContent),
    ).toEqual(["NameCount", "Apple3", "Pear12"]);
  });

  it("keeps a row's element when another answer moves and changes it", () => {
    const { container, rerender } = renderInApp(table([apple, pear]));
    const before = container.querySelector('[data-row="b"]');
    rerender(inApp(table([{ ...pear, count: 13 }, apple])));
    expect(container.querySelector('[data-row="b"]')).toBe(before);
    expect(before?.textContent).toBe("Pear13");
  });

  it("is walked by j and k, and by the arrows once the focus is in a row; with shift what is passed is chosen", () => {
    const walked = column.columns([
      column.display({ id: "pick", header: "Pick", cell: ({ row }) => <input type="checkbox" aria-label={row.original.name} /> }),
      column.display({ id: "open", header: "Open", cell: ({ row }) => <a href={`#${row.id}`}>{row.original.name}</a> }),
    ]);
    renderInApp(<DataTable caption="Fruit" columns={walked} rows={[apple, pear, fig]} rowId={(row) => row.id} />);
    const press = (key: string, more = {}) => fireEvent.keyDown(document.activeElement ?? document.body, { key, ...more });
    const here = () => document.activeElement?.textContent;
    // With the focus outside of the rows, an arrow scrolls the page.
    expect(press("ArrowDown")).toBe(true);
    press("j");
    expect(here()).toBe("Apple");
    expect(press("ArrowDown")).toBe(false);
    expect(here()).toBe("Pear");
    press("ArrowDown", { shiftKey: true });
    expect(here()).toBe("Fig");
    press("ArrowUp");
    press("k");
    expect(here()).toBe("Apple");
    const chosen = screen.getAllByRole<HTMLInputElement>("checkbox").map(({ checked }) => checked);
    expect(chosen).toEqual([false, true, true]);
  });

  it("marks the chosen row", () => {
    const { container } = renderInApp(table([apple, pear]));
    expect(container.querySelector('[data-row="b"]')?.getAttribute("data-selected")).toBe("true");
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

  it("says the range, and links to the pages beside it", () => {
    renderInApp(<Paging offset={100} limit={100} count={100} total={1284} hrefOf={(offset) => `/jobs?offset=${offset}`} />);
    expect(screen.getByText("101–200 of 1,284")).toBeDefined();
    expect(screen.getByRole("link", { name: "Next page" }).getAttribute("href")).toBe("/jobs?offset=200");
    expect(screen.getByRole("link", { name: "Previous page" }).getAttribute("href")).toBe("/jobs?offset=0");
  });
});
