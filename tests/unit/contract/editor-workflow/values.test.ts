// Widget values by the editor's rules, for cases that the recorded files don't cover.
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { createEditableFile, toEditorFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { convert, createEditorFile, getInputs, info } from "./editor-files";

test("skips a seed's control value unless the class disables it", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Seeded", values: [7, "randomize", 30] }]), "1")).toEqual({ seed: 7, steps: 30 });
  expect(getInputs(createEditorFile([{ id: 1, type: "Uncontrolled", values: [7, 30] }]), "1")).toEqual({ seed: 7, steps: 30 });
});

test("skips widget values without an input, such as box edges", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Boxed", values: [{ x: 1 }, 1, 2, 3, 4, "text"] }]), "1")).toEqual({
    box: { x: 1 },
    after: "text",
  });
  const { graph, problems } = convert(createEditorFile([{ id: 1, type: "Listed", values: ["Loading...", false, "refresh", "two", 4] }]));
  expect(graph["1"]?.inputs).toEqual({ kind: "two", size: 4 });
  expect(problems).toEqual([{ code: "value_missing", nodeId: "1", input: "from" }]);
});

test("skips a refresh button that the class or the file has", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Refreshed", values: ["a", true, "refresh", 4] }]), "1")).toEqual({
    from: "a",
    size: 4,
  });
  expect(getInputs(createEditorFile([{ id: 1, type: "Listed", values: ["a", false, "two", 4] }]), "1")).toEqual({
    from: "a",
    kind: "two",
    size: 4,
  });
});

test("sends minus zero as zero like the editor", () => {
  expect(Object.is(getInputs('{"nodes":[{"id":1,"type":"Ordered","widgets_values":[-0.0,1]}]}', "1")?.a, 0)).toBe(true);
});

test("fills a short value list with reported defaults and truncates a long one", () => {
  const { graph, problems } = convert(createEditorFile([{ id: 1, type: "Seeded", values: [7] }]));
  expect(graph["1"]?.inputs).toEqual({ seed: 7, steps: 20 });
  expect(problems).toEqual([{ code: "default_used", nodeId: "1", input: "steps" }]);
  expect(getInputs(createEditorFile([{ id: 1, type: "Seeded", values: [7, "fixed", 8, "more", 9] }]), "1")).toEqual({ seed: 7, steps: 8 });
});

test("reads null as a list's first choice and a number's default", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Listed", values: ["a", null, null, null, null] }]), "1")).toEqual({
    from: "a",
    kind: "one",
    size: 1.5,
  });
});

test("reads named values by name", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Listed", values: { size: 9, kind: "two", from: "b" } }]), "1")).toEqual({
    from: "b",
    kind: "two",
    size: 9,
  });
  expect(getInputs(createEditorFile([{ id: 1, type: "Chooser", values: { mode: "by", "mode.factor": 3, last: 5 } }]), "1")).toEqual({
    mode: "by",
    "mode.factor": 3,
    last: 5,
  });
});

test("drops an old widget value when the input is now a socket", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Forced", values: ["a text", 640] }]), "1")).toEqual({ width: 640 });
  expect(getInputs(createEditorFile([{ id: 1, type: "Forced", values: [640] }]), "1")).toEqual({ width: 640 });
});

test("orders values by the class's input order, unlisted inputs last", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Unordered", values: [1, 2, 3] }]), "1")).toEqual({ a: 1, more: 2, late: 3 });
  expect(getInputs(createEditorFile([{ id: 1, type: "Ordered", values: [1, 2] }]), "1")).toEqual({ a: 1, b: 2 });
});

test("removes the legacy prefix from a sampler's name", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "KSampler", values: ["sample_euler"] }]), "1")).toEqual({ sampler_name: "euler" });
});

test("sends a value missing from its list and suggests the nearest", () => {
  const { graph, problems } = convert(createEditorFile([{ id: 1, type: "Listed", values: ["a", false, "refresh", "Two.bin", 1] }]));
  expect(graph["1"]?.inputs.kind).toBe("Two.bin");
  // Values of a remote list are not reported.
  expect(problems).toEqual([{ code: "value_not_listed", nodeId: "1", input: "kind", value: "Two.bin", nearest: "two" }]);
});

test("wraps lists so that none looks like a link and uses the default color", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Coloured", values: [undefined, [[0, 0]], ["1", 0]] }]), "1")).toEqual({
    color: "#123456",
    curve: { __type__: "CURVE", __value__: [[0, 0]] },
    points: { __value__: ["1", 0] },
  });
});

test("keeps every digit of large integers in a JSON string", () => {
  const { graph, problems } = convert(
    writeExactJson(createEditorFile([{ id: 1, type: "Seeded", values: [18446744073709551615n, "fixed", 1] }])),
  );
  expect(graph["1"]?.inputs.seed).toBe(18446744073709551615n);
  expect(problems).toEqual([{ code: "digits_kept", nodeId: "1", input: "seed" }]);
});

