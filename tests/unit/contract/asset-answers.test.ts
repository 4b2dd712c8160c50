import { describe, expect, it } from "vitest";
import {
  maskUploadFieldsSchema,
  userdataListSchema,
  userdataQuerySchema,
  userdataWriteAnswerSchema,
} from "@/lib/contract/operations/files";
import { userSchema } from "@/lib/contract/operations/service";
import {
  assetEditBodySchema,
  assetsAnswerSchema,
  assetSchema,
  assetsQuerySchema,
  downloadBodySchema,
  fromHashBodySchema,
  tagChangeSchema,
  tagsBodySchema,
  taskSchema,
  taskStartedSchema,
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

describe("an asset", () => {
  it("has its hash and its job under either name", () => {
    expect(assetSchema.parse({ ...asset, asset_hash: hash, prompt_id: "j" })).toMatchObject({ asset_hash: hash, prompt_id: "j" });
    expect(assetSchema.parse({ ...asset, hash, job_id: "j" })).toMatchObject({ asset_hash: hash, prompt_id: "j" });
    expect(assetSchema.parse({ ...asset, asset_hash: null, hash })).toMatchObject({ asset_hash: hash });
  });

  it("may lack anything but its id", () => {
    expect(assetSchema.parse({ id: "7c1b", name: null, tags: null, size: null })).toMatchObject({ id: "7c1b", name: "", tags: [] });
    expect(assetSchema.safeParse({ name: "cat.png" }).success).toBe(false);
  });

  it("keeps fields that nobody knows", () => {
    expect(assetSchema.parse({ ...asset, short_url: "x", loader_path: "y" })).toMatchObject({ short_url: "x", loader_path: "y" });
  });

  it("comes in lists with or without a total", () => {
    expect(assetsAnswerSchema.parse({ assets: [asset], total: 1, has_more: false, next_cursor: null }).assets).toHaveLength(1);
    expect(assetsAnswerSchema.safeParse({ assets: null }).success).toBe(false);
  });
});

describe("the query of the assets list", () => {
  it("has the interface's defaults", () => {
    expect(assetsQuerySchema.parse({})).toEqual({ limit: 20, offset: 0, sort: "created_at", order: "desc", include_public: true });
  });

  it("reads tags, booleans and a metadata filter from texts", () => {
    const query = assetsQuerySchema.parse({
      include_tags: "input,cats",
      include_public: "False",
      metadata_filter: '{"a":1}',
      limit: "500",
    });
    expect(query).toMatchObject({ include_tags: ["input", "cats"], include_public: false, metadata_filter: '{"a":1}', limit: 500 });
  });

  it.each([
    ["limit", "501"],
    ["limit", "0"],
    ["offset", "-1"],
    ["sort", "colour"],
    ["order", "random"],
    ["include_public", "perhaps"],
    ["metadata_filter", "[1]"],
    ["metadata_filter", "{"],
    ["include_tags", Array.from({ length: 101 }, String).join(",")],
  ])("refuses %s=%s and names it", (name, value) => {
    const issue = assetsQuerySchema.safeParse({ [name]: value }).error?.issues[0];
    expect(issue?.path[0]).toBe(name);
    expect(issue?.message).not.toBe("Invalid input");
  });
});

describe("bodies that create or change an asset", () => {
  it.each([hash, `sha256:${"f".repeat(64)}`])("from-hash takes %s", (value) => {
    expect(fromHashBodySchema.safeParse({ hash: value, tags: ["a"] }).success).toBe(true);
  });

  it.each([
    ["hash", { hash: "0a".repeat(32), tags: ["a"] }],
    ["hash", { hash: "md5:abc", tags: ["a"] }],
    ["hash", { hash: hash.toUpperCase(), tags: ["a"] }],
    ["tags", { hash, tags: [] }],
    ["tags", { hash }],
    ["tags", { hash, tags: [""] }],
    ["user_metadata", { hash, tags: ["a"], user_metadata: "x" }],
  ])("from-hash names the field %s that is wrong in %j", (field, body) => {
    expect(fromHashBodySchema.safeParse(body).error?.issues[0]?.path[0]).toBe(field);
  });

  it("takes any UUID as the id of a preview, and nothing else", () => {
    const source_url = "https://huggingface.co/a/b";
    expect(downloadBodySchema.safeParse({ source_url, preview_id: "11111111-1111-1111-1111-111111111111" }).success).toBe(true);
    expect(downloadBodySchema.safeParse({ source_url, preview_id: "x" }).error?.issues[0]?.path[0]).toBe("preview_id");
    expect(downloadBodySchema.safeParse({}).error?.issues[0]?.path[0]).toBe("source_url");
  });

  it("refuses an edit that changes nothing and tags that are none", () => {
    expect(assetEditBodySchema.safeParse({ colour: "red" }).success).toBe(false);
    expect(assetEditBodySchema.safeParse({ name: "x" }).success).toBe(true);
    expect(tagsBodySchema.safeParse({ tags: [] }).success).toBe(false);
  });
});

describe("smaller answers", () => {
  it("a change of tags may carry the total alone", () => {
    expect(tagChangeSchema.parse({ total_tags: ["input"], removed: null })).toEqual({
      total_tags: ["input"],
      added: [],
      removed: [],
      already_present: [],
      not_present: [],
    });
  });

  it("a task is read with nulls, unknown states and a free result", () => {
    const task = taskSchema.parse({
      id: "t",
      status: "paused",
      started_at: null,
      result: { success: true, asset_id: "7c1b" },
      payload: {},
    });
    expect(task).toMatchObject({ status: "paused", result: { success: true, asset_id: "7c1b" } });
    expect(taskStartedSchema.parse({ task_id: "t", status: "created" }).task_id).toBe("t");
  });

  it("a user may have a status of tomorrow, and an id", () => {
    expect(userSchema.parse({ id: "u", status: "sleeping" })).toEqual({ id: "u", status: "sleeping" });
  });

  it("user files are read as objects and as bare names, with times of both kinds", () => {
    const full = { path: "a.json", size: 1, modified: 1767225600000 };
    expect(userdataListSchema.parse([full, "b.json", { path: "c", modified: "2026-01-01T00:00:00Z" }]).map((file) => file.path)).toEqual([
      "a.json",
      "b.json",
      "c",
    ]);
    expect(userdataWriteAnswerSchema.parse("workflows/a.json").path).toBe("workflows/a.json");
  });

  it("a folder of user files must end with a slash", () => {
    expect(userdataQuerySchema.parse({ dir: "workflows/" }).dir).toBe("workflows/");
    expect(userdataQuerySchema.safeParse({ dir: "workflows" }).error?.issues[0]?.path).toEqual(["dir"]);
    expect(userdataQuerySchema.safeParse({}).error?.issues[0]?.path).toEqual(["dir"]);
  });

  it("the original of a mask is named in JSON text", () => {
    expect(maskUploadFieldsSchema.safeParse({ original_ref: '{"filename":"cat.png","subfolder":null}' }).success).toBe(true);
    for (const original_ref of ["cat.png", "{}", "[]", '{"filename":""}', undefined]) {
      expect(maskUploadFieldsSchema.safeParse({ original_ref }).error?.issues[0]?.path).toEqual(["original_ref"]);
    }
  });

  it("one odd node does not make a catalogue unreadable", () => {
    const known = { input: { required: { width: ["INT", { default: 512 }] } }, output: ["IMAGE"], output_node: false, deprecated: true };
    const info = objectInfoSchema.parse({ EmptyImage: known, Odd: "?", Odder: { input: [], output: "IMAGE", name: 7 } });
    expect(info.EmptyImage).toEqual(known);
    expect(Object.keys(info)).toEqual(["EmptyImage", "Odd", "Odder"]);
  });
});
