import { expect, it } from "vitest";
import { type AssetsSource, createChunkStore } from "@/components/assets/wall/chunk-store";
import { aroundPage } from "@/components/assets/wall/use-endless";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

const all = Array.from({ length: 100 }, (_, index): AssetView => {
  const id = `a${index}`;
  return { id, name: `${id}.png`, kind: "image", tags: [], immutable: false, metadata: {} };
});
const asked: number[] = [];
const store = createChunkStore(
  async ({ offset, limit }) => {
    asked.push(offset);
    return ok({ assets: all.slice(offset, offset + limit), total: all.length });
  },
  { leads: false },
);
const list: AssetsSource = {
  ...{ version: 0, count: store.count(), total: undefined, newCount: 0, failure: undefined, atMs: undefined, everyMs: 0, offset: 0 },
  ...{ at: store.at, indexOf: store.indexOf, rows: store.rows, want: store.want, patch: store.patch, refresh: store.refresh },
  range: async (from, to) => all.slice(from, to),
  isEmpty: true,
};
/** The third page of 25. */
const rows = all.slice(50, 75);
const page = { count: 25, total: 100, at: (index: number) => rows[index], indexOf: (id: string) => rows.findIndex((one) => one.id === id) };

it("what is seen in full goes on beyond its page, counted from the first of all", async () => {
  const whole = aroundPage(page, 50, list);
  expect(whole.count).toBe(100);
  expect(whole.at(50)?.id).toBe("a50");
  expect(whole.indexOf("a74")).toBe(74);
  // The page itself is there already; its neighbours are read on demand.
  expect(whole.at(75)).toBeUndefined();
  whole.want(70, 90);
  await until("the next are there", () => whole.at(75)?.id === "a75");
  expect(asked).toEqual([60]);
  expect(whole.indexOf("a80")).toBe(80);
  expect(whole.indexOf("nobody")).toBe(-1);
});

it("a list that nobody counts ends with its page", () => {
  expect(aroundPage({ ...page, total: undefined }, 50, list).count).toBe(75);
});
