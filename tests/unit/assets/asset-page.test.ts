import { describe, expect, it } from "vitest";
import { toAssetPage } from "@/components/assets/assets-address";
import { nextTile } from "@/components/assets/wall/use-tile-keys";
import { assetsAnswerSchema } from "@/lib/contract/schemas/asset";

describe("a page of assets", () => {
  it("is read from an answer with only what the interface promises", () => {
    const answer = assetsAnswerSchema.parse({ assets: [{ id: "a", name: "a.png", tags: ["output"], job_id: "j" }] });
    expect(toAssetPage(answer).assets[0]).toMatchObject({ id: "a", kind: "image", jobId: "j", immutable: false });
    expect(toAssetPage(answer)).not.toHaveProperty("total");
  });
});

describe("keys in the wall", () => {
  // Two full rows of three and one picture in the last row.
  const wall = { count: 7, columns: 3, rowsInView: 2 };

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
    expect(nextTile(key, from, wall)).toBe(to);
  });

  it("other keys, and keys from nowhere, are not taken", () => {
    expect(nextTile("Enter", 0, wall)).toBeUndefined();
    expect(nextTile(" ", 0, wall)).toBeUndefined();
    expect(nextTile("ArrowDown", -1, wall)).toBeUndefined();
  });
});
