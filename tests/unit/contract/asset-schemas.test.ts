import { describe, expect, it } from "vitest";
import { countSkipped } from "@/lib/contract/json/readers";
import {
  maskUploadFieldsSchema,
  userdataListSchema,
  userdataQuerySchema,
  userdataWriteResponseSchema,
} from "@/lib/contract/operations/files";
import { userSchema } from "@/lib/contract/operations/service";
import {
  assetEditBodySchema,
  assetSchema,
  assetsResponseSchema,
  createdAssetSchema,
  downloadBodySchema,
  fromHashBodySchema,
  refineResponseSchema,
  tagChangeSchema,
  tagsBodySchema,
  taskSchema,
} from "@/lib/contract/schemas/asset";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";

const hash = `blake3:${"0a".repeat(32)}`;
const asset = {
  id: "7c1b",
  name: "cat.png",
  size: 51234,
  tags: ["input"],
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
};

describe("asset", () => {
  it("returns the hash and the job id under both names when a service sends one", () => {
    const both = { asset_hash: hash, hash, prompt_id: "j", job_id: "j" };
    expect(assetSchema.parse({ ...asset, asset_hash: hash, prompt_id: "j" })).toMatchObject(both);
    expect(createdAssetSchema.parse({ ...asset, asset_hash: null, hash, job_id: "j" })).toMatchObject(both);
  });

  it("requires only an id and keeps unknown fields", () => {
    const sparseAsset = { id: "7c1b", name: null, tags: null, size: null, short_url: "x" };
    expect(assetSchema.parse(sparseAsset)).toMatchObject({ id: "7c1b", name: "", tags: [], short_url: "x" });
    expect(assetSchema.safeParse({ name: "cat.png" }).success).toBe(false);
  });

  it("accepts a list with a total and rejects one without assets", () => {
    expect(assetsResponseSchema.parse({ assets: [asset], total: 1, has_more: false, next_cursor: null }).assets).toHaveLength(1);
    expect(assetsResponseSchema.safeParse({ assets: null }).success).toBe(false);
  });

  it("skips and counts the rest of a list or map after 1,000 unreadable entries", () => {
    const values = [asset, ...Array<object>(1000).fill({}), asset];
    const { assets } = assetsResponseSchema.parse({ assets: values, total: 1, has_more: false });
    expect([assets.length, countSkipped(assets)]).toEqual([1, 1001]);
    const counts = Object.fromEntries(values.map((value, index) => [`tag-${index}`, value === asset ? 1 : {}]));
    const { tag_counts } = refineResponseSchema.parse({ tag_counts: counts });
    expect([Object.keys(tag_counts), countSkipped(tag_counts)]).toEqual([["tag-0"], 1001]);
  });
});

describe("asset request bodies", () => {
  it.each([
    ["hash", { hash: "0a".repeat(32), tags: ["a"] }],
    ["hash", { hash: hash.toUpperCase(), tags: ["a"] }],
    ["tags", { hash, tags: [] }],
    ["tags", { hash, tags: [""] }],
    ["user_metadata", { hash, tags: ["a"], user_metadata: "x" }],
  ])("reports the invalid field %s of %j in from-hash", (field, body) => {
    expect(fromHashBodySchema.safeParse(body).error?.issues[0]?.path[0]).toBe(field);
  });

  it("accepts any UUID as a preview id and nothing else", () => {
    const source_url = "https://huggingface.co/a/b";
    expect(downloadBodySchema.safeParse({ source_url, preview_id: "11111111-1111-1111-1111-111111111111" }).success).toBe(true);
    expect(downloadBodySchema.safeParse({ source_url, preview_id: "x" }).error?.issues[0]?.path[0]).toBe("preview_id");
    expect(downloadBodySchema.safeParse({}).error?.issues[0]?.path[0]).toBe("source_url");
  });

  it("rejects edits without known fields and empty tags", () => {
    expect(assetEditBodySchema.safeParse({ colour: "red" }).success).toBe(false);
    expect(assetEditBodySchema.safeParse({ name: "x" }).success).toBe(true);
    expect(tagsBodySchema.safeParse({ tags: [] }).success).toBe(false);
  });
});

describe("other schemas", () => {
  it("accepts a tag change that has only the total", () => {
    expect(tagChangeSchema.parse({ total_tags: ["input"], removed: null })).toEqual({
      total_tags: ["input"],
      added: [],
      removed: [],
      already_present: [],
      not_present: [],
    });
  });

  it("accepts a task with nulls, an unknown status and any result", () => {
    const task = { id: "t", status: "paused", started_at: null, result: { success: true, asset_id: "7c1b" }, payload: {} };
    expect(taskSchema.parse(task)).toMatchObject({ status: "paused", result: { success: true, asset_id: "7c1b" } });
  });

  it("accepts a user with an unknown status and an id", () => {
    expect(userSchema.parse({ id: "u", status: "sleeping" })).toEqual({ id: "u", status: "sleeping" });
  });

  it("accepts user files as objects or names, with both time formats", () => {
    const full = { path: "a.json", size: 1, modified: 1767225600000 };
    expect(userdataListSchema.parse([full, "b.json", { path: "c", modified: "2026-01-01T00:00:00Z" }]).map((file) => file.path)).toEqual([
      "a.json",
      "b.json",
      "c",
    ]);
    expect(userdataWriteResponseSchema.parse("workflows/a.json").path).toBe("workflows/a.json");
  });

  it("requires a trailing slash in a user file folder", () => {
    expect(userdataQuerySchema.parse({ dir: "workflows/" }).dir).toBe("workflows/");
    expect(userdataQuerySchema.safeParse({ dir: "workflows" }).error?.issues[0]?.path).toEqual(["dir"]);
    expect(userdataQuerySchema.safeParse({}).error?.issues[0]?.path).toEqual(["dir"]);
  });

  it("requires the original of a mask as JSON", () => {
    expect(maskUploadFieldsSchema.safeParse({ original_ref: '{"filename":"cat.png","subfolder":null}' }).success).toBe(true);
    for (const original_ref of ["cat.png", "{}", "[]", '{"filename":""}', undefined]) {
      expect(maskUploadFieldsSchema.safeParse({ original_ref }).error?.issues[0]?.path).toEqual(["original_ref"]);
    }
  });

  it("accepts a catalogue with a malformed node", () => {
    const nodeInfo = { input: { required: { width: ["INT", { default: 512 }] } }, output: ["IMAGE"], output_node: false, deprecated: true };
    const info = objectInfoSchema.parse({ EmptyImage: nodeInfo, Odd: "?", Odder: { input: [], output: "IMAGE", name: 7 } });
    expect(info.EmptyImage).toEqual(nodeInfo);
    expect(Object.keys(info)).toEqual(["EmptyImage", "Odd", "Odder"]);
  });
});
