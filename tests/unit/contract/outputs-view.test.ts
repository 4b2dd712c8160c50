import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assetSchema } from "@/lib/contract/schemas/asset";
import { jobDetailSchema } from "@/lib/contract/schemas/job";
import { toAssetDetail, toAssetView } from "@/lib/contract/views/asset-view";
import { listOutputs, toPreviewView } from "@/lib/contract/views/outputs-view";
import { getWorkflowName } from "@/lib/contract/workflow/workflow-name";

const createFile = (filename: string, overrides: object = {}) => ({ filename, subfolder: "", type: "output", ...overrides });
/** Lists the outputs of a parsed job. */
const listViews = (outputs: unknown) => listOutputs(jobDetailSchema.parse({ id: "a", status: "completed", outputs }).outputs);
const listKinds = (outputs: unknown) => listViews(outputs).map((output) => `${output.nodeId}/${output.key}/${output.index} ${output.kind}`);

describe("listing a job's outputs", () => {
  it("returns a flat list in node order with each output's kind", () => {
    const outputs = {
      "9": { images: [createFile("3ac9e1.png", { display_name: "cat_00001_.png" })] },
      "14": { images: [createFile("b1d077.mp4")], animated: [true] },
      "17": { gifs: [createFile("c01e.mp4", { format: "video/h264-mp4", frame_rate: 24 }), createFile("x.gif", { format: "image/gif" })] },
      "21": { audio: [createFile("aa02.flac", { subfolder: "audio" })] },
      "25": { "3d": [createFile("dd9f.glb")] },
      "30": { text: ["a cat on a mat", "two"] },
      "31": { latents: [createFile("l.latent")], files: [createFile("notes.md")], video: [createFile("v")] },
    };
    expect(listKinds(outputs)).toEqual([
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

  it("returns a file's name, location and flags", () => {
    const image = createFile("3ac9e1.webp", { display_name: "cat.webp", type: "temp", subfolder: "s", id: "asset" });
    expect(listViews({ "9": { images: [image], animated: [true] } })).toEqual([
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

  it("reads the animation flag of a list or of each item", () => {
    const images = [createFile("a.webp"), createFile("b.webp")];
    expect(listViews({ "1": { images, animated: [true] } }).map((output) => output.animated)).toEqual([true, true]);
    expect(listViews({ "1": { images, animated: [false, true] } }).map((output) => output.animated)).toEqual([false, true]);
    expect(listViews({ "1": { animated: [true] } })).toEqual([]);
  });

  it("prefers an item's own fields over its key", () => {
    const fields = [{ mediaType: "3d" }, { mime_type: "audio/flac" }, { filename: "c.png", mediaType: "video" }];
    const images = fields.map((overrides) => createFile("a", overrides));
    expect(listKinds({ "1": { images } })).toEqual(["1/images/0 3d", "1/images/1 audio", "1/images/2 image"]);
  });

  it("accepts nulls and bare strings", () => {
    expect(listKinds({ "1": { images: [null, "a.png", createFile("b.png")], "3d": ["model.glb"], text: "one" }, "2": null })).toEqual([
      "1/images/1 image",
      "1/images/2 image",
      "1/3d/0 3d",
      "1/text/0 text",
    ]);
  });

  it("finds the model in a 3D preview's mixed values", () => {
    const [model, camera] = listViews({ "1": { result: ["folder/m.glb", { position: [1, 2, 3] }, null] } });
    expect(model).toMatchObject({ kind: "3d", file: { filename: "folder/m.glb", subfolder: "", type: "output" } });
    expect(camera).toMatchObject({ kind: "json", json: { position: [1, 2, 3] } });
  });

  it("keeps a text that looks like a filename as text", () => {
    expect(listKinds({ "1": { text: ["cat.png"], caption: ["see cat.png"] } })).toEqual(["1/text/0 text", "1/caption/0 text"]);
  });

  it("keeps unknown outputs as JSON", () => {
    expect(listViews({ "1": { histogram: [1, 2, 3], stats: { mean: 4 } }, "2": [1] }).map((output) => output.json)).toEqual([
      [1, 2, 3],
      { mean: 4 },
      [1],
    ]);
  });

  it("returns an empty list when there are no outputs", () => {
    expect([undefined, {}].flatMap(listViews)).toEqual([]);
  });

  it("returns exactly one content per output for any value", () => {
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
  it("reads a truncated text", () => {
    const preview = toPreviewView({ content: "once upon", truncated: true, nodeId: "5", mediaType: "text" });
    expect(preview).toMatchObject({ kind: "text", text: "once upon", truncated: true });
  });

  it("returns undefined when there is no preview", () => {
    expect([toPreviewView(undefined), toPreviewView(null), toPreviewView({})]).toEqual([undefined, undefined, undefined]);
  });
});

describe("an asset view", () => {
  it("returns the time in milliseconds, the kind and the dimensions", () => {
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
    const view = { kind: "image", createdAtMs: 1767225600000, hash: "blake3:00", jobId: "j", width: 640, height: 480, immutable: true };
    expect(toAssetView(asset)).toMatchObject(view);
  });

  it("reports mutability only when the service does", () => {
    const getDetail = (asset: object) => toAssetDetail(assetSchema.parse({ id: "7c1b", name: "cat.png", ...asset }));
    expect(getDetail({ is_immutable: false })).toMatchObject({ immutable: false, isMutabilityReported: true });
    expect(getDetail({})).not.toHaveProperty("isMutabilityReported");
  });

  it("detects the kind by media type when the name has no extension", () => {
    expect(toAssetView(assetSchema.parse({ id: "a", name: "clip", mime_type: "video/mp4" })).kind).toBe("video");
    expect(toAssetView(assetSchema.parse({ id: "a", name: null })).name).toBe("a");
  });
});

describe("the name of a workflow", () => {
  it("returns the editor's name, else a short id with a # prefix", () => {
    const workflow = { prompt: {}, extra_data: { extra_pnginfo: { workflow: { name: " Poster " } } } };
    expect(getWorkflowName({ id: "6f0d4f7e-13b2", workflow_id: "1f3b7f7c-55a0", workflow })).toBe("Poster");
    expect(getWorkflowName({ id: "6f0d4f7e-13b2", workflow_id: "1f3b7f7c-55a0" })).toBe("#1f3b7f7c");
    expect(getWorkflowName({ id: "6f0d4f7e-13b2", workflow: [] })).toBe("#6f0d4f7e");
  });
});
