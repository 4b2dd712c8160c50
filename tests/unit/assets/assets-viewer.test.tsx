// @vitest-environment jsdom
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AssetsViewer } from "@/components/assets/assets-viewer";
import { type AssetsSource } from "@/components/assets/wall/chunk-store";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { standInForDialogs, standInForSizes } from "@/tests/support/jsdom-parts";
import { inApp, renderInApp } from "../components/render";

const asset = (id: string): AssetView => ({ id, name: `${id}.png`, kind: "image", tags: [], immutable: false, metadata: {} });
const nothing = () => undefined;

beforeEach(standInForDialogs);
beforeEach(standInForSizes);
afterEach(cleanup);
afterEach(() => vi.unstubAllGlobals());

function viewer(id: string, rows: readonly AssetView[], want: AssetsSource["want"] = nothing) {
  const source: AssetsSource = {
    ...{ version: 1, total: rows.length, newCount: 0, failure: undefined, atMs: 0, everyMs: 1000, offset: 0, isEmpty: rows.length === 0 },
    ...{ count: rows.length, at: (index) => rows[index], rows: () => [...rows], range: async () => [] },
    ...{ indexOf: (one) => rows.findIndex((row) => row.id === one), want, refresh: nothing, patch: nothing },
  };
  const found = source.indexOf(id);
  const viewing = { isOpen: true, id, at: found < 0 ? undefined : found, open: nothing, move: nothing, close: vi.fn() };
  const part = <AssetsViewer source={source} viewing={viewing} onCompare={nothing} isCovered={false} connectionId="c" />;
  return { part, viewing };
}

it("one that a link names is seen before its list is there, and stays seen in the same place when the list comes", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ id: "two", name: "two.png", tags: [], mime_type: "image/png" }));
  const { rerender } = renderInApp(viewer("two", []).part);
  await screen.findByRole("dialog", { name: "two.png, 1 of 1" });
  const [dialog, picture] = [screen.getByRole("dialog"), screen.getByAltText("two.png")];
  rerender(inApp(viewer("two", [asset("one"), asset("two")]).part));
  expect(screen.getByText("2 of 2")).toBeDefined();
  // A newly opened dialog would cover a comparison that was opened over this one.
  expect(screen.getByRole("dialog")).toBe(dialog);
  expect(screen.getByAltText("two.png")).toBe(picture);
  expect(fireEvent.keyDown(screen.getByRole("group", { name: /Picture/ }), { key: "ArrowLeft" })).toBe(false);
});

it("one that is gone closes the viewer", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ code: "NOT_FOUND", message: "no such asset" }, { status: 404 }));
  const { part, viewing } = viewer("gone", [asset("one")]);
  renderInApp(part);
  await waitFor(() => expect(viewing.close).toHaveBeenCalled(), { timeout: 10_000 });
});

it("that is closed wants no rows any more, besides those of the wall under it", () => {
  const want = vi.fn();
  const rows = Array.from({ length: 40 }, (_, index) => asset(`row${index}`));
  const { unmount } = renderInApp(viewer("row20", rows, want).part);
  expect(want.mock.calls).toEqual([[8, 32, "full view"]]);
  unmount();
  expect(want.mock.lastCall).toEqual([0, 0, "full view"]);
});
