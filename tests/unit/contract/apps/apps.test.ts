import { describe, expect, it } from "vitest";
import { type AppDefinition, appDefinitionSchema, type AppInput } from "@/lib/contract/apps/app";
import { compareVersions } from "@/lib/contract/apps/definition";
import { fillApp, formatProblem, parseValueText } from "@/lib/contract/apps/fill";
import { createAppDocument } from "@/lib/contract/apps/openapi";

const graph = {
  "1": { class_type: "LoadImage", inputs: { image: "old.png" } },
  "2": { class_type: "KSampler", inputs: { seed: 18446744073709551615n, steps: 20, cfg: 7.5, sampler_name: "euler", image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "out" }, _meta: { title: "Result" } },
};
const createInput = (name: string, node: string, control: AppInput["control"], overrides: Partial<AppInput> = {}): AppInput => ({
  name,
  node,
  input: name,
  label: `The ${name}`,
  help: "",
  group: "",
  control,
  isRequired: false,
  ...overrides,
});
const picture = createInput("picture", "1", { kind: "picture", hasMask: false }, { input: "image", label: "Picture", isRequired: true });
const steps = createInput("steps", "2", { kind: "number", isWhole: true, min: 1, max: 50, isSlider: true }, { default: 20 });
const seed = createInput("seed", "2", { kind: "seed", min: 0, max: 18446744073709551615n });
const app: AppDefinition = {
  title: "Sharpen",
  text: "",
  tags: [],
  inputs: [picture, steps, seed],
  outputs: [{ node: "3", label: "Result" }],
  graph,
};

describe("fillApp", () => {
  it("writes values, defaults and a random seed into a copy of the graph", () => {
    const filled = fillApp(app, { picture: "new.png" }, () => 0.5);
    expect(filled).toMatchObject({ ok: true, values: { picture: "new.png", steps: 20, seed: 2147483648 } });
    expect(filled.ok && filled.graph["1"]?.inputs.image).toBe("new.png");
    expect(filled.ok && filled.graph["2"]?.inputs).toMatchObject({ steps: 20, seed: 2147483648, image: ["1", 0] });
    expect(graph["1"].inputs.image).toBe("old.png");
    const withSeed = fillApp(app, { picture: "new.png", seed: 18446744073709551614n });
    expect(withSeed.ok && withSeed.graph["2"]?.inputs.seed).toBe(18446744073709551614n);
  });

  it("lists all problems by label", () => {
    const filled = fillApp(app, { steps: 51, seed: 1.5, extra: 1 });
    expect(filled.ok ? [] : filled.problems.map(formatProblem)).toEqual([
      "extra: is not an input of this app",
      "Picture: needs an image",
      "The steps: must be at most 50",
      "The seed: must be a whole number",
    ]);
  });

  it("reads an empty field as empty text, as the default or as missing", () => {
    const prompt = createInput("cfg", "2", { kind: "text", isLong: false }, { default: "a fox" });
    const result = fillApp({ ...app, inputs: [prompt, steps] }, { cfg: "", steps: "" });
    expect(result).toMatchObject({ ok: true, values: { cfg: "", steps: 20 } });
    const required = [prompt, steps].map((item) => ({ ...item, isRequired: true }));
    expect(fillApp({ ...app, inputs: required }, { cfg: "", steps: "" })).toMatchObject({
      ok: false,
      problems: [{ code: "missing" }, { code: "missing" }],
    });
    expect(fillApp({ ...app, inputs: required }, {})).toMatchObject({ ok: true, values: { cfg: "a fox", steps: 20 } });
  });

  it("ignores inherited properties", () => {
    const filled = fillApp({ ...app, inputs: [{ ...steps, name: "constructor", default: undefined, isRequired: true }] }, {});
    expect(filled).toMatchObject({ ok: false, problems: [{ code: "missing" }] });
  });

  it("parses form text as the type of its input", () => {
    const choice = createInput("size", "2", { kind: "choice", choices: [{ value: 512 }, { value: "large" }] });
    const swap = createInput("swap", "2", { kind: "switch" });
    expect(parseValueText(seed, "18446744073709551615")).toBe(18446744073709551615n);
    expect([parseValueText(choice, "512"), parseValueText(swap, "true"), parseValueText(steps, "many")]).toEqual([512, true, "many"]);
  });
});

describe("app definition", () => {
  it("rejects a missing node, a duplicate name or an invalid default", () => {
    const invalidApp = {
      ...app,
      inputs: [steps, { ...steps, node: "9" }, { ...seed, name: "other", default: -1 }],
      outputs: [{ node: "x", label: "X" }],
    };
    const parsed = appDefinitionSchema.safeParse(invalidApp);
    expect(parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join("."))).toEqual([
      "inputs.1.name",
      "inputs.1.node",
      "inputs.2.default",
      "outputs.0.node",
    ]);
  });
});

it("uses workflow values as defaults and requires inputs that have none", () => {
  const key = createInput("api_key", "4", { kind: "text", isLong: false });
  const graphWithKey = { ...graph, "4": { class_type: "Partner", inputs: { api_key: "" } } };
  expect(appDefinitionSchema.parse({ ...app, graph: graphWithKey, inputs: [key] }).inputs[0]).not.toHaveProperty("default");
  const size = createInput("cfg", "2", { kind: "choice", choices: [{ value: "a" }] });
  const optionalPicture = { ...picture, isRequired: false };
  const { inputs } = appDefinitionSchema.parse({ ...app, inputs: [optionalPicture, { ...steps, default: undefined }, seed, size] });
  expect(inputs.map((input) => [input.name, input.default, input.isRequired])).toEqual([
    ["picture", "old.png", false],
    ["steps", 20, false],
    ["seed", undefined, false],
    ["cfg", undefined, true],
  ]);
  const filled = fillApp({ inputs: inputs.slice(0, 3), graph }, {}, () => 0);
  expect(filled).toMatchObject({ ok: true, values: { picture: "old.png", steps: 20 } });
});

describe("compareVersions", () => {
  it("lists the differences and ignores the order of fields", () => {
    const later = { ...app, title: "Sharper", inputs: [seed, { ...steps, label: "Rounds" }], outputs: app.outputs };
    expect(compareVersions(app, later)).toEqual([
      { what: "title" },
      { what: "input_removed", label: "Picture" },
      { what: "input_changed", label: "Rounds" },
      { what: "input_order" },
    ]);
    expect(compareVersions(app, { ...app, graph: { "3": graph["3"], "2": graph["2"], "1": graph["1"] } })).toEqual([]);
  });
});

it("describes the app's operation without its graph", () => {
  const document = createAppDocument({ id: "a1", version: 2, ...app }, "http://127.0.0.1:3000");
  const inputs = { required: ["picture"], properties: { steps: { type: "integer", minimum: 1, maximum: 50, default: 20 } } };
  const requestBody = { content: { "application/json": { schema: { properties: { inputs } } } } };
  expect(document).toMatchObject({
    info: { title: "Sharpen", version: "2" },
    paths: { "/api/apps/a1/runs": { post: { requestBody } } },
  });
  expect(Object.keys(document)).not.toContain("graph");
});
