import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { jobDetailSchema } from "@/lib/contract/schemas/job";
import { toAssetDetail, toAssetView } from "@/lib/contract/views/asset-view";
import { listOutputs, toPreviewView } from "@/lib/contract/views/outputs-view";
import { getWorkflowName } from "@/lib/contract/workflow/workflow-name";

const file = (filename: string, overrides: object = {}) => ({ filename, subfolder: "", type: "output", ...overrides });
/** Parsed from a job's details. */
const listViews = (outputs: unknown) => listOutputs(jobDetailSchema.parse({ id: "a", status: "completed", outputs }).outputs);
const kinds = (outputs: unknown) => listViews(outputs).map((output) => `${output.nodeId}/${output.key}/${output.index} ${output.kind}`);

describe("the outputs of a job", () => {
  it("are listed flat, in node order, with the kind of each", () => {
    const outputs = {
      "9": { images: [file("3ac9e1.png", { display_name: "cat_00001_.png" })] },
      "14": { images: [file("b1d077.mp4")], animated: [true] },
      "17": { gifs: [file("c01e.mp4", { format: "video/h264-mp4", frame_rate: 24 }), file("x.gif", { format: "image/gif" })] },
      "21": { audio: [file("aa02.flac", { subfolder: "audio" })] },
      "25": { "3d": [file("dd9f.glb")] },
      "30": { text: ["a cat on a mat", "two"] },
      "31": { latents: [file("l.latent")], files: [file("notes.md")], video: [file("v")] },
    };
    expect(kinds(outputs)).toEqual([
      "9/images/0 image",
      "14/images/0 video",
      "17/gifs/0 video",
      "17/gifs/1 image",
      "21/audio/0 audio",
      "25/3d/0 3d",
      "30/text/0 text",
      "30/text/1 text",
      "31/latents/0 file",
      "31/files/0 text",
      "31/video/0 video",
    ]);
  });

  it("contain what a page needs of a file", () => {
    const outputs = {
      "9": { images: [file("3ac9e1.webp", { display_name: "cat.webp", type: "temp", subfolder: "s", id: "asset" })], animated: [true] },
    };
    expect(listViews(outputs)).toEqual([
      {
        nodeId: "9",
        key: "images",
        index: 0,
        kind: "image",
        name: "cat.webp",
        file: { filename: "3ac9e1.webp", subfolder: "s", type: "temp" },
        animated: true,
        temporary: true,
        assetId: "asset",
      },
    ]);
  });

  it("read the animation flag of a list or of each item", () => {
    const two = [file("a.webp"), file("b.webp")];
    expect(listViews({ "1": { images: two, animated: [true] } }).map((output) => output.animated)).toEqual([true, true]);
    expect(listViews({ "1": { images: two, animated: [false, true] } }).map((output) => output.animated)).toEqual([false, true]);
    expect(listViews({ "1": { animated: [true] } })).toEqual([]);
  });

  it("prefer an item's own fields over its key", () => {
    expect(
      kinds({
        "1": { images: [file("a", { mediaType: "3d" }), file("b", { mime_type: "audio/flac" }), file("c.png", { mediaType: "video" })] },
      }),
    ).toEqual(["1/images/0 3d", "1/images/1 audio", "1/images/2 image"]);
  });

  it("may contain nulls and bare strings", () => {
    expect(kinds({ "1": { images: [null, "a.png", file("b.png")], "3d": ["model.glb"], text: "one" }, "2": null })).toEqual([
      "1/images/1 image",
      "1/images/2 image",
      "1/3d/0 3d",
      "1/text/0 text",
    ]);
  });

  it("find the model among a 3d preview's mixed values", () => {
    const [model, camera] = listViews({ "1": { result: ["folder/m.glb", { position: [1, 2, 3] }, null] } });
    expect(model).toMatchObject({ kind: "3d", file: { filename: "folder/m.glb", subfolder: "", type: "output" } });
    expect(camera).toMatchObject({ kind: "json", json: { position: [1, 2, 3] } });
  });

  it("keep a text as text even if it looks like a file", () => {
    expect(kinds({ "1": { text: ["cat.png"], caption: ["see cat.png"] } })).toEqual(["1/text/0 text", "1/caption/0 text"]);
  });

  it("keep unknown outputs as JSON", () => {
    expect(listViews({ "1": { histogram: [1, 2, 3], stats: { mean: 4 } }, "2": [1] }).map((output) => output.json)).toEqual([
      [1, 2, 3],
      { mean: 4 },
      [1],
    ]);
  });

  it("are an empty list where there are none", () => {
    expect([undefined, null, {}, [], "x", 7].flatMap(listViews)).toEqual([]);
  });

  it("never throw, have a kind each and exactly one content", () => {
    const node = fc.dictionary(fc.constantFrom("images", "text", "3d", "gifs", "animated", "odd"), fc.jsonValue());
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(fc.string(), node), fc.jsonValue()), (outputs) => {
        for (const output of listViews(outputs)) {
          expect([output.file, output.text, output.json].filter((content) => content !== undefined)).toHaveLength(1);
        }
      }),
    );
  });
});

