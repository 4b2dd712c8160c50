import { describe, expect, it } from "vitest";
import { type AppDefinition, appDefinitionSchema, type AppInput } from "@/lib/contract/apps/app";
import { compareVersions } from "@/lib/contract/apps/compare";
import { appDraft, appModeOf } from "@/lib/contract/apps/draft";
import { fillApp, problemSentence, valueOfText } from "@/lib/contract/apps/fill";
import { appDocument } from "@/lib/contract/apps/openapi";

const graph = {
  "1": { class_type: "LoadImage", inputs: { image: "old.png" } },
  "2": { class_type: "KSampler", inputs: { seed: 18446744073709551615n, steps: 20, cfg: 7.5, sampler_name: "euler", image: ["1", 0] } },
  "3": { class_type: "SaveImage", inputs: { images: ["2", 0], filename_prefix: "out" }, _meta: { title: "Result" } },
};
const input = (name: string, node: string, control: AppInput["control"], more: Partial<AppInput> = {}): AppInput => ({
  name,
  node,
  input: name,
  label: `The ${name}`,
  help: "",
  group: "",
  control,
  isRequired: false,
  ...more,
});
const picture = input("picture", "1", { kind: "picture", hasMask: false }, { input: "image", label: "Picture", isRequired: true });
const steps = input("steps", "2", { kind: "number", isWhole: true, min: 1, max: 50, isSlider: true }, { default: 20 });
const seed = input("seed", "2", { kind: "seed", min: 0, max: 18446744073709551615n });
const app: AppDefinition = {
  title: "Sharpen",
  text: "",
  tags: [],
  inputs: [picture, steps, seed],
  outputs: [{ node: "3", label: "Result" }],
  graph,
};

describe("filling an app", () => {
  it("writes values, defaults and a drawn seed into the graph, and leaves the app's own graph alone", () => {
    const filled = fillApp(app, { picture: "new.png" }, () => 0.5);
    expect(filled).toMatchObject({ ok: true, values: { picture: "new.png", steps: 20, seed: 2147483648 } });
    expect(filled.ok && filled.graph["1"]?.inputs.image).toBe("new.png");
    expect(filled.ok && filled.graph["2"]?.inputs).toMatchObject({ steps: 20, seed: 2147483648, image: ["1", 0] });
    expect(graph["1"].inputs.image).toBe("old.png");
  });

  it("keeps every digit of a seed of twenty", () => {
    const filled = fillApp(app, { picture: "new.png", seed: 18446744073709551614n });
    expect(filled.ok && filled.graph["2"]?.inputs.seed).toBe(18446744073709551614n);
  });

  it("says what is wrong by labels, all of it at once, and never names a node", () => {
    const filled = fillApp(app, { steps: 51, seed: 1.5, extra: 1 });
    expect(filled.ok ? [] : filled.problems.map(problemSentence)).toEqual([
      "extra: is no input of this app",
      "Picture: needs an image",
      "The steps: must be at most 50",
      "The seed: must be a whole number",
    ]);
  });

  it("takes an emptied field for what it shows: a text is empty, a number its default, and what must be filled in is missing", () => {
    const prompt = input("cfg", "2", { kind: "text", isLong: false }, { default: "a fox" });
    const sent = fillApp({ ...app, inputs: [prompt, steps] }, { cfg: "", steps: "" });
    expect(sent).toMatchObject({ ok: true, values: { cfg: "", steps: 20 } });
    const required = [prompt, steps].map((one) => ({ ...one, isRequired: true }));
    expect(fillApp({ ...app, inputs: required }, { cfg: "", steps: "" })).toMatchObject({
      ok: false,
      problems: [{ code: "missing" }, { code: "missing" }],
    });
    expect(fillApp({ ...app, inputs: required }, {})).toMatchObject({ ok: true, values: { cfg: "a fox", steps: 20 } });
  });

  it("takes nothing that an object inherits for a value or an input", () => {
    const filled = fillApp({ ...app, inputs: [{ ...steps, name: "constructor", default: undefined, isRequired: true }] }, {});
    expect(filled).toMatchObject({ ok: false, problems: [{ code: "missing" }] });
  });

  it("reads the text fields of a form as their inputs' types", () => {
    const choice = input("size", "2", { kind: "choice", choices: [{ value: 512 }, { value: "large" }] });
    const swap = input("swap", "2", { kind: "switch" });
    const read = [
      valueOfText(seed, "18446744073709551615"),
      valueOfText(choice, "512"),
      valueOfText(swap, "true"),
      valueOfText(steps, "many"),
    ];
    expect(read).toEqual([18446744073709551615n, 512, true, "many"]);
  });
});

