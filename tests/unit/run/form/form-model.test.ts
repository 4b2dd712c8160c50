import { describe, expect, it } from "vitest";
import { formBuilder, type FormNode, withInput } from "@/components/run/form/form-model";
import { readInputSpec } from "@/lib/contract/nodes/input-spec";
import { type Graph } from "@/lib/contract/schemas/graph";
import { type ObjectInfo, objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { topologicalOrder } from "@/lib/contract/workflow/graph";
import { catalogue, sampleGraph } from "../files";

const build = (graph: Graph, info?: ObjectInfo) => formBuilder(graph, topologicalOrder(graph), info)(graph);
const control = (form: FormNode[], id: string, name: string) =>
  form.find((node) => node.id === id)?.fields.find((field) => field.name === name)?.control;

describe("the form of a graph, where the service describes its nodes", () => {
  const graph = sampleGraph("02-poster-from-photo");
  const form = build(graph, catalogue());

  it("has a card for each node, after those it depends on", () => {
    expect(form.map(({ id }) => id)).toEqual(["1", "2", "3", "4", "5", "6"]);
    const ids = build(sampleGraph("03-composite-with-mask")).map(({ id }) => id);
    expect(ids).toHaveLength(7);
    expect(ids.indexOf("7")).toBeLessThan(ids.indexOf("3"));
    expect(ids.indexOf("3")).toBeLessThan(ids.indexOf("4"));
  });

  it("names a node by its own title, else by the service's name for its class", () => {
    expect(form[0]?.title).toBe("Photo");
    expect(form[5]?.title).toBe("Save Image");
    expect(build(graph)[5]?.title).toBe("SaveImage");
  });

  it("gives each literal the control that its description asks for", () => {
    expect(control(form, "1", "image")).toEqual({ kind: "image", options: [] });
    expect(control(form, "2", "upscale_method")).toEqual({
      kind: "choice",
      options: ["nearest-exact", "bilinear", "area", "bicubic", "lanczos"],
    });
    expect(control(form, "2", "width")).toEqual({ kind: "number", integer: true, min: 0, max: 16384, step: 1 });
    expect(control(form, "4", "color")).toEqual({ kind: "color", min: 0, max: 16777215 });
    expect(control(form, "5", "blend_factor")).toMatchObject({ kind: "number", integer: false, min: 0, max: 1 });
    expect(control(form, "6", "filename_prefix")).toEqual({ kind: "text" });
  });

  it("shows a link as the node it comes from and the output it takes", () => {
    expect(control(form, "2", "image")).toEqual({ kind: "link", fromId: "1", fromTitle: "Photo", output: 0, outputName: "IMAGE" });
  });

  it("shows a required input that the file leaves out: a link as not connected, a literal as an empty field", () => {
    const bare: Graph = { "4": { class_type: "SaveImage", inputs: {} } };
    const fields = build(bare, catalogue())[0]?.fields;
    expect(fields?.map(({ name, control: { kind } }) => [name, kind])).toEqual([
      ["images", "unconnected"],
      ["filename_prefix", "text"],
    ]);
  });

  it("says which classes the service lacks", () => {
    const production = build(sampleGraph("08-production-sdxl"), catalogue());
    expect(production.find(({ id }) => id === "1")?.known).toBe(false);
    expect(production.find(({ id }) => id === "40")?.known).toBe(true);
  });
});

describe("the form of a graph, where nothing is known but the values", () => {
  const form = build({
    "1": {
      class_type: "Anything",
      inputs: {
        flag: true,
        size: 12,
        color: 0xdba446,
        name: "short",
        text: "a cat",
        long: "x".repeat(80),
        list: { __value__: [1, 2] },
        nothing: null,
      },
    },
    "2": { class_type: "LoadImage", inputs: { image: "photo.png" } },
    "3": { class_type: "Other", inputs: { image: "a word" } },
  });

  it("guesses by the type of the value", () => {
    const kinds = Object.fromEntries(form[0]?.fields.map((field) => [field.name, field.control.kind]) ?? []);
    expect(kinds).toEqual({
      flag: "switch",
      size: "number",
      color: "color",
      name: "text",
      text: "long-text",
      long: "long-text",
      list: "fixed",
      nothing: "fixed",
    });
  });

  it("knows the two nodes that load pictures, and takes no other text for one", () => {
    expect(control(form, "2", "image")).toEqual({ kind: "image" });
    expect(control(form, "3", "image")).toEqual({ kind: "text" });
  });

  it("calls no class unknown", () => {
    expect(form.every(({ known }) => known)).toBe(true);
  });
});

describe("an edit", () => {
  const graph = sampleGraph("01-invert");

  it("changes one input and leaves every other node the same object", () => {
    const next = withInput(graph, "1", "width", 640);
    expect(next["1"]?.inputs.width).toBe(640);
    expect(next["2"]).toBe(graph["2"]);
    expect(graph["1"]?.inputs.width).toBe(512);
  });

  it("to the same value, or of a node that is not there, changes nothing", () => {
    expect(withInput(graph, "1", "width", 512)).toBe(graph);
    expect(withInput(graph, "99", "width", 1)).toBe(graph);
  });

  it("never turns a field into another kind of field", () => {
    const builder = formBuilder(graph, topologicalOrder(graph));
    const emptied = builder(withInput(graph, "1", "width", ""));
    expect(control(emptied, "1", "width")?.kind).toBe("number");
    expect(emptied[0]?.fields[0]?.value).toBe("");
  });

  it("renders one card again, not all of them", () => {
    const builder = formBuilder(graph, topologicalOrder(graph), catalogue());
    const before = builder(graph);
    const after = builder(withInput(graph, "1", "width", 640));
    expect(after[0]).not.toBe(before[0]);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).toBe(before[2]);
  });
});

it("a text that fills a screen has a large field, whatever the service calls it", () => {
  const long = "x".repeat(1000);
  const graph = { "1": { class_type: "StringConcatenate", inputs: { string_a: long, string_b: "short", delimiter: "" } } };
  const info = {
    StringConcatenate: { input: { required: { string_a: ["STRING", {}], string_b: ["STRING", {}], delimiter: ["STRING", {}] } } },
  };
  const [node] = formBuilder(graph, ["1"], objectInfoSchema.parse(info))(graph);
  expect(node?.fields.map(({ control }) => control.kind)).toEqual(["long-text", "text", "text"]);
});

it("a whole number beyond a double is a number field, and the range of a seed is its own", () => {
  const graph = { "1": { class_type: "Noise", inputs: { noise_seed: 18446744073709551615n } } };
  expect(formBuilder(graph, ["1"])(graph)[0]?.fields[0]?.control).toEqual({ kind: "number", integer: true });
  const spec = readInputSpec("noise_seed", ["INT", { min: 0, max: 18446744073709551615n }]);
  expect(spec).toMatchObject({ kind: "number", max: 18446744073709551615n });
});