describe("the preview of a job", () => {
  it("may be a text, cut short", () => {
    expect(toPreviewView({ content: "once upon", truncated: true, nodeId: "5", mediaType: "text" })).toMatchObject({
      kind: "text",
      text: "once upon",
      truncated: true,
    });
  });

  it("prefers the item's own media type over the key", () => {
    expect(toPreviewView({ filename: "m", nodeId: "5", mediaType: "3d" })?.kind).toBe("3d");
  });

  it("is absent when there is nothing to show", () => {
    expect([toPreviewView(undefined), toPreviewView(null), toPreviewView({})]).toEqual([undefined, undefined, undefined]);
  });
});

describe("an asset view", () => {
  it("has its times in milliseconds, its kind and its edges", () => {
    const asset = assetSchema.parse({
      id: "7c1b",
      name: "cat.png",
      size: 12,
      hash: "blake3:00",
      job_id: "j",
      tags: ["output"],
      user_metadata: { width: 640, height: 480 },
      created_at: "2026-01-01T00:00:00Z",
      is_immutable: true,
    });
    expect(toAssetView(asset)).toMatchObject({
      kind: "image",
      createdAtMs: 1767225600000,
      hash: "blake3:00",
      jobId: "j",
      width: 640,
      height: 480,
      immutable: true,
    });
  });

  it("has a state on its page only where the service reports mutability", () => {
    const getDetail = (asset: object) => toAssetDetail(assetSchema.parse({ id: "7c1b", name: "cat.png", ...asset }));
    expect(getDetail({ is_immutable: false })).toMatchObject({ immutable: false, isMutableReported: true });
    expect(getDetail({})).not.toHaveProperty("isMutableReported");
  });

  it("is recognized by media type when the name has no ending", () => {
    expect(toAssetView(assetSchema.parse({ id: "a", name: "clip", mime_type: "video/mp4" })).kind).toBe("video");
    expect(toAssetView(assetSchema.parse({ id: "a", name: null })).name).toBe("a");
  });
});

describe("the name of a workflow", () => {
  it("is the editor's name, else a marked short id", () => {
    const workflow = { prompt: {}, extra_data: { extra_pnginfo: { workflow: { name: " Poster " } } } };
    expect(getWorkflowName({ id: "6f0d4f7e-13b2", workflow_id: "1f3b7f7c-55a0", workflow })).toBe("Poster");
    expect(getWorkflowName({ id: "6f0d4f7e-13b2", workflow_id: "1f3b7f7c-55a0" })).toBe("#1f3b7f7c");
    expect(getWorkflowName({ id: "6f0d4f7e-13b2", workflow: [] })).toBe("#6f0d4f7e");
  });
});
