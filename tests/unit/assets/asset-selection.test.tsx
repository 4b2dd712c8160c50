// Selecting by index in a mostly unloaded list.
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { type AssetsSource } from "@/components/assets/gallery/chunk-store";
import { type Picking, useAllTilesKey, usePicking } from "@/components/assets/gallery/use-picking";
import { dismissToast, toastStore } from "@/components/ui/toast-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { inApp } from "../components/render";

afterEach(() => toastStore.getState().forEach(({ id }) => dismissToast(id)));

const asset = (index: number): AssetView => ({
  ...{ id: `a${index}`, name: `${index}.png`, kind: "image", tags: [], immutable: false, metadata: {} },
});
type Loaded = { from: number; to: number };
type Outside = { open: (() => void)[]; signals: AbortSignal[]; isSlow: boolean };

/** A partially loaded list; `range` reads the rest, as far as the service responds. */
function createList(count: number, loaded: Loaded, readable = count): AssetsSource & Outside {
  const isLoaded = (index: number) => index >= loaded.from && index < loaded.to;
  const controlledSource = {
    open: [] as (() => void)[],
    signals: [] as AbortSignal[],
    isSlow: false,
    ...{ version: 1, count, total: count, newCount: 0, failure: undefined, atMs: 0, offset: 0, isEmpty: false },
    at: (index: number) => (isLoaded(index) ? asset(index) : undefined),
    indexOf: (id: string) => Number(id.slice(1)),
    rows: () => Array.from({ length: loaded.to - loaded.from }, (_, at) => asset(loaded.from + at)),
    async range(from: number, to: number, signal: AbortSignal) {
      controlledSource.signals.push(signal);
      if (controlledSource.isSlow) await new Promise<void>((go) => controlledSource.open.push(go));
      return Array.from({ length: Math.max(0, Math.min(to, readable) - from) }, (_, at) => asset(from + at));
    },
    request: () => undefined,
    refresh: () => undefined,
    patch: () => undefined,
  };
  return controlledSource;
}
function createPicking(source: AssetsSource): Picking {
  const states: Picking[] = [];
  function GalleryView() {
    states.push(usePicking(source, "all"));
    return null;
  }
  render(inApp(<GalleryView />));
  const [first] = states;
  if (!first) throw new Error("nothing was drawn");
  return first;
}
const ids = (picking: Picking) => [...picking.store.ids()].map((id) => Number(id.slice(1))).sort((a, b) => a - b);
const arrive = (list: Outside, reading?: Promise<unknown>) =>
  act(async () => {
    list.open.splice(0).forEach((go) => go());
    await reading;
  });
const createRange = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);

describe("a range", () => {
  it("follows the pointer from the anchor and deselects tiles outside", async () => {
    const picking = createPicking(createList(1000, { from: 0, to: 60 }));
    act(() => picking.toggle(2));
    act(() => picking.toggle(10));
    await act(() => picking.extend(500));
    expect(ids(picking)).toEqual([2, ...createRange(10, 501)]);
    await act(() => picking.extend(12));
    expect(ids(picking)).toEqual([2, 10, 11, 12]);
    await act(() => picking.extend(7));
    expect(ids(picking)).toEqual([2, 7, 8, 9, 10]);
    expect(picking.chosen()).toHaveLength(5);
  });

  it("ignores a range released while it was read, and keeps the later of two", async () => {
    const list = createList(1000, { from: 0, to: 60 });
    const picking = createPicking(list);
    act(() => picking.toggle(0));
    list.isSlow = true;
    const [far, near] = [picking.extend(900), picking.extend(3)];
    await act(async () => {
      list.open.reverse().forEach((go) => go());
      await Promise.all([far, near]);
    });
    expect(ids(picking)).toEqual([0, 1, 2, 3]);
    list.open = [];
    const lateExtend = picking.extend(800);
    act(() => picking.store.clear());
    await act(async () => {
      list.open.forEach((go) => go());
      await lateExtend;
    });
    expect(ids(picking)).toEqual([]);
    // Nothing is selected any more, so the next selection is new.
    list.isSlow = false;
    await act(() => picking.extend(20));
    expect(ids(picking)).toEqual([20]);
  });

  it("stays deselected when another range arrives", async () => {
    const list = createList(1000, { from: 0, to: 60 });
    const picking = createPicking(list);
    act(() => picking.toggle(0));
    list.isSlow = true;
    const lateExtend = picking.extend(900);
    act(() => picking.store.clear());
    act(() => picking.toggle(7));
    await arrive(list, lateExtend);
    expect(ids(picking)).toEqual([7]);
  });

  it("adds nothing from a later band or from all matching", async () => {
    const list = createList(1000, { from: 0, to: 60 });
    const picking = createPicking(list);
    act(() => picking.toggle(0));
    list.isSlow = true;
    const beforeBand = picking.extend(900);
    act(() => picking.band([20, 21], new Set()));
    await arrive(list, beforeBand);
    expect(ids(picking)).toEqual([20, 21]);
    const beforeAll = picking.extend(900);
    act(() => picking.all());
    await arrive(list, beforeAll);
    expect(picking.store.isMatching()).toBe(true);
  });

  it("respects manual changes made while it is read", async () => {
    const list = createList(1000, { from: 0, to: 60 });
    const picking = createPicking(list);
    act(() => [50, 2, 10].forEach(picking.toggle));
    await act(() => picking.extend(14));
    list.isSlow = true;
    const backwards = picking.extend(5);
    act(() => picking.toggle(40));
    act(() => picking.toggle(50));
    act(() => picking.toggle(10));
    await arrive(list, backwards);
    expect(ids(picking)).toEqual([2, ...createRange(5, 10), 40]);
    list.isSlow = false;
    await act(() => picking.extend(11));
    expect(ids(picking)).toEqual([2, ...createRange(5, 10), 10, 11, 40]);
  });

  it("stops reading when replaced", async () => {
    const list = createList(1000, { from: 0, to: 60 });
    const picking = createPicking(list);
    act(() => picking.toggle(0));
    list.isSlow = true;
    const all = [picking.extend(700), picking.extend(800), picking.extend(900)];
    expect(list.signals.map(({ aborted }) => aborted)).toEqual([true, true, false]);
    await arrive(list, Promise.all(all));
    expect(ids(picking)).toEqual(createRange(0, 901));
  });

  it("reports how many are selected when a range is limited", async () => {
    const picking = createPicking(createList(50_000, { from: 0, to: 60 }));
    act(() => picking.toggle(0));
    await act(() => picking.extend(49_999));
    expect(picking.store.ids().size).toBe(10_000);
    expect(toastStore.getState().map(({ text }) => text)).toEqual(["Limit reached: the first 10,000 of 50,000 assets are selected."]);
    const poor = createPicking(createList(5000, { from: 0, to: 60 }, 300));
    act(() => poor.toggle(0));
    await act(() => poor.extend(999));
    expect(poor.store.ids().size).toBe(300);
    expect(toastStore.getState().at(-1)?.text).toBe("Only 300 of these 1,000 assets are selected: the rest could not be loaded.");
  });

  it("starts at the last selected tile when a backwards range is too long", async () => {
    const picking = createPicking(createList(50_000, { from: 40_000, to: 40_060 }));
    act(() => picking.toggle(40_000));
    await act(() => picking.extend(0));
    expect(ids(picking).at(-1)).toBe(40_000);
    expect(picking.store.ids().size).toBe(10_000);
  });
});

