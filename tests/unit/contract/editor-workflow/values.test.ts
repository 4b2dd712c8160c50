// Widget values by the editor's rules, for cases that the recorded files don't cover.
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { createEditableFile, toEditorFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { convert, createEditorFile, getInputs, info } from "./editor-files";

const dynamicPrompt = ["a /* no */cat \\{x\\} // comment\nhttps://x", "{a|b} // stays"];
const commentStarts = "/* ".repeat(300_000);

test.for<[string, type: string, values: unknown, inputs: object]>([
  ["skips a seed's control value", "Seeded", [7, "randomize", 30], { seed: 7, steps: 30 }],
  ["skips no control value when the class disables it", "Uncontrolled", [7, 30], { seed: 7, steps: 30 }],
  ["skips a box's edge values", "Boxed", [{ x: 1 }, 1, 2, 3, 4, "text"], { box: { x: 1 }, after: "text" }],
  ["skips a refresh button of the class", "Refreshed", ["a", true, "refresh", 4], { from: "a", size: 4 }],
  ["skips the part of a refresh button in the file", "Listed", ["a", false, "two", 4], { from: "a", kind: "two", size: 4 }],
  ["skips a control's filter", "Drawn", ["two", "fixed", "", "a", 1.5, "fixed", 3], { kind: "two", label: "a", strength: 1.5, last: 3 }],
  ["reads a control with no filter", "Drawn", ["two", "fixed", "a", 1.5, "fixed", 3], { kind: "two", label: "a", strength: 1.5, last: 3 }],
  ["truncates a long value list", "Seeded", [7, "fixed", 8, "more", 9], { seed: 7, steps: 8 }],
  ["reads null as first choice or default", "Listed", ["a", null, null, null, null], { from: "a", kind: "one", size: 1.5 }],
  ["reads null as the first dynamic choice", "Branching", [null, 9, 8], { mode: "a", "mode.x": 1, last: 9 }],
  ["reads no value as the default dynamic choice", "Branching", [], { mode: "b", "mode.y": 2, last: 0 }],
  ["reads named values", "Listed", { size: 9, kind: "two", from: "b" }, { from: "b", kind: "two", size: 9 }],
  ["reads a dynamic choice by name", "Chooser", { mode: "by", "mode.factor": 3, last: 5 }, { mode: "by", "mode.factor": 3, last: 5 }],
  ["drops an old widget value when the input is now a socket", "Forced", ["a text", 640], { width: 640 }],
  ["reads a list without the value of a socket", "Forced", [640], { width: 640 }],
  ["orders values by the class's input order", "Ordered", [1, 2], { a: 1, b: 2 }],
  ["orders unlisted inputs last", "Unordered", [1, 2, 3], { a: 1, more: 2, late: 3 }],
  ["removes the legacy prefix from a sampler's name", "KSampler", ["sample_euler"], { sampler_name: "euler" }],
  ["migrates a named sampler", "KSampler", { sampler_name: "sample_euler" }, { sampler_name: "euler" }],
  ["drops a named loading text", "Listed", { from: "Loading...", kind: "two", size: 4 }, { kind: "two", size: 4 }],
  [
    "wraps lists so that none looks like a link and uses the default color",
    "Coloured",
    [undefined, [[0, 0]], ["1", 0]],
    { color: "#123456", curve: { __type__: "CURVE", __value__: [[0, 0]] }, points: { __value__: ["1", 0] } },
  ],
  [
    "keeps empty and already wrapped lists",
    "Coloured",
    ["", [], { __value__: [["1", 0]] }],
    { color: "", curve: { __type__: "CURVE", __value__: [] }, points: { __value__: [["1", 0]] } },
  ],
  ["resolves dynamic prompts only", "Prompt", dynamicPrompt, { text: "a cat {x} \nhttps:", plain: dynamicPrompt[1] }],
  ["resolves nested dynamic prompts", "Prompt", ["{".repeat(20_000) + "a" + "}".repeat(20_000), ""], { text: "a", plain: "" }],
  ["keeps unclosed comments", "Prompt", [commentStarts, ""], { text: commentStarts, plain: "" }],
  ["strips a line comment after an unclosed comment", "Prompt", ["/* a // b", ""], { text: "/* a ", plain: "" }],
])("%s", ([, type, values, inputs]) => {
  expect(getInputs(createEditorFile([{ id: 1, type, values }]), "1")).toEqual(inputs);
});

test("keeps dynamic prompts when texts are not filled", () => {
  const file = createEditorFile([{ id: 1, type: "Prompt", values: dynamicPrompt }]);
  expect(toApiWorkflow(file, info, { fill: false }).graph["1"]?.inputs.text).toBe(dynamicPrompt[0]);
});

test("sends minus zero as zero like the editor", () => {
  expect(Object.is(getInputs('{"nodes":[{"id":1,"type":"Ordered","widgets_values":[-0.0,1]}]}', "1")?.a, 0)).toBe(true);
});

test.for<[string, type: string, values: unknown[], inputs: object, problem: object]>([
  [
    "a value that is still loading",
    "Listed",
    ["Loading...", false, "refresh", "two", 4],
    { kind: "two", size: 4 },
    { code: "value_missing", input: "from" },
  ],
  ["a default for a short value list", "Seeded", [7], { seed: 7, steps: 20 }, { code: "default_used", input: "steps" }],
  [
    "a value missing from its list with the nearest, unless the list is remote",
    "Listed",
    ["a", false, "refresh", "Two.bin", 1],
    { from: "a", kind: "Two.bin", size: 1 },
    { code: "value_not_listed", input: "kind", value: "Two.bin", nearest: "two" },
  ],
  [
    "a large integer, whose digits it keeps",
    "Seeded",
    [18446744073709551615n, "fixed", 1],
    { seed: 18446744073709551615n, steps: 1 },
    { code: "digits_kept", input: "seed" },
  ],
])("reports %s", ([, type, values, inputs, problem]) => {
  const { graph, problems } = convert(writeExactJson(createEditorFile([{ id: 1, type, values }])));
  expect(graph["1"]?.inputs).toEqual(inputs);
  expect(problems).toEqual([{ nodeId: "1", ...problem }]);
});

test("fills a filename by node name or title and keeps unknown placeholders", () => {
  const nodes = [
    { id: 1, type: "Seeded", values: [5, "fixed", 9], properties: { "Node name for S&R": "Named" } },
    { id: 2, type: "Prompt", title: "Words", values: ["a/b", ""] },
    { id: 3, type: "PrimitiveNode", title: "Wide", values: [640, "fixed"] },
    { id: 4, type: "SaveImage", values: ["%Named.steps%_%Words.text%_%Wide.value%_%width%_%No.thing%"], properties: {} },
    { id: 5, type: "Prompt", values: ["x", "%Named.steps%"] },
  ];
  const { graph } = convert(createEditorFile(nodes));
  expect(graph["4"]?.inputs.filename_prefix).toBe("9_a_b_640_%width%_%No.thing%");
  expect(graph["5"]?.inputs.plain).toBe("%Named.steps%");
});

test("fills a filename with the value a primitive writes", () => {
  const nodes = [
    { id: 1, type: "PrimitiveNode", values: [640] },
    { id: 2, type: "Blur", title: "Wide", in: { radius: [1, 0, "INT", true] }, values: [4] },
    { id: 4, type: "SaveImage", values: ["%Wide.radius%"], properties: {} },
  ];
  expect(getInputs(createEditorFile(nodes), "4")?.filename_prefix).toBe("640");
});

test("reads a dynamic choice's values and its sockets by full name", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Chooser", in: { "mode.match": [1, 0] }, values: ["by", 1.5, 7] },
  ]);
  expect(getInputs(file, "2")).toEqual({ mode: "by", "mode.factor": 1.5, "mode.match": ["1", 0], last: 7 });
});

