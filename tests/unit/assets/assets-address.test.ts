import { describe, expect, it } from "vitest";
import { parseAssetsQuery } from "@/app/(console)/assets/assets-query";
import {
  assetsApiPath,
  assetsHref,
  isFiltered,
  shownTags,
  tagState,
  unfiltered,
  withNextTagState,
} from "@/components/assets/assets-address";

const { query: usual } = parseAssetsQuery({});

function roundTrip(href: string) {
  return parseAssetsQuery(Object.fromEntries(new URL(href, "http://x").searchParams)).query;
}

describe("the address of the Assets page", () => {
  it("is short for the usual view", () => {
    expect(assetsHref(usual)).toBe("/assets");
    expect(usual).toMatchObject({ limit: 60, offset: 0, sort: "created_at", order: "desc", include_public: true });
  });

  it("brings back every filter that it was made from", () => {
    const query = {
      ...usual,
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

  it("leaves the layers of masks out until somebody asks for them, and says so in a chip", () => {
    expect(usual.exclude_tags).toEqual(["mask-layer"]);
    expect(shownTags(usual)).toContain("mask-layer");
    expect(isFiltered(usual)).toBe(false);
    const all = { ...usual, ...withNextTagState(usual, "mask-layer") };
    expect(assetsHref(all)).toBe("/assets?layers=shown");
    expect(roundTrip(assetsHref(all)).exclude_tags ?? []).toEqual([]);
    const alone = parseAssetsQuery({ include_tags: "mask-layer" }).query;
    expect(alone).toMatchObject({ include_tags: ["mask-layer"] });
    expect(alone.exclude_tags).toBeUndefined();
    expect(parseAssetsQuery({ layers: "some" }).ignored).toEqual(["layers=some"]);
  });

  it("names the connection and the open asset beside the filters", () => {
    expect(assetsHref(usual, { connection: "c1", asset: "a/1" })).toBe("/assets?connection=c1&asset=a%2F1");
  });

  it("with values that make no sense falls back, keeps the good ones, and names the bad ones", () => {
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

  it("asks the interface with every value spelled out", () => {
    expect(assetsApiPath(usual, "c1")).toBe(
      "/api/assets?limit=60&offset=0&sort=created_at&order=desc&include_public=true&exclude_tags=mask-layer&connection=c1",
    );
  });
});

describe("a tag", () => {
  it("goes from any, to only these, to none of these, and back", () => {
    const only = { ...usual, ...withNextTagState(usual, "temp") };
    expect(tagState(only, "temp")).toBe("include");
    const without = { ...only, ...withNextTagState(only, "temp") };
    expect(tagState(without, "temp")).toBe("exclude");
    expect(tagState({ ...without, ...withNextTagState(without, "temp") }, "temp")).toBe("any");
  });

  it("leaves the other tags alone, and is shown while it filters", () => {
    const query = { ...usual, include_tags: ["campaign"], exclude_tags: ["temp"] };
    expect(withNextTagState(query, "output")).toEqual({ include_tags: ["campaign", "output"], exclude_tags: ["temp"] });
    expect(shownTags(query)).toEqual(["output", "input", "temp", "campaign"]);
  });

  it("counts as a filter, and resetting forgets it but not the order", () => {
    const query = { ...usual, include_tags: ["x"], sort: "name" as const };
    expect(isFiltered(query)).toBe(true);
    expect(isFiltered({ ...query, ...unfiltered })).toBe(false);
    expect(assetsHref({ ...query, ...unfiltered })).toBe("/assets?sort=name");
  });
});
