import fc from "fast-check";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { formatBytes, parseTags } from "@/lib/shared/text";

describe("formatBytes", () => {
  it.each([
    [0, "0 bytes"],
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1 kB"],
    [51_234, "51.2 kB"],
    [812_345, "812 kB"],
    [999_949, "1 MB"],
    [4_200_000, "4.2 MB"],
    [2_132_650_982, "2.1 GB"],
    [-1, "–"],
    [Number.NaN, "–"],
  ])("formats %d bytes as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it("formats in the given language", () => {
    expect(formatBytes(4_200_000, "de")).toBe("4,2 MB");
  });

  it("never throws and never returns NaN", () => {
    fc.assert(fc.property(fc.double(), (value) => void expect(formatBytes(value)).not.toContain("NaN")));
  });
});

it.each([
  ["campaign hero, approved", ["campaign hero", "approved"]],
  [" a ,, b\na，ｂ ", ["a", "b", "ｂ"]],
  [" , \n", []],
])("parses %j into the tags %j", (text, tags) => {
  expect(parseTags(text)).toEqual(tags);
});

describe("urls", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  test.each([
    ["", ""],
    ["/desk", "/desk"],
  ])("adds the base path %j to each URL once, as %j", async (basePath, prefix) => {
    vi.stubEnv("NEXT_PUBLIC_LIGHTDESK_BASE_PATH", basePath);
    vi.resetModules();
    const { apiPath, createThumbnailUrl, toPreviewImageUrl, createViewUrl, withQuery } = await import("@/lib/browser/urls");
    expect(apiPath("/api/jobs")).toBe(`${prefix}/api/jobs`);
    expect(createViewUrl({ filename: "a b.png" })).toBe(`${prefix}/api/view?filename=a+b.png`);
    expect(toPreviewImageUrl(createViewUrl({ filename: "a b.png" }))).toBe(`${prefix}/api/console/thumbnail?whole=true&filename=a+b.png`);
    expect(createThumbnailUrl({ asset: "one", edge: 128 })).toBe(`${prefix}/api/console/thumbnail?asset=one&edge=128`);
    expect(withQuery(withQuery("/jobs", { status: "failed" }), { limit: 1 })).toBe("/jobs?status=failed&limit=1");
  });
});
