import { afterEach, expect, test, vi } from "vitest";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.resetModules();
});

test.each([
  ["", ""],
  ["/desk", "/desk"],
])("below %j what a browser asks for begins with %j, once", async (basePath, begins) => {
  vi.stubEnv("NEXT_PUBLIC_LIGHTDESK_BASE_PATH", basePath);
  vi.resetModules();
  const { apiPath, thumbnailUrl, shownPictureUrl, viewUrl, withQuery } = await import("@/lib/browser/urls");
  expect(apiPath("/api/jobs")).toBe(`${begins}/api/jobs`);
  expect(viewUrl({ filename: "a b.png" })).toBe(`${begins}/api/view?filename=a+b.png`);
  expect(shownPictureUrl(viewUrl({ filename: "a b.png" }))).toBe(`${begins}/api/console/thumbnail?whole=true&filename=a+b.png`);
  expect(thumbnailUrl({ asset: "one", edge: 128 })).toBe(`${begins}/api/console/thumbnail?asset=one&edge=128`);
  expect(withQuery("/jobs", { status: "failed" })).toBe("/jobs?status=failed");
});
