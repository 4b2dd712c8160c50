import { describe, expect, it } from "vitest";
import { findSameContent, type ReadSorted } from "@/components/assets/detail/same-content";
import { type AssetView } from "@/lib/contract/views/asset-view";
import { failed, ok } from "@/lib/shared/result";

const asset = (id: string, sizeBytes: number | undefined, hash: string): AssetView => ({
  ...{ id, name: id, kind: "image", tags: [], immutable: false, metadata: {}, hash },
  ...(sizeBytes !== undefined && { sizeBytes }),
});

function list(assets: readonly AssetView[], total: number | undefined = assets.length) {
  let asked = 0;
  const read: ReadSorted = async ({ offset, limit }) => {
    asked += 1;
    return ok({ assets: assets.slice(offset, offset + limit), ...(total !== undefined && { total }) });
  };
  return { read, asked: () => asked };
}

describe("other assets with the same content", () => {
  it("are found among a million by some twenty questions of one asset each", async () => {
    const many = Array.from({ length: 100_000 }, (_, at) =>
      asset(`a${at}`, 1000 + Math.floor(at / 5), at % 5 < 2 ? `h${Math.floor(at / 5)}` : `x${at}`),
    );
    const { read, asked } = list(many);
    const found = await findSameContent(many[50_000] ?? asset("", 0, ""), read);
    expect(found).toMatchObject({ ok: true, value: { kind: "all", others: [{ id: "a50001" }] } });
    expect(asked()).toBeLessThan(25);
  });

  it("are none where no other has the bytes", async () => {
    const { read } = list([asset("a", 1, "h1"), asset("b", 2, "h2"), asset("c", 2, "h3")]);
    expect(await findSameContent(asset("b", 2, "h2"), read)).toEqual(ok({ kind: "all", others: [] }));
  });

  it("are counted as at least so many where too many have one size to compare all", async () => {
    const { read } = list(Array.from({ length: 5_000 }, (_, at) => asset(`a${at}`, 7, "h")));
    const found = await findSameContent(asset("a0", 7, "h"), read);
    expect(found.ok && found.value.kind).toBe("atLeast");
  });

  it.each([
    ["the asset has no size", asset("a", undefined, "h"), [asset("a", undefined, "h")], 1],
    ["the list has no total", asset("a", 1, "h"), [asset("a", 1, "h")], undefined],
  ])("cannot be told where %s", async (_why, one, all, total) => {
    const read: ReadSorted = async ({ offset, limit }) =>
      ok({ assets: all.slice(offset, offset + limit), ...(total !== undefined && { total }) });
    expect(await findSameContent(one, read)).toEqual(ok({ kind: "cannot" }));
  });

  it("are not called none because the service refused", async () => {
    const refusal = { code: "RATE_LIMITED", message: "", status: 429 };
    expect(await findSameContent(asset("a", 1, "h"), async () => failed(refusal))).toEqual(failed(refusal));
  });
});
