import { describe, expect, it } from "vitest";
import { parseAssetsQuery } from "@/app/(console)/params";
import {
  assetsApiPath,
  assetsHref,
  isFiltered,
  shownTags,
  tagState,
  toAssetPage,
  unfiltered,
  withNextTagState,
} from "@/components/assets/assets-address";
import { findSameContent, type ReadSorted } from "@/components/assets/detail/asset-facts";
import { type AssetsSource, createChunkStore } from "@/components/assets/gallery/chunk-store";
import { aroundPage } from "@/components/assets/gallery/use-endless";
import { nextTile } from "@/components/assets/gallery/use-picking";
import { assetsAnswerSchema } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";

const { query: defaultQuery } = parseAssetsQuery({});

function roundTrip(href: string) {
  return parseAssetsQuery(Object.fromEntries(new URL(href, "http://x").searchParams)).query;
}

describe("the address of the Assets page", () => {
  it("is short for the default view", () => {
    expect(assetsHref(defaultQuery)).toBe("/assets");
    expect(defaultQuery).toMatchObject({ limit: 60, offset: 0, sort: "created_at", order: "desc", include_public: true });
  });

  it("restores every filter that it was made from", () => {
    const query = {
      ...defaultQuery,
      name_contains: "hero & co, 100%",
      include_tags: ["output", "campaign q4"],
      exclude_tags: ["temp", "mask-layer"],
      include_public: false,
      sort: "size" as const,
      order: "asc" as const,
      limit: 20,
      offset: 40,
    };
    expect(roundTrip(assetsHref(query))).toEqual(query);
  });

  it("leaves mask layers out by default and shows that as a chip", () => {
    expect(defaultQuery.exclude_tags).toEqual(["mask-layer"]);
    expect(shownTags(defaultQuery)).toContain("mask-layer");
    expect(isFiltered(defaultQuery)).toBe(false);
    const all = { ...defaultQuery, ...withNextTagState(defaultQuery, "mask-layer") };
    expect(assetsHref(all)).toBe("/assets?layers=shown");
    expect(roundTrip(assetsHref(all)).exclude_tags ?? []).toEqual([]);
    const alone = parseAssetsQuery({ include_tags: "mask-layer" }).query;
    expect(alone).toMatchObject({ include_tags: ["mask-layer"] });
    expect(alone.exclude_tags).toBeUndefined();
    expect(parseAssetsQuery({ layers: "some" }).ignored).toEqual(["layers=some"]);
  });

  it("contains the connection and the open asset in addition to the filters", () => {
    expect(assetsHref(defaultQuery, { connection: "c1", asset: "a/1" })).toBe("/assets?connection=c1&asset=a%2F1");
  });

  it("falls back on invalid values, keeps the valid ones and names the bad", () => {
    const { query, ignored } = parseAssetsQuery({
      sort: "colour",
      limit: "9999",
      offset: "-1",
      name_contains: "hero",
      order: ["asc", "x"],
    });
    expect(query).toMatchObject({ sort: "created_at", limit: 60, offset: 0, name_contains: "hero" });
    expect(ignored.toSorted()).toEqual(["limit=9999", "offset=-1", "order=asc,x", "sort=colour"]);
  });

  it("sends every value explicitly", () => {
    expect(assetsApiPath(defaultQuery, "c1")).toBe(
      "/api/assets?limit=60&offset=0&sort=created_at&order=desc&include_public=true&exclude_tags=mask-layer&connection=c1",
    );
  });
});

describe("a tag", () => {
  it("cycles from any to only these to none of these", () => {
    const only = { ...defaultQuery, ...withNextTagState(defaultQuery, "temp") };
    expect(tagState(only, "temp")).toBe("include");
    const without = { ...only, ...withNextTagState(only, "temp") };
    expect(tagState(without, "temp")).toBe("exclude");
    expect(tagState({ ...without, ...withNextTagState(without, "temp") }, "temp")).toBe("any");
  });

  it("keeps the other tags and is shown while it filters", () => {
    const query = { ...defaultQuery, include_tags: ["campaign"], exclude_tags: ["temp"] };
    expect(withNextTagState(query, "output")).toEqual({ include_tags: ["campaign", "output"], exclude_tags: ["temp"] });
    expect(shownTags(query)).toEqual(["output", "input", "temp", "campaign"]);
  });

  it("counts as a filter, and resetting forgets it but not the order", () => {
    const query = { ...defaultQuery, include_tags: ["x"], sort: "name" as const };
    expect(isFiltered(query)).toBe(true);
    expect(isFiltered({ ...query, ...unfiltered })).toBe(false);
    expect(assetsHref({ ...query, ...unfiltered })).toBe("/assets?sort=name");
  });
});

describe("a page of assets", () => {
  it("is parsed from a response with only guaranteed fields", () => {
    const response = assetsAnswerSchema.parse({ assets: [{ id: "a", name: "a.png", tags: ["output"], job_id: "j" }] });
    expect(toAssetPage(response).assets[0]).toMatchObject({ id: "a", kind: "image", jobId: "j", immutable: false });
    expect(toAssetPage(response)).not.toHaveProperty("total");
  });
});