describe("an app's definition", () => {
  it("is refused where an input or output is on no node, is named twice, or has a default that does not fit", () => {
    const bad = {
      ...app,
      inputs: [steps, { ...steps, node: "9" }, { ...seed, name: "other", default: -1 }],
      outputs: [{ node: "x", label: "X" }],
    };
    const read = appDefinitionSchema.safeParse(bad);
    expect(read.success ? [] : read.error.issues.map(({ path }) => path.join("."))).toEqual([
      "inputs.1.name",
      "inputs.1.node",
      "inputs.2.default",
      "outputs.0.node",
    ]);
  });
});

it("has the workflow's own values for defaults where nothing need be given, and needs a value where they do not fit", () => {
  const key = input("api_key", "4", { kind: "text", isLong: false });
  const keyed = { ...graph, "4": { class_type: "Partner", inputs: { api_key: "" } } };
  expect(appDefinitionSchema.parse({ ...app, graph: keyed, inputs: [key] }).inputs[0]).not.toHaveProperty("default");
  const size = input("cfg", "2", { kind: "choice", choices: [{ value: "a" }] });
  const free = { ...picture, isRequired: false };
  const { inputs } = appDefinitionSchema.parse({ ...app, inputs: [free, { ...steps, default: undefined }, seed, size] });
  expect(inputs.map((one) => [one.name, one.default, one.isRequired])).toEqual([
    ["picture", "old.png", false],
    ["steps", 20, false],
    ["seed", undefined, false],
    ["cfg", undefined, true],
  ]);
  const filled = fillApp({ inputs: inputs.slice(0, 3), graph }, {}, () => 0);
  expect(filled).toMatchObject({ ok: true, values: { picture: "old.png", steps: 20 } });
});