test("strips comments from dynamic prompts only and unescapes brackets", () => {
  const values = ["a /* no */cat \\{x\\} // comment\nhttps://x", "{a|b} // stays"];
  expect(getInputs(createEditorFile([{ id: 1, type: "Prompt", values }]), "1")).toEqual({ text: "a cat {x} \nhttps:", plain: values[1] });
  expect(toApiWorkflow(createEditorFile([{ id: 1, type: "Prompt", values }]), info, { fill: false }).graph["1"]?.inputs.text).toBe(
    values[0],
  );
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

test("reads a dynamic choice's values and its sockets by full name", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Chooser", in: { "mode.match": [1, 0] }, values: ["by", 1.5, 7] },
  ]);
  expect(getInputs(file, "2")).toEqual({ mode: "by", "mode.factor": 1.5, "mode.match": ["1", 0], last: 7 });
});

test("reads a control's filter and the control of a float", () => {
  const inputs = { kind: "two", label: "a text", strength: 1.5, last: 3 };
  expect(getInputs(createEditorFile([{ id: 1, type: "Drawn", values: ["two", "fixed", "", "a text", 1.5, "fixed", 3] }]), "1")).toEqual(
    inputs,
  );
  expect(getInputs(createEditorFile([{ id: 1, type: "Drawn", values: ["two", "fixed", "a text", 1.5, "fixed", 3] }]), "1")).toEqual(inputs);
});

test("fills a filename with the value a primitive writes", () => {
  const nodes = [
    { id: 1, type: "PrimitiveNode", values: [640] },
    { id: 2, type: "Blur", title: "Wide", in: { radius: [1, 0, "INT", true] }, values: [4] },
    { id: 4, type: "SaveImage", values: ["%Wide.radius%"], properties: {} },
  ];
  expect(getInputs(createEditorFile(nodes), "4")?.filename_prefix).toBe("640");
});

test("doesn't read a missing class's named values as links", () => {
  const { graph } = convert(
    createEditorFile([
      { id: 1, type: "UnknownClass", in: { image: [2, 0] }, values: { crop: ["2", 0], size: 3, none: null } },
      { id: 2, type: "Source" },
    ]),
  );
  expect(graph["1"]?.inputs).toEqual({ crop: { __value__: ["2", 0] }, size: 3, none: null, image: ["2", 0] });
});

test("reads null as the first dynamic choice, without its inputs", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "Branching", values: [null, 9, 8] }]), "1")).toEqual({
    mode: "a",
    "mode.x": 1,
    last: 9,
  });
  expect(getInputs(createEditorFile([{ id: 1, type: "Branching", values: [] }]), "1")).toEqual({ mode: "b", "mode.y": 2, last: 0 });
});

test("migrates named values like positional ones", () => {
  expect(getInputs(createEditorFile([{ id: 1, type: "KSampler", values: { sampler_name: "sample_euler" } }]), "1")).toEqual({
    sampler_name: "euler",
  });
  expect(getInputs(createEditorFile([{ id: 1, type: "Listed", values: { from: "Loading...", kind: "two", size: 4 } }]), "1")).toEqual({
    kind: "two",
    size: 4,
  });
});

test("renames a legacy class unless the service still has it", () => {
  const legacyFile = createEditorFile([{ id: 1, type: "T2IAdapterLoader", values: ["x"] }]);
  const nodeInfo = { input: { required: { control_net_name: ["STRING", {}] } }, output: [] };
  expect(toApiWorkflow(legacyFile, { ControlNetLoader: nodeInfo }).graph["1"]).toMatchObject({
    class_type: "ControlNetLoader",
    inputs: { control_net_name: "x" },
  });
  expect(toApiWorkflow(legacyFile, { ControlNetLoader: nodeInfo, T2IAdapterLoader: nodeInfo }).graph["1"]?.class_type).toBe(
    "T2IAdapterLoader",
  );
  const legacyNames = ["ConditioningAverage ", "SDV_img2vid_Conditioning", "Load3DAnimation", "Preview3DAnimation"];
  const { graph } = convert(createEditorFile(legacyNames.map((type, index) => ({ id: index, type }))));
  expect(Object.values(graph).map(({ class_type: type }) => type)).toEqual([
    "ConditioningAverage",
    "SVD_img2vid_Conditioning",
    "Load3D",
    "Preview3D",
  ]);
});

test("resolves nested dynamic prompts of any depth", () => {
  const values = ["{".repeat(20_000) + "a" + "}".repeat(20_000), "/* ".repeat(300_000)];
  expect(getInputs(createEditorFile([{ id: 1, type: "Prompt", values }]), "1")?.text).toBe("a");
  expect(getInputs(createEditorFile([{ id: 1, type: "Prompt", values: [values[1], ""] }]), "1")?.text === values[1]).toBe(true);
  expect(getInputs(createEditorFile([{ id: 1, type: "Prompt", values: ["/* a // b", ""] }]), "1")?.text).toBe("/* a ");
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