describe("a band", () => {
  it("includes tiles skipped while scrolling once released", async () => {
    const picking = createPicking(createList(1000, { from: 0, to: 60 }));
    const across = createRange(30, 400);
    act(() => picking.band(across, new Set(["a5"])));
    expect(ids(picking)).toEqual([5, ...createRange(30, 60)]);
    await act(() => picking.settle(across, new Set(["a5"])));
    expect(ids(picking)).toEqual([5, ...across]);
    await act(() => picking.extend(32));
    expect(ids(picking)).toEqual([5, 30, 31, 32]);
  });

  it("selects no adjacent tile while tiles between are read", async () => {
    const picking = createPicking(createList(1000, { from: 0, to: 6 }));
    const twoOfFive = createRange(0, 500).filter((index) => index % 5 === 1 || index % 5 === 2);
    await act(() => picking.settle(twoOfFive, new Set()));
    expect(ids(picking)).toEqual(twoOfFive);
  });
});

it("selects the view with Ctrl A, then all matching; native in fields", () => {
  const list = createList(300, { from: 0, to: 60 });
  const picking = createPicking(list);
  function Keys() {
    const tiles = useRef<HTMLDivElement>(null);
    useAllTilesKey({ source: list, picking, inView: () => createRange(6, 18), list: tiles });
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
  expect(ids(picking)).toEqual([]);
  screen.getByRole("checkbox").focus();
  expect(press()).toBe(false);
  expect(ids(picking)).toEqual(createRange(6, 18));
  expect(picking.store.isMatching()).toBe(false);
  press();
  expect(picking.store.isMatching()).toBe(true);
  screen.getByRole("searchbox").focus();
  expect(press()).toBe(true);
});

it("keeps all others selected when one of all matching is removed", async () => {
  const picking = createPicking(createList(300, { from: 0, to: 60 }));
  act(() => picking.toggle(0));
  act(() => picking.all());
  act(() => picking.toggle(7));
  await waitFor(() => expect(ids(picking)).toEqual(createRange(0, 300).filter((index) => index !== 7)));
  expect(picking.store.isMatching()).toBe(false);
  expect(picking.chosen()).toHaveLength(299);
});

it("deselects and reselects two of all matching in quick succession", async () => {
  const list = createList(300, { from: 0, to: 60 });
  const picking = createPicking(list);
  act(() => picking.toggle(0));
  act(() => picking.all());
  list.isSlow = true;
  act(() => picking.toggle(7));
  act(() => picking.toggle(9));
  act(() => picking.toggle(11));
  act(() => picking.toggle(11));
  expect([7, 8, 9, 10, 11].filter((index) => picking.store.has(`a${index}`))).toEqual([8, 10, 11]);
  expect(list.signals).toHaveLength(1);
  await arrive(list);
  expect(ids(picking)).toEqual(createRange(0, 300).filter((index) => index !== 7 && index !== 9));
  expect(picking.store.isMatching()).toBe(false);
  act(() => picking.all());
  expect(picking.store.has("a7")).toBe(true);
  act(() => picking.toggle(3));
  act(() => picking.store.clear());
  await arrive(list);
  expect([ids(picking), picking.store.isMatching()]).toEqual([[], false]);
});