describe("an app begun from a workflow", () => {
  it("takes what the editor's App mode chose, and leaves out links and what is not there", () => {
    const editor = {
      nodes: [],
      extra: { linearData: { inputs: [[1, "image"], [2, "seed", { height: 3 }], [2, "image"], [7, "x"], "odd"], outputs: [3, 9] } },
    };
    expect(appModeOf(editor)?.outputs).toEqual(["3", "9"]);
    const draft = appDraft({ graph, editor, title: "  Sharpen\n it " });
    expect(draft).toMatchObject({
      title: "Sharpen it",
      inputs: [
        { name: "image", node: "1", control: { kind: "picture" }, isRequired: true },
        { name: "seed", control: { kind: "seed" } },
      ],
      outputs: [{ node: "3", label: "Result" }],
    });
    expect(appDefinitionSchema.safeParse(draft).success).toBe(true);
  });

  it("asks once for a widget that a subgraph or a primitive node shows, and fills every input that it stands for", () => {
    const id = "0a0a0a0a-0000-4000-8000-000000000001";
    const inside = (node: number, link: number) => ({
      id: node,
      type: "Blur",
      inputs: [{ name: "sigma", link, widget: { name: "sigma" } }],
    });
    const start = (link: number, target: number) => ({ id: link, origin_id: -10, origin_slot: 0, target_id: target, target_slot: 0 });
    const nodes = [inside(11, 1), inside(12, 2), { id: 13, type: "Blur", widgets_values: [2] }];
    const subgraph = {
      id,
      name: "Soft",
      inputs: [{ name: "amount", linkIds: [1, 2] }],
      outputs: [],
      nodes,
      links: [start(1, 11), start(2, 12)],
    };
    const editor = {
      nodes: [
        { id: 5, type: id, inputs: [{ name: "amount", widget: { name: "amount" } }], properties: { proxyWidgets: [["13", "sigma"]] } },
        { id: 6, type: "PrimitiveNode", outputs: [{ name: "n", type: "FLOAT" }], widgets_values: [3] },
        inside(7, 9),
      ],
      links: [[9, 6, 0, 7, 0, "FLOAT"]],
      definitions: { subgraphs: [subgraph] },
      extra: {
        linearData: {
          inputs: [
            [5, "amount"],
            [5, "sigma"],
            [6, "value"],
            [7, "sigma"],
          ],
          outputs: [],
        },
      },
    };
    const blur = { class_type: "Blur", inputs: { sigma: 1.5 } };
    const flat = { "5:11": blur, "5:12": blur, "5:13": blur, "7": blur };
    const draft = appDefinitionSchema.parse(appDraft({ graph: flat, editor, title: "Soft" }));
    expect(draft.inputs.map(({ node, input, also }) => ({ node, input, also }))).toEqual([
      { node: "5:11", input: "sigma", also: [{ node: "5:12", input: "sigma" }] },
      { node: "5:13", input: "sigma", also: undefined },
      { node: "7", input: "sigma", also: undefined },
    ]);
    const filled = fillApp(draft, { sigma: 4 });
    const sigmas = filled.ok ? Object.entries(filled.graph).map(([node, { inputs }]) => [node, inputs.sigma]) : [];
    expect(Object.fromEntries(sigmas)).toEqual({ "5:11": 4, "5:12": 4, "5:13": 1.5, "7": 1.5 });
  });

  it("takes no key along with a text that a widget hands on, and each input once, however its links go round", () => {
    const slot = (id: number, link: number, name: string) => ({
      id,
      type: "Ask",
      inputs: [{ name, link, widget: { name } }],
      widgets_values: ["x"],
    });
    const editor = {
      nodes: [
        { id: 1, type: "PrimitiveNode", inputs: [{ name: "n", link: 9 }], outputs: [{ name: "n", type: "STRING" }], widgets_values: ["x"] },
        slot(2, 7, "text"),
        slot(3, 8, "api_key"),
      ],
      links: [
        [7, 1, 0, 2, 0, "STRING"],
        [8, 1, 0, 3, 0, "STRING"],
        [9, 1, 0, 1, 0, "STRING"],
      ],
      extra: { linearData: { inputs: [[1, "value"]], outputs: [] } },
    };
    const asking = { "2": { class_type: "Ask", inputs: { text: "x" } }, "3": { class_type: "Ask", inputs: { api_key: "x" } } };
    const { inputs } = appDefinitionSchema.parse(appDraft({ graph: asking, editor, title: "Ask" }));
    expect(inputs.map(({ node, input, also }) => ({ node, input, also }))).toEqual([{ node: "2", input: "text", also: undefined }]);
  });

  it("comes to an end where a subgraph holds itself twice", () => {
    const id = "0191c0de-0000-7000-8000-000000000002";
    const use = (node: number, link: number) => ({ id: node, type: id, inputs: [{ name: "amount", link, widget: { name: "amount" } }] });
    const start = (link: number, target: number) => ({ id: link, origin_id: -10, origin_slot: 0, target_id: target, target_slot: 0 });
    const definition = {
      id,
      name: "Endless",
      inputs: [{ name: "amount", linkIds: [1, 2] }],
      outputs: [],
      nodes: [use(11, 1), use(12, 2)],
      links: [start(1, 11), start(2, 12)],
    };
    const editor = {
      nodes: [{ id: 5, type: id, inputs: [{ name: "amount", widget: { name: "amount" } }] }],
      links: [],
      definitions: { subgraphs: [definition] },
      extra: { linearData: { inputs: [[5, "amount"]], outputs: [] } },
    };
    expect(appDraft({ graph, editor, title: "Endless" }).inputs).toEqual([]);
  });

  it("takes pinned inputs with the service's ranges and choices, and never a key", () => {
    const catalogue = {
      KSampler: {
        input: { required: { steps: ["INT", { min: 1, max: 100, step: 1 }], sampler_name: [["euler", "dpm"]], api_key: ["STRING", {}] } },
      },
    };
    const pins = ["steps", "sampler_name", "api_key"].map((name) => ({ node: "2", input: name }));
    const { inputs } = appDraft({ graph, title: "x", pins }, catalogue);
    expect(inputs).toMatchObject([
      { name: "steps", label: "Steps", control: { kind: "number", isWhole: true, min: 1, max: 100 }, default: 20 },
      { name: "sampler_name", control: { kind: "choice", choices: [{ value: "euler" }, { value: "dpm" }] }, default: "euler" },
    ]);
  });
});

describe("versions of an app", () => {
  it("differ by a plain list, in whatever order fields stand", () => {
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

it("describes an app's own operation, and names no node", () => {
  const document = appDocument({ id: "a1", version: 2, ...app }, "http://127.0.0.1:3000");
  expect(document).toMatchObject({
    info: { title: "Sharpen", version: "2" },
    paths: {
      "/api/apps/a1/runs": {
        post: {
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  properties: {
                    inputs: { required: ["picture"], properties: { steps: { type: "integer", minimum: 1, maximum: 50, default: 20 } } },
                  },
                },
              },
            },
          },
        },
      },
    },
  });
  expect(Object.keys(document)).not.toContain("graph");
});
