import { describe, expect, it, vi } from "vitest";
import { parseAssetsQuery } from "@/app/(console)/params";
import {
  emptyFilters,
  getAssetsApiPath,
  getAssetsHref,
  getTagState,
  getVisibleTags,
  isFiltered,
  toAssetPage,
  withNextTagState,
} from "@/components/assets/assets-urls";
import { findSameContent, type ReadSorted } from "@/components/assets/detail/asset-facts";
import { createChunkStore } from "@/components/assets/gallery/chunk-store";
import { getNextTileIndex } from "@/components/assets/gallery/use-asset-selection";
import { combinePageWithList } from "@/components/assets/gallery/use-assets-source";
import { assetsResponseSchema } from "@/lib/contract/schemas/asset";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";
import { until } from "@/tests/support/until";
import { createAsset, createAssetsSource } from "./assets-source";

const { query: defaultQuery } = parseAssetsQuery({});

function roundTrip(href: string) {
  return parseAssetsQuery(Object.fromEntries(new URL(href, "http://x").searchParams)).query;
}

describe("Assets page URL", () => {
  it("has no parameters for the default view", () => {
    expect(getAssetsHref(defaultQuery)).toBe("/assets");
    expect(defaultQuery).toMatchObject({ limit: 60, offset: 0, sort: "created_at", order: "desc", include_public: true });
  });

  it("restores every filter from the URL", () => {
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
    expect(roundTrip(getAssetsHref(query))).toEqual(query);
  });

  it("excludes mask layers by default and shows a tag for it", () => {
    expect(defaultQuery.exclude_tags).toEqual(["mask-layer"]);
    expect(getVisibleTags(defaultQuery)).toContain("mask-layer");
    expect(isFiltered(defaultQuery)).toBe(false);
    const withMaskLayers = { ...defaultQuery, ...withNextTagState(defaultQuery, "mask-layer") };
    expect(getAssetsHref(withMaskLayers)).toBe("/assets?layers=shown");
    expect(roundTrip(getAssetsHref(withMaskLayers)).exclude_tags ?? []).toEqual([]);
    const maskLayersOnly = parseAssetsQuery({ include_tags: "mask-layer" }).query;
    expect(maskLayersOnly).toMatchObject({ include_tags: ["mask-layer"] });
    expect(maskLayersOnly.exclude_tags).toBeUndefined();
    expect(parseAssetsQuery({ layers: "some" }).ignored).toEqual(["layers=some"]);
  });

  it("contains the connection and the open asset", () => {
    expect(getAssetsHref(defaultQuery, { connection: "c1", asset: "a/1" })).toBe("/assets?connection=c1&asset=a%2F1");
  });

  it("uses defaults for invalid values and reports them", () => {
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

  it("sends every value explicitly to the API", () => {
    expect(getAssetsApiPath(defaultQuery, "c1")).toBe(
      "/api/assets?limit=60&offset=0&sort=created_at&order=desc&include_public=true&exclude_tags=mask-layer&connection=c1",
    );
  });
});

describe("tag filter", () => {
  it("cycles from any to include to exclude", () => {
    const included = { ...defaultQuery, ...withNextTagState(defaultQuery, "temp") };
    expect(getTagState(included, "temp")).toBe("include");
    const excluded = { ...included, ...withNextTagState(included, "temp") };
    expect(getTagState(excluded, "temp")).toBe("exclude");
    expect(getTagState({ ...excluded, ...withNextTagState(excluded, "temp") }, "temp")).toBe("any");
  });

  it("keeps the other tags and shows tags that filter", () => {
    const query = { ...defaultQuery, include_tags: ["campaign"], exclude_tags: ["temp"] };
    expect(withNextTagState(query, "output")).toEqual({ include_tags: ["campaign", "output"], exclude_tags: ["temp"] });
    expect(getVisibleTags(query)).toEqual(["output", "input", "temp", "campaign"]);
  });

  it("counts as a filter and is removed on reset, which keeps the order", () => {
    const query = { ...defaultQuery, include_tags: ["x"], sort: "name" as const };
    expect(isFiltered(query)).toBe(true);
    expect(isFiltered({ ...query, ...emptyFilters })).toBe(false);
    expect(getAssetsHref({ ...query, ...emptyFilters })).toBe("/assets?sort=name");
  });
});

describe("asset page", () => {
  it("parses a response that has only the required fields", () => {
    const response = assetsResponseSchema.parse({ assets: [{ id: "a", name: "a.png", tags: ["output"], job_id: "j" }] });
    expect(toAssetPage(response).assets[0]).toMatchObject({ id: "a", kind: "image", jobId: "j", immutable: false });
    expect(toAssetPage(response)).not.toHaveProperty("total");
  });
});

describe("gallery keys", () => {
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
  ])("moves with %s from tile %i to tile %i", (key, from, to) => {
    expect(getNextTileIndex(key, from, gallery)).toBe(to);
  });

  it("ignores other keys and keys pressed outside tiles", () => {
    expect(getNextTileIndex("Enter", 0, gallery)).toBeUndefined();
    expect(getNextTileIndex(" ", 0, gallery)).toBeUndefined();
    expect(getNextTileIndex("ArrowDown", -1, gallery)).toBeUndefined();
  });
});

