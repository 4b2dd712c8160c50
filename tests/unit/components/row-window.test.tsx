// @vitest-environment jsdom
// Which rows of a long list are drawn, in which order, and when they are removed.
import { cleanup, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { DataTable } from "@/components/data-table/data-table";
import { shareRows } from "@/components/data-table/paused-rows";
import { columnsFor } from "@/components/data-table/table-columns";
import { createRowWindow, GROUP, groupRows, type View, viewAt } from "@/components/data-table/use-row-window";
import { renderInApp } from "./render";

afterEach(cleanup);

describe("a thousand rows", () => {
  type Item = { id: string };
  const column = columnsFor<Item>();
  const columns = column.columns([column.accessor("id", { header: "Id" })]);
  const items = Array.from({ length: 1000 }, (_, index) => ({ id: `job-${index}` }));

  it("are drawn where they are seen and stand as text elsewhere, so that a search of the page finds them", () => {
    const { container } = renderInApp(
      <DataTable caption="Jobs" columns={columns} rows={items} rowId={({ id }) => id} lightText={({ id }) => id} />,
    );
    expect(container.querySelectorAll("tr[data-row]").length).toBeLessThan(100);
    for (const { id } of [items[0], items[500], items[999]].flatMap((item) => item ?? [])) expect(container.textContent).toContain(id);
    expect(screen.getByRole("table").getAttribute("aria-rowcount")).toBe("1001");
  });

  const seen = { rowPx: 50, screenPx: 1000, count: 1000, base: 0 };
  const wholeOf = (rowWindow: ReturnType<typeof createRowWindow>, { first, last }: View) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at).filter((place) => {
      const key = Math.floor(place / GROUP);
      const { from, to } = rowWindow.spanOf(key);
      return place - key * GROUP >= from && place - key * GROUP < to;
    });

  it("are seen from the row at the screen's upper edge to the one at its lower, within the list", () => {
    expect(viewAt({ top: 100, ...seen })).toEqual({ from: 0, to: 18, first: 0, last: 999 });
    expect(viewAt({ top: -25_000, ...seen })).toMatchObject({ from: 500, to: 520 });
    expect(viewAt({ top: -99_000, ...seen })).toMatchObject({ from: 999, to: 999 });
    expect(viewAt({ top: -25_000, ...seen, base: -3 })).toEqual({ from: 497, to: 517, first: -3, last: 996 });
  });

  it("are drawn one by one, those in view first and from above, then a screen below and above", () => {
    const rowWindow = createRowWindow(0);
    const view = { from: 505, to: 514, first: 0, last: 999 };
    for (let made = 0; made < 10; made += 1) expect(rowWindow.makeOne(view)).toBe(true);
    expect(wholeOf(rowWindow, view)).toEqual(Array.from({ length: 10 }, (_, at) => 505 + at));
    while (rowWindow.makeOne(view));
    expect([wholeOf(rowWindow, view)[0], wholeOf(rowWindow, view).at(-1)]).toEqual([490, 529]);
    expect(rowWindow.dropOne(view, () => false)).toBe(false);
  });

  it("go when they are far away, but not from under somebody's hands", () => {
    const rowWindow = createRowWindow(4);
    const view = { from: 505, to: 514, first: 0, last: 999 };
    while (rowWindow.dropOne(view, (key) => key === 2));
    expect(wholeOf(rowWindow, view)).toEqual(Array.from({ length: 10 }, (_, at) => 20 + at));
  });

  it("that come above the list's whole rows are whole at once, and their elements stay where they were", () => {
    const before = groupRows(items, ({ id }) => id);
    const after = groupRows([{ id: "new" }, ...items.slice(0, -1)], ({ id }) => id, before);
    expect(after.groups.slice(0, 2).map(({ key, rows }) => [key, rows.length])).toEqual([
      [-1, 1],
      [0, GROUP],
    ]);
    expect(after.groups[1]?.rows).toEqual(before.groups[0]?.rows);
    const rowWindow = createRowWindow(4);
    expect(rowWindow.spanOf(-1)).toEqual({ from: 0, to: GROUP });
    expect(rowWindow.spanOf(50)).toEqual({ from: 0, to: 0 });
  });

  it("of which one is another are the same groups but one", () => {
    const before = groupRows(items, ({ id }) => id);
    const changed = items.map((item, at) => (at === 15 ? { ...item } : item));
    const after = groupRows(changed, ({ id }) => id, before);
    expect(after.groups.filter((group, at) => group !== before.groups[at]).map(({ key }) => key)).toEqual([1]);
  });

  it("that say the same as before are the same objects", () => {
    const before = [
      { id: "a", preview: { name: "x" } },
      { id: "b", preview: { name: "y" } },
    ];
    const after = shareRows(before, [
      { id: "b", preview: { name: "z" } },
      { id: "a", preview: { name: "x" } },
    ]);
    expect(after[1]).toBe(before[0]);
    expect(after[0]).not.toBe(before[1]);
    expect(shareRows(before, structuredClone(before))).toBe(before);
  });
});
