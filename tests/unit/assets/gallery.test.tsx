// @vitest-environment jsdom
// The gallery over rows that load later than their places.
import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { type AssetsSource } from "@/components/assets/wall/chunk-store";
import { Gallery } from "@/components/assets/wall/gallery";
import { type Picking } from "@/components/assets/wall/use-picking";
import { createSelection } from "@/components/data-table/selection/selection";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { inApp, renderInApp } from "../components/render";

vi.stubGlobal(
  "ResizeObserver",
  class {
    observe = () => undefined;
    disconnect = () => undefined;
  },
);
afterEach(cleanup);

const assets = [0, 1, 2].map((index): AssetView => ({
  id: `a${index}`,
  name: `${index}.png`,
  kind: "image",
  tags: [],
  immutable: false,
  metadata: {},
}));

function listOf(loaded: readonly AssetView[], version: number): AssetsSource {
  return {
    ...{ version, count: 3, total: 3, newCount: 0, failure: undefined, atMs: 0, everyMs: 1000, offset: 0, isEmpty: false },
    at: (index) => loaded[index],
    indexOf: (id) => loaded.findIndex((one) => one.id === id),
    rows: () => [...loaded],
    range: () => Promise.resolve([]),
    want: () => undefined,
    refresh: () => undefined,
    patch: () => undefined,
  };
}

function wallOf() {
  const acts = { toggle: vi.fn(), extend: vi.fn(), band: vi.fn(), settle: vi.fn(), all: vi.fn() };
  const picking: Picking = { ...acts, store: createSelection(), chosen: () => [], isReading: false };
  const other = { onOpen: () => false, onPage: vi.fn(), onView: vi.fn(), onRest: vi.fn(), onReady: vi.fn() };
  const look = { size: "medium", fit: "cover", startIndex: 0 } as const;
  const part = (loaded: readonly AssetView[]) => <Gallery {...look} {...other} picking={picking} source={listOf(loaded, loaded.length)} />;
  return { part, ...acts, ...other };
}

it("keeps the focus on a tile whose asset comes while it has it", () => {
  const { part } = wallOf();
  const shown = renderInApp(part([]));
  const first = shown.container.querySelector<HTMLElement>('a[data-index="0"]');
  first?.focus();
  expect(document.activeElement).toBe(first);
  shown.rerender(inApp(part(assets)));
  expect(screen.getByRole("link", { name: /^0\.png/ })).toBe(document.activeElement);
});

it("gives the focus to no tile that would lose it when its asset comes", () => {
  const { part } = wallOf();
  const shown = renderInApp(part([]));
  shown.container.querySelector<HTMLElement>('a[data-index="1"]')?.focus();
  expect(document.activeElement).toBe(document.body);
});

it("a key that is held opens, chooses and shows once, and goes on moving", () => {
  const { part, toggle, onView, onPage } = wallOf();
  renderInApp(part(assets));
  const tile = screen.getByRole("link", { name: /^0\.png/ });
  tile.focus();
  for (const key of [" ", "x", "i"]) for (const repeat of [false, true, true]) expect(fireEvent.keyDown(tile, { key, repeat })).toBe(false);
  expect([onView, toggle, onPage].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  fireEvent.keyDown(tile, { key: "j", repeat: true });
  expect(screen.getByRole("link", { name: /^1\.png/ })).toBe(document.activeElement);
});