const allAssets = Array.from({ length: 100 }, (_, index) => createAsset(`a${index}`));
const offsets: number[] = [];
const store = createChunkStore(
  async ({ offset, limit }) => {
    offsets.push(offset);
    return ok({ assets: allAssets.slice(offset, offset + limit), total: allAssets.length });
  },
  { hidesNewRows: false },
);
const list = createAssetsSource([], { ...store, version: 0, count: store.getCount(), total: undefined });
/** The third page of 25. */
const rows = allAssets.slice(50, 75);
const page = { count: 25, total: 100, at: (index: number) => rows[index], indexOf: (id: string) => rows.findIndex((row) => row.id === id) };

it("loads rows beyond the page by absolute index", async () => {
  const assetsSource = combinePageWithList(page, 50, list);
  expect(assetsSource.count).toBe(100);
  expect(assetsSource.at(50)?.id).toBe("a50");
  expect(assetsSource.indexOf("a74")).toBe(74);
  // The page is already loaded. Rows around it are read on demand.
  expect(assetsSource.at(75)).toBeUndefined();
  assetsSource.request(70, 90);
  await until("the next rows are loaded", () => assetsSource.at(75)?.id === "a75");
  expect(offsets).toEqual([60]);
  expect(assetsSource.indexOf("a80")).toBe(80);
  expect(assetsSource.indexOf("missing")).toBe(-1);
});

it("ends the list with its page when the total is unknown", () => {
  expect(combinePageWithList({ ...page, total: undefined }, 50, list).count).toBe(75);
});

describe("same content search", () => {
  const asset = (id: string, sizeBytes: number | undefined, hash: string) =>
    createAsset(id, { hash, ...(sizeBytes !== undefined && { sizeBytes }) });

  const createAssetList = (assets: readonly AssetView[]) =>
    vi.fn<ReadSorted>(async ({ offset, limit }) => ok({ assets: assets.slice(offset, offset + limit), total: assets.length }));

  it("finds assets among 100,000 in fewer than 25 requests", async () => {
    const manyAssets = Array.from({ length: 100_000 }, (_, at) =>
      asset(`a${at}`, 1000 + Math.floor(at / 5), at % 5 < 2 ? `h${Math.floor(at / 5)}` : `x${at}`),
    );
    const readPage = createAssetList(manyAssets);
    const sameContentResult = await findSameContent(manyAssets[50_000] ?? asset("", 0, ""), readPage);
    expect(sameContentResult).toMatchObject({ ok: true, value: { kind: "all", assets: [{ id: "a50001" }] } });
    expect(readPage.mock.calls.length).toBeLessThan(25);
  });

  it("returns an empty list when no other asset has the same hash", async () => {
    const readPage = createAssetList([asset("a", 1, "h1"), asset("b", 2, "h2"), asset("c", 2, "h3")]);
    expect(await findSameContent(asset("b", 2, "h2"), readPage)).toEqual(ok({ kind: "all", assets: [] }));
  });

  it("returns a minimum count when too many assets have the same size", async () => {
    const readPage = createAssetList(Array.from({ length: 5_000 }, (_, at) => asset(`a${at}`, 7, "h")));
    const sameContentResult = await findSameContent(asset("a0", 7, "h"), readPage);
    expect(sameContentResult.ok && sameContentResult.value.kind).toBe("atLeast");
  });

  it.each([
    ["the asset has no size", asset("a", undefined, "h"), 1],
    ["the list has no total", asset("a", 1, "h"), undefined],
  ])("returns no result when %s", async (_why, asset, total) => {
    const readPage: ReadSorted = async () => ok({ assets: [asset], ...(total !== undefined && { total }) });
    expect(await findSameContent(asset, readPage)).toEqual(ok({ kind: "cannot" }));
  });

  it("returns the failure when the service refuses", async () => {
    const refusal = { code: "RATE_LIMITED", message: "", status: 429 };
    expect(await findSameContent(asset("a", 1, "h"), async () => failed(refusal))).toEqual(failed(refusal));
  });
});
