// Selects assets by index in a mostly unloaded list.
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { type AssetsSource } from "@/components/assets/gallery/chunk-store";
import { type AssetSelection, useAssetSelection, useSelectAllTilesShortcut } from "@/components/assets/gallery/use-asset-selection";
import { dismissToast, toastStore } from "@/components/ui/toast-store";
import { wrapInApp } from "../components/render";
import { createAsset, createAssetsSource } from "./assets-source";

afterEach(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));

const asset = (index: number) => createAsset(`a${index}`);
type LoadedRange = { from: number; to: number };
type ListControl = { pendingReads: (() => void)[]; signals: AbortSignal[]; isDelayed: boolean };

/** A partially loaded list. `range` reads the rows before `readable`. */
function createList(count: number, loaded: LoadedRange, readableCount = count): AssetsSource & ListControl {
  const isLoaded = (index: number) => index >= loaded.from && index < loaded.to;
  const createRows = (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, at) => asset(from + at));
  const control: ListControl = { pendingReads: [], signals: [], isDelayed: false };
  const source = createAssetsSource(createRows(loaded.from, loaded.to), {
    ...{ count, total: count, isEmpty: false },
    at: (index) => (isLoaded(index) ? asset(index) : undefined),
    indexOf: (id) => Number(id.slice(1)),
    async loadRange(from, to, signal) {
      control.signals.push(signal);
      if (control.isDelayed) await new Promise<void>((resolve) => control.pendingReads.push(resolve));
      return createRows(from, Math.min(to, readableCount));
    },
  });
  return Object.assign(control, source);
}
function createPicking(source: AssetsSource): AssetSelection {
  const states: AssetSelection[] = [];
  function GalleryView() {
    states.push(useAssetSelection(source, "all"));
    return null;
  }
  render(wrapInApp(<GalleryView />));
  const [first] = states;
  if (!first) throw new Error("The component did not render.");
  return first;
}
/** Selects the first tile of a list whose further reads wait. */
function createDelayedPicking() {
  const list = createList(1000, { from: 0, to: 60 });
  const picking = createPicking(list);
  act(() => picking.toggle(0));
  list.isDelayed = true;
  return { list, picking };
}
const getSelectedIndexes = (picking: AssetSelection) => [...picking.store.getIds()].map((id) => Number(id.slice(1))).sort((a, b) => a - b);
const resolveReads = (list: ListControl, read?: Promise<unknown>) =>
  act(async () => {
    list.pendingReads.splice(0).forEach((go) => go());
    await read;
  });
const listIndexes = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

