import { afterEach, expect, test, vi } from "vitest";
import { createRunApi } from "@/components/run/run-actions";

afterEach(() => vi.unstubAllGlobals());

const digits = "ab".repeat(32);
const content = `${digits}.png`;

/** A console whose service answers with this `disposition` and lists these assets. */
function desk({ disposition, status = 206, assets = [] }: { disposition?: string; status?: number; assets?: object[] }) {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string) => {
    asked.push(path);
    if (!path.startsWith("/api/view")) return Response.json({ assets, total: assets.length });
    return new Response("x", { status, headers: disposition === undefined ? {} : { "content-disposition": disposition } });
  });
  return { asked, storedName: createRunApi({ id: "c1" }).storedName };
}

test.each([
  [`inline; filename="h__ro.png"; filename*=UTF-8''h%C3%A9%20ro.png`, "hé ro.png"],
  [`inline; filename="hero.png"`, "hero.png"],
  [`inline; filename=hero.png`, "hero.png"],
  [`inline; filename*=UTF-8''%E0%A4%A; filename="hero.png"`, "hero.png"],
])("what the bytes are handed over as (%s) is the name of a picture", async (disposition, name) => {
  const { asked, storedName } = desk({ disposition });
  expect(await storedName(content)).toBe(name);
  expect(asked).toEqual([`/api/view?filename=${content}&type=input&connection=c1`]);
});

test("a service that hands bytes over by their hash is asked for the newest assets, and one of that content says its name", async () => {
  const assets = [
    { id: "1", name: "other.png", asset_hash: `blake3:${"cd".repeat(32)}` },
    { id: "2", name: "hero.png", asset_hash: `blake3:${digits}` },
  ];
  for (const disposition of [undefined, `inline; filename="${content}"`])
    expect(await desk({ disposition, assets }).storedName(content)).toBe("hero.png");
  expect(await desk({ assets: assets.slice(0, 1) }).storedName(content)).toBeUndefined();
});

test("a picture that is gone has no name, and nothing is listed for it", async () => {
  const { asked, storedName } = desk({ status: 404 });
  expect(await storedName(content)).toBeUndefined();
  expect(asked).toHaveLength(1);
});
