import fc from "fast-check";
import { afterEach, describe, expect, it, test, vi } from "vitest";
import { formatBytes, parseTags } from "@/lib/shared/text";

describe("formatted sizes", () => {
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
  ])("writes %d bytes as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it("formats in the chosen language", () => {
    expect(formatBytes(4_200_000, "de")).toBe("4,2 MB");
  });

  it("never throws and never writes NaN", () => {
    fc.assert(fc.property(fc.double(), (value) => void expect(formatBytes(value)).not.toContain("NaN")));
  });
});

it.each([
  ["campaign hero, approved", ["campaign hero", "approved"]],
  [" a ,, b\na，ｂ ", ["a", "b", "ｂ"]],
  [" , \n", []],
])("%j is the tags %j", (text, tags) => {
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
  ])("starts a request below %j with %j once", async (basePath, begins) => {
    vi.stubEnv("NEXT_PUBLIC_LIGHTDESK_BASE_PATH", basePath);
    vi.resetModules();
    const { apiPath, createThumbnailUrl, toShownPictureUrl, createViewUrl, withQuery } = await import("@/lib/browser/urls");
    expect(apiPath("/api/jobs")).toBe(`${begins}/api/jobs`);
    expect(createViewUrl({ filename: "a b.png" })).toBe(`${begins}/api/view?filename=a+b.png`);
    expect(toShownPictureUrl(createViewUrl({ filename: "a b.png" }))).toBe(`${begins}/api/console/thumbnail?whole=true&filename=a+b.png`);
    expect(createThumbnailUrl({ asset: "one", edge: 128 })).toBe(`${begins}/api/console/thumbnail?asset=one&edge=128`);
    expect(withQuery("/jobs", { status: "failed" })).toBe("/jobs?status=failed");
  });
});
