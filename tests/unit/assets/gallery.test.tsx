// @vitest-environment jsdom
// The gallery over rows that come later than their places.
import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";
import { type AssetsSource } from "@/components/assets/wall/assets-source";
import { Gallery } from "@/components/assets/wall/gallery";
import { type Picking } from "@/components/assets/wall/use-picking";
import { createSelection } from "@/components/data-table/selection-store";
import { type AssetView } from "@/lib/contract/asset-view";
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

function listOf(held: readonly AssetView[], version: number): AssetsSource {
  return {
    ...{ version, count: 3, total: 3, newCount: 0, failure: undefined, atMs: 0, everyMs: 1000, offset: 0, isEmpty: false },
    at: (index) => held[index],
    indexOf: (id) => held.findIndex((one) => one.id === id),
    rows: () => [...held],
    range: () => Promise.resolve([]),
    want: () => undefined,
    refresh: () => undefined,
    patch: () => undefined,
  };
}

it("keeps the focus on a tile whose asset comes while it has it", () => {
  const acts = { toggle: vi.fn(), extend: vi.fn(), band: vi.fn(), settle: vi.fn(), all: vi.fn() };
  const picking: Picking = { ...acts, store: createSelection(), chosen: () => [], isReading: false };
  const other = { onOpen: () => false, onPage: vi.fn(), onView: vi.fn(), onRest: vi.fn(), onReady: vi.fn() };
  const look = { size: "medium", fit: "cover", startIndex: 0 } as const;
  const wall = (held: readonly AssetView[]) => <Gallery {...look} {...other} picking={picking} source={listOf(held, held.length)} />;
  const shown = renderInApp(wall([]));
  const first = shown.container.querySelector<HTMLElement>('a[data-index="0"]');
  first?.focus();
  expect(document.activeElement).toBe(first);
  shown.rerender(inApp(wall(assets)));
  expect(screen.getByRole("link", { name: /^0\.png/ })).toBe(document.activeElement);
});