describe("range selection", () => {
  it("replaces the range when it is extended to another tile", async () => {
    const picking = createPicking(createList(1000, { from: 0, to: 60 }));
    act(() => picking.toggle(2));
    act(() => picking.toggle(10));
    await act(() => picking.extendTo(500));
    expect(getSelectedIndexes(picking)).toEqual([2, ...listIndexes(10, 501)]);
    await act(() => picking.extendTo(12));
    expect(getSelectedIndexes(picking)).toEqual([2, 10, 11, 12]);
    await act(() => picking.extendTo(7));
    expect(getSelectedIndexes(picking)).toEqual([2, 7, 8, 9, 10]);
    expect(picking.getSelectedAssets()).toHaveLength(5);
  });

  it("ignores a late range when a newer range or a clear replaced it", async () => {
    const { list, picking } = createDelayedPicking();
    const [firstExtend, secondExtend] = [picking.extendTo(900), picking.extendTo(3)];
    await act(async () => {
      list.pendingReads.reverse().forEach((go) => go());
      await Promise.all([firstExtend, secondExtend]);
    });
    expect(getSelectedIndexes(picking)).toEqual([0, 1, 2, 3]);
    list.pendingReads = [];
    const lateExtend = picking.extendTo(800);
    act(() => picking.store.clear());
    await act(async () => {
      list.pendingReads.forEach((go) => go());
      await lateExtend;
    });
    expect(getSelectedIndexes(picking)).toEqual([]);
    // After a clear, the next range starts a new selection.
    list.isDelayed = false;
    await act(() => picking.extendTo(20));
    expect(getSelectedIndexes(picking)).toEqual([20]);
    list.isDelayed = true;
    const extendBeforeToggle = picking.extendTo(900);
    act(() => picking.store.clear());
    act(() => picking.toggle(7));
    await resolveReads(list, extendBeforeToggle);
    expect(getSelectedIndexes(picking)).toEqual([7]);
  });

  it("ignores a late range when a band or all matching was selected", async () => {
    const { list, picking } = createDelayedPicking();
    const beforeBand = picking.extendTo(900);
    act(() => picking.updateBand([20, 21], new Set()));
    await resolveReads(list, beforeBand);
    expect(getSelectedIndexes(picking)).toEqual([20, 21]);
    const beforeAll = picking.extendTo(900);
    act(() => picking.selectAll());
    await resolveReads(list, beforeAll);
    expect(picking.store.isMatching()).toBe(true);
  });

  it("keeps manual changes when a range is loading", async () => {
    const list = createList(1000, { from: 0, to: 60 });
    const picking = createPicking(list);
    act(() => [50, 2, 10].forEach(picking.toggle));
    await act(() => picking.extendTo(14));
    list.isDelayed = true;
    const backwardExtend = picking.extendTo(5);
    act(() => picking.toggle(40));
    act(() => picking.toggle(50));
    act(() => picking.toggle(10));
    await resolveReads(list, backwardExtend);
    expect(getSelectedIndexes(picking)).toEqual([2, ...listIndexes(5, 10), 40]);
    list.isDelayed = false;
    await act(() => picking.extendTo(11));
    expect(getSelectedIndexes(picking)).toEqual([2, ...listIndexes(5, 10), 10, 11, 40]);
  });

  it("aborts a read when a newer range replaces it", async () => {
    const { list, picking } = createDelayedPicking();
    const all = [picking.extendTo(700), picking.extendTo(800), picking.extendTo(900)];
    expect(list.signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
    await resolveReads(list, Promise.all(all));
    expect(getSelectedIndexes(picking)).toEqual(listIndexes(0, 901));
  });

  it("shows the number of selected assets when a range is limited", async () => {
    const picking = createPicking(createList(50_000, { from: 0, to: 60 }));
    act(() => picking.toggle(0));
    await act(() => picking.extendTo(49_999));
    expect(picking.store.getIds().size).toBe(10_000);
    expect(toastStore.getState().map(({ text }) => text)).toEqual(["Limit reached: the first 10,000 of 50,000 assets are selected."]);
    const limitedPicking = createPicking(createList(5000, { from: 0, to: 60 }, 300));
    act(() => limitedPicking.toggle(0));
    await act(() => limitedPicking.extendTo(999));
    expect(limitedPicking.store.getIds().size).toBe(300);
    expect(toastStore.getState().at(-1)?.text).toBe("Only 300 of these 1,000 assets are selected: the rest could not be loaded.");
  });

  it("keeps the tiles nearest to the anchor when a backward range is too long", async () => {
    const picking = createPicking(createList(50_000, { from: 40_000, to: 40_060 }));
    act(() => picking.toggle(40_000));
    await act(() => picking.extendTo(0));
    expect(getSelectedIndexes(picking).at(-1)).toBe(40_000);
    expect(picking.store.getIds().size).toBe(10_000);
  });
});

describe("band selection", () => {
  it("selects skipped tiles when the band is released", async () => {
    const picking = createPicking(createList(1000, { from: 0, to: 60 }));
    const coveredIndexes = listIndexes(30, 400);
    act(() => picking.updateBand(coveredIndexes, new Set(["a5"])));
    expect(getSelectedIndexes(picking)).toEqual([5, ...listIndexes(30, 60)]);
    await act(() => picking.finishBand(coveredIndexes, new Set(["a5"])));
    expect(getSelectedIndexes(picking)).toEqual([5, ...coveredIndexes]);
    await act(() => picking.extendTo(32));
    expect(getSelectedIndexes(picking)).toEqual([5, 30, 31, 32]);
  });

  it("selects only covered tiles when tiles between them are loaded", async () => {
    const picking = createPicking(createList(1000, { from: 0, to: 6 }));
    const coveredColumns = listIndexes(0, 500).filter((index) => index % 5 === 1 || index % 5 === 2);
    await act(() => picking.finishBand(coveredColumns, new Set()));
    expect(getSelectedIndexes(picking)).toEqual(coveredColumns);
  });
});

it("selects visible tiles on Ctrl+A, then all matching, but not in fields", () => {
  const list = createList(300, { from: 0, to: 60 });
  const picking = createPicking(list);
  function Keys() {
    const tiles = useRef<HTMLDivElement>(null);
    useSelectAllTilesShortcut({ source: list, selection: picking, getVisibleIndexes: () => listIndexes(6, 18), list: tiles });
    return (
      <div ref={tiles}>
        <input type="checkbox" />
        <input type="search" />
      </div>
    );
  }
  render(<Keys />);
  const press = () => fireEvent.keyDown(document.activeElement ?? document.body, { key: "a", ctrlKey: true });
  expect(press()).toBe(true);
  expect(getSelectedIndexes(picking)).toEqual([]);
  screen.getByRole("checkbox").focus();
  expect(press()).toBe(false);
  expect(getSelectedIndexes(picking)).toEqual(listIndexes(6, 18));
  expect(picking.store.isMatching()).toBe(false);
  press();
  expect(picking.store.isMatching()).toBe(true);
  screen.getByRole("searchbox").focus();
  expect(press()).toBe(true);
});

it("keeps the other assets selected when one of all matching is deselected", async () => {
  const picking = createPicking(createList(300, { from: 0, to: 60 }));
  act(() => picking.toggle(0));
  act(() => picking.selectAll());
  act(() => picking.toggle(7));
  await waitFor(() => expect(getSelectedIndexes(picking)).toEqual(listIndexes(0, 300).filter((index) => index !== 7)));
  expect(picking.store.isMatching()).toBe(false);
  expect(picking.getSelectedAssets()).toHaveLength(299);
});

it("applies quick toggles when all matching assets are selected", async () => {
  const list = createList(300, { from: 0, to: 60 });
  const picking = createPicking(list);
  act(() => picking.toggle(0));
  act(() => picking.selectAll());
  list.isDelayed = true;
  act(() => picking.toggle(7));
  act(() => picking.toggle(9));
  act(() => picking.toggle(11));
  act(() => picking.toggle(11));
  expect([7, 8, 9, 10, 11].filter((index) => picking.store.has(`a${index}`))).toEqual([8, 10, 11]);
  expect(list.signals).toHaveLength(1);
  await resolveReads(list);
  expect(getSelectedIndexes(picking)).toEqual(listIndexes(0, 300).filter((index) => index !== 7 && index !== 9));
  expect(picking.store.isMatching()).toBe(false);
  act(() => picking.selectAll());
  expect(picking.store.has("a7")).toBe(true);
  act(() => picking.toggle(3));
  act(() => picking.store.clear());
  await resolveReads(list);
  expect([getSelectedIndexes(picking), picking.store.isMatching()]).toEqual([[], false]);
});