test("doesn't read a missing class's named values as links", () => {
  const file = createEditorFile([
    { id: 1, type: "UnknownClass", in: { image: [2, 0] }, values: { crop: ["2", 0], size: 3, none: null } },
    { id: 2, type: "Source" },
  ]);
  expect(getInputs(file, "1")).toEqual({ crop: { __value__: ["2", 0] }, size: 3, none: null, image: ["2", 0] });
});

test("renames a legacy class unless the service still has it", () => {
  const legacyFile = createEditorFile([{ id: 1, type: "T2IAdapterLoader", values: ["x"] }]);
  const nodeInfo = { input: { required: { control_net_name: ["STRING", {}] } }, output: [] };
  const renamed = { class_type: "ControlNetLoader", inputs: { control_net_name: "x" } };
  expect(toApiWorkflow(legacyFile, { ControlNetLoader: nodeInfo }).graph["1"]).toMatchObject(renamed);
  const { graph } = toApiWorkflow(legacyFile, { ControlNetLoader: nodeInfo, T2IAdapterLoader: nodeInfo });
  expect(graph["1"]?.class_type).toBe("T2IAdapterLoader");
});

test("skips a 3D model widget's buttons in old and new files", () => {
  const modelInfo = {
    input: { required: { model_file: [["none"], {}], image: ["LOAD_3D", {}], width: ["INT", {}], height: ["INT", {}] } },
  };
  const catalogue = objectInfoSchema.parse({ Load3D: modelInfo });
  const inputs = { model_file: "a.glb", image: "", width: 768, height: 512 };
  const buttons = ["upload3dmodel", "uploadExtraResources", "clear"];
  for (const fileButtons of [buttons, [buttons[0], buttons[2]], []]) {
    const file = createEditorFile([{ id: 1, type: "Load3D", values: ["a.glb", ...fileButtons, "", 768, 512] }]);
    expect(toApiWorkflow(file, catalogue).graph["1"]?.inputs).toEqual(inputs);
    const changedGraph = { "1": { class_type: "Load3D", inputs: { ...inputs, width: 769 } } };
    expect(createEditableFile(file, catalogue).applyValues(changedGraph).file.nodes).toMatchObject([
      { widgets_values: ["a.glb", ...fileButtons, "", 769, 512] },
    ]);
  }
  const { file } = toEditorFile({ "1": { class_type: "Load3D", inputs } }, catalogue, { id: "x", drawingPositions: new Map() });
  expect(file.nodes).toMatchObject([{ widgets_values: ["a.glb", ...buttons, "", 768, 512] }]);
});