describe("keys in the gallery", () => {
  // Two full rows of three and one picture in the last row.
  const gallery = { count: 7, columns: 3, rowsInView: 2 };

  it.each([
    ["ArrowRight", 0, 1],
    ["j", 2, 3],
    ["ArrowLeft", 0, 0],
    ["k", 3, 2],
    ["ArrowDown", 1, 4],
    ["ArrowDown", 4, 6],
    ["ArrowDown", 6, 6],
    ["ArrowDown", 3, 6],
    ["ArrowUp", 6, 3],
    ["ArrowUp", 1, 1],
    ["PageDown", 0, 6],
    ["PageUp", 6, 0],
    ["PageUp", 4, 1],
    ["Home", 5, 0],
    ["End", 0, 6],
  ])("%s leads from tile %i to tile %i", (key, from, to) => {
    expect(nextTile(key, from, gallery)).toBe(to);
  });

  it("ignores other keys and keys outside tiles", () => {
    expect(nextTile("Enter", 0, gallery)).toBeUndefined();
    expect(nextTile(" ", 0, gallery)).toBeUndefined();
    expect(nextTile("ArrowDown", -1, gallery)).toBeUndefined();
  });
});

const all = Array.from({ length: 100 }, (_, index): AssetView => {
  const id = `a${index}`;
  return { id, name: `${id}.png`, kind: "image", tags: [], immutable: false, metadata: {} };
});
const offsets: number[] = [];
const store = createChunkStore(
  async ({ offset, limit }) => {
    offsets.push(offset);
    return ok({ assets: all.slice(offset, offset + limit), total: all.length });
  },
  { leads: false },
);
const list: AssetsSource = {
  ...{ version: 0, count: store.count(), total: undefined, newCount: 0, failure: undefined, atMs: undefined, offset: 0 },
  ...{ at: store.at, indexOf: store.indexOf, rows: store.rows, request: store.request, patch: store.patch, refresh: store.refresh },
  range: async (from, to) => all.slice(from, to),
  isEmpty: true,
};
/** The third page of 25. */
const rows = all.slice(50, 75);
const page = { count: 25, total: 100, at: (index: number) => rows[index], indexOf: (id: string) => rows.findIndex((row) => row.id === id) };

it("continues beyond the page with absolute numbers", async () => {
  const assetsSource = aroundPage(page, 50, list);
  expect(assetsSource.count).toBe(100);
  expect(assetsSource.at(50)?.id).toBe("a50");
  expect(assetsSource.indexOf("a74")).toBe(74);
  // The page is already loaded; its neighbours are read on demand.
  expect(assetsSource.at(75)).toBeUndefined();
  assetsSource.request(70, 90);
  await until("the next are there", () => assetsSource.at(75)?.id === "a75");
  expect(offsets).toEqual([60]);
  expect(assetsSource.indexOf("a80")).toBe(80);
  expect(assetsSource.indexOf("nobody")).toBe(-1);
});

it("ends an uncounted list with its page", () => {
  expect(aroundPage({ ...page, total: undefined }, 50, list).count).toBe(75);
});

describe("find same content", () => {
  const asset = (id: string, sizeBytes: number | undefined, hash: string): AssetView => ({
    ...{ id, name: id, kind: "image", tags: [], immutable: false, metadata: {}, hash },
    ...(sizeBytes !== undefined && { sizeBytes }),
  });

  function list(assets: readonly AssetView[], total: number | undefined = assets.length) {
    let requestCount = 0;
    const readPage: ReadSorted = async ({ offset, limit }) => {
      requestCount += 1;
      return ok({ assets: assets.slice(offset, offset + limit), ...(total !== undefined && { total }) });
    };
    return { read: readPage, countRequests: () => requestCount };
  }

  describe("other assets with the same content", () => {
    it("are found among a million in about twenty requests", async () => {
      const manyAssets = Array.from({ length: 100_000 }, (_, at) =>
        asset(`a${at}`, 1000 + Math.floor(at / 5), at % 5 < 2 ? `h${Math.floor(at / 5)}` : `x${at}`),
      );
      const { read: readPage, countRequests } = list(manyAssets);
      const sameContentResult = await findSameContent(manyAssets[50_000] ?? asset("", 0, ""), readPage);
      expect(sameContentResult).toMatchObject({ ok: true, value: { kind: "all", assets: [{ id: "a50001" }] } });
      expect(countRequests()).toBeLessThan(25);
    });

    it("are empty when no other asset has the bytes", async () => {
      const { read: readPage } = list([asset("a", 1, "h1"), asset("b", 2, "h2"), asset("c", 2, "h3")]);
      expect(await findSameContent(asset("b", 2, "h2"), readPage)).toEqual(ok({ kind: "all", assets: [] }));
    });

    it("are counted as a minimum when too many have the same size", async () => {
      const { read: readPage } = list(Array.from({ length: 5_000 }, (_, at) => asset(`a${at}`, 7, "h")));
      const sameContentResult = await findSameContent(asset("a0", 7, "h"), readPage);
      expect(sameContentResult.ok && sameContentResult.value.kind).toBe("atLeast");
    });

    it.each([
      ["the asset has no size", asset("a", undefined, "h"), [asset("a", undefined, "h")], 1],
      ["the list has no total", asset("a", 1, "h"), [asset("a", 1, "h")], undefined],
    ])("is unavailable where %s", async (_why, asset, all, total) => {
      const readPage: ReadSorted = async ({ offset, limit }) =>
        ok({ assets: all.slice(offset, offset + limit), ...(total !== undefined && { total }) });
      expect(await findSameContent(asset, readPage)).toEqual(ok({ kind: "cannot" }));
    });

    it("are not reported as none because the service refused", async () => {
      const refusal = { code: "RATE_LIMITED", message: "", status: 429 };
      expect(await findSameContent(asset("a", 1, "h"), async () => failed(refusal))).toEqual(failed(refusal));
    });
  });
});
