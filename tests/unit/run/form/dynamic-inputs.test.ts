// Inputs that depend on a choice, lists that grow, and values that a list lacks: the form shows what the graph contains.
import { describe, expect, it } from "vitest";
import { missingInputs, valueChecker } from "@/components/run/form/checks";
import { formBuilder } from "@/components/run/form/form-model";
import { createRunStore } from "@/components/run/run-store";
import { nearestOf } from "@/lib/contract/nodes/input-spec";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo, objectInfoSchema } from "@/lib/contract/schemas/object-info";

const size = (name: string) => ({ [name]: ["INT", { default: 512, min: 1, max: 4096 }] });
const catalogue: ObjectInfo = {
  Resize: {
    output_node: true,
    input: {
      required: {
        input: ["COMFY_MATCHTYPE_V3", { template: { template_id: "t", allowed_types: "IMAGE,MASK" } }],
        resize_type: [
          "COMFY_DYNAMICCOMBO_V3",
          {
            options: [
              { key: "dimensions", inputs: { required: { ...size("width"), ...size("height") } } },
              { key: "longer", inputs: { required: size("longer_size") } },
              { key: "width", inputs: { required: size("width") } },
            ],
          },
        ],
        method: ["COMBO", { options: ["area", "bilinear", "lanczos"] }],
        fill: ["COLOR", { default: "#ffffff" }],
        crop: ["BOUNDING_BOX", {}],
      },
    },
  },
  Batch: {
    input: {
      required: {
        images: ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE", {}] } }, prefix: "image", min: 2, max: 5 } }],
        words: ["COMFY_AUTOGROW_V3", { template: { input: { required: { word: ["STRING", {}] } }, names: ["a", "b"], min: 0 } }],
      },
    },
  },
  LoadVideo: { input: { required: { file: ["COMBO", { options: ["a.mp4"], video_upload: true }] } } },
  LoadImage: { input: { required: { image: [["one.png", "two.png"], { image_upload: true }] } } },
};
const graph: Graph = {
  "1": {
    class_type: "Resize",
    inputs: {
      input: ["2", 0],
      resize_type: "dimensions",
      "resize_type.width": 640,
      "resize_type.height": 480,
      method: "Bilinar",
      fill: "#102030",
      crop: { x: 1, y: 2, width: 3, height: 4 },
    },
  },
  "2": { class_type: "Batch", inputs: { "images.image0": ["3", 0], "images.image1": ["3", 0], "words.a": "one" } },
  "3": { class_type: "LoadImage", inputs: { image: "one.png" } },
  "4": { class_type: "LoadVideo", inputs: { file: "mine.mp4" } },
};
const order = Object.keys(graph);
const fieldsOf = (now: Graph, id: string) => formBuilder(graph, order, catalogue)(now).find((node) => node.id === id)?.fields ?? [];
const named = (now: Graph, id: string) => fieldsOf(now, id).map(({ name, control }) => [name, control.kind]);

function openedStore() {
  const store = createRunStore();
  store.open({ graph, order, workflowId: "w", name: "w" });
  return store;
}

describe("a choice with inputs of its own", () => {
  it("shows those of what is chosen under the names of the API format", () => {
    expect(named(graph, "1")).toEqual([
      ["input", "link"],
      ["resize_type", "choice"],
      ["resize_type.width", "number"],
      ["resize_type.height", "number"],
      ["method", "choice"],
      ["fill", "hex-color"],
      ["crop", "box"],
    ]);
  });

  it("brings the inputs of another choice in its place, keeps what both have, and drops the rest", () => {
    const choose = (store: ReturnType<typeof openedStore>, value: string) => {
      store.edit(1, { nodeId: "1", name: "resize_type", value }, catalogue);
      return store.get();
    };
    const longer = choose(openedStore(), "longer").opened?.graph ?? {};
    expect(Object.keys(longer["1"]?.inputs ?? {})).toEqual(["input", "resize_type", "resize_type.longer_size", "method", "fill", "crop"]);
    expect(longer["1"]?.inputs["resize_type.longer_size"]).toBe(512);
    expect(named(longer, "1")).toContainEqual(["resize_type.longer_size", "number"]);
    const width = choose(openedStore(), "width").opened?.graph ?? {};
    expect(width["1"]?.inputs).toMatchObject({ resize_type: "width", "resize_type.width": 640 });
    expect(width["1"]?.inputs).not.toHaveProperty(["resize_type.height"]);
  });

  it("is judged by what the choice says of its inputs", () => {
    const far = { ...graph, "1": { class_type: "Resize", inputs: { ...graph["1"]?.inputs, "resize_type.width": 9999, method: "area" } } };
    expect(valueChecker(far, ["1"], catalogue)(far)["1"]?.errors).toMatchObject([
      { type: "value_bigger_than_max", extra_info: { input_name: "resize_type.width" } },
    ]);
    const { "resize_type.height": _, ...rest } = graph["1"]?.inputs ?? {};
    const short = { ...graph, "1": { class_type: "Resize", inputs: rest } };
    expect(missingInputs(short, ["1"], catalogue)["1"]?.errors).toMatchObject([{ extra_info: { input_name: "resize_type.height" } }]);
  });
});

describe("a list that grows", () => {
  it("shows what is in it, and the next place where a form can fill one", () => {
    expect(named(graph, "2")).toEqual([
      ["images.image0", "link"],
      ["images.image1", "link"],
      ["words.a", "text"],
      ["words.b", "text"],
    ]);
  });
});

describe("a value that the list does not have", () => {
  it("is shown before anything is sent, with the nearest one", () => {
    expect(valueChecker(graph, ["1"], catalogue)(graph)["1"]?.errors).toMatchObject([
      { type: "value_not_in_list", extra_info: { input_name: "method", received_value: "Bilinar", nearest: "bilinear" } },
    ]);
  });

  it("is shown where the list is empty, except for lists that hold not all of their values", () => {
    const empty = objectInfoSchema.parse({
      Load: { input: { required: { name: [[]], other: ["COMBO", {}], far: ["COMBO", { remote: { route: "/x" } }] } }, output: [] },
    });
    const loading = { "1": { class_type: "Load", inputs: { name: "a.safetensors", other: "b", far: "c" } } };
    expect(valueChecker(loading, ["1"], empty)(loading)["1"]?.errors).toMatchObject([
      { type: "value_not_in_list", extra_info: { input_name: "name" } },
      { type: "value_not_in_list", extra_info: { input_name: "other" } },
    ]);
  });

  it("is marked and no fault of a file, which may have been added since", () => {
    expect(valueChecker(graph, ["4"], catalogue)(graph)).toEqual({});
    expect(fieldsOf(graph, "4")[0]?.control).toEqual({ kind: "media", media: "video", options: ["a.mp4"] });
    expect(fieldsOf(graph, "3")[0]?.control).toEqual({ kind: "image", options: ["one.png", "two.png"] });
  });

  it("has the nearest by name whatever its folder, case and ending, and none where nothing is near", () => {
    const models = ["sdxl/Base_1.0.safetensors", "flux-dev.safetensors"];
    expect(nearestOf("base_1.0.ckpt", models)).toBe(models[0]);
    expect(nearestOf("flux_dev", models)).toBe(models[1]);
    expect(nearestOf("entirely other", ["euler"])).toBeUndefined();
  });
});
