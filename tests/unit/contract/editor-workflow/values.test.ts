// Values of widgets by the editor's rules, for cases that its own pairs do not cover.
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { createEditableFile, toEditorFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { convert, getInputs, info, net } from "./editor-files";

test("expects a seed's control unless the class denies it", () => {
  expect(getInputs(net([{ id: 1, type: "Seeded", values: [7, "randomize", 30] }]), "1")).toEqual({ seed: 7, steps: 30 });
  expect(getInputs(net([{ id: 1, type: "Uncontrolled", values: [7, 30] }]), "1")).toEqual({ seed: 7, steps: 30 });
});

test("skips values without an input, such as box edges and refresh", () => {
  expect(getInputs(net([{ id: 1, type: "Boxed", values: [{ x: 1 }, 1, 2, 3, 4, "text"] }]), "1")).toEqual({ box: { x: 1 }, after: "text" });
  const { graph, problems } = convert(net([{ id: 1, type: "Listed", values: ["Loading...", false, "refresh", "two", 4] }]));
  expect(graph["1"]?.inputs).toEqual({ kind: "two", size: 4 });
  expect(problems).toEqual([{ code: "value_missing", nodeId: "1", input: "from" }]);
});

test("skips a refresh button named by the class or the file", () => {
  expect(getInputs(net([{ id: 1, type: "Refreshed", values: ["a", true, "refresh", 4] }]), "1")).toEqual({ from: "a", size: 4 });
  expect(getInputs(net([{ id: 1, type: "Listed", values: ["a", false, "two", 4] }]), "1")).toEqual({ from: "a", kind: "two", size: 4 });
});

test("sends minus zero as zero like the editor", () => {
  expect(Object.is(getInputs('{"nodes":[{"id":1,"type":"Ordered","widgets_values":[-0.0,1]}]}', "1")?.a, 0)).toBe(true);
});

test("fills a short list with reported defaults and cuts a long one", () => {
  const { graph, problems } = convert(net([{ id: 1, type: "Seeded", values: [7] }]));
  expect(graph["1"]?.inputs).toEqual({ seed: 7, steps: 20 });
  expect(problems).toEqual([{ code: "default_used", nodeId: "1", input: "steps" }]);
  expect(getInputs(net([{ id: 1, type: "Seeded", values: [7, "fixed", 8, "more", 9] }]), "1")).toEqual({ seed: 7, steps: 8 });
});

test("reads null as a list's first choice and a number's default", () => {
  expect(getInputs(net([{ id: 1, type: "Listed", values: ["a", null, null, null, null] }]), "1")).toEqual({
    from: "a",
    kind: "one",
    size: 1.5,
  });
});

test("reads named values by name", () => {
  expect(getInputs(net([{ id: 1, type: "Listed", values: { size: 9, kind: "two", from: "b" } }]), "1")).toEqual({
    from: "b",
    kind: "two",
    size: 9,
  });
  expect(getInputs(net([{ id: 1, type: "Chooser", values: { mode: "by", "mode.factor": 3, last: 5 } }]), "1")).toEqual({
    mode: "by",
    "mode.factor": 3,
    last: 5,
  });
});

test("drops an older value of an input that is a socket today", () => {
  expect(getInputs(net([{ id: 1, type: "Forced", values: ["a text", 640] }]), "1")).toEqual({ width: 640 });
  expect(getInputs(net([{ id: 1, type: "Forced", values: [640] }]), "1")).toEqual({ width: 640 });
});

test("orders values by the class's order, unlisted ones last", () => {
  expect(getInputs(net([{ id: 1, type: "Unordered", values: [1, 2, 3] }]), "1")).toEqual({ a: 1, more: 2, late: 3 });
  expect(getInputs(net([{ id: 1, type: "Ordered", values: [1, 2] }]), "1")).toEqual({ a: 1, b: 2 });
});

test("drops the old prefix of a sampler's name", () => {
  expect(getInputs(net([{ id: 1, type: "KSampler", values: ["sample_euler"] }]), "1")).toEqual({ sampler_name: "euler" });
});

test("sends a value missing from its list and suggests the nearest", () => {
  const { graph, problems } = convert(net([{ id: 1, type: "Listed", values: ["a", false, "refresh", "Two.bin", 1] }]));
  expect(graph["1"]?.inputs.kind).toBe("Two.bin");
  // A list stored elsewhere is not reported.
  expect(problems).toEqual([{ code: "value_not_listed", nodeId: "1", input: "kind", value: "Two.bin", nearest: "two" }]);
});

test("wraps lists so none reads as a link, and uses the class's colour", () => {
  expect(getInputs(net([{ id: 1, type: "Coloured", values: [undefined, [[0, 0]], ["1", 0]] }]), "1")).toEqual({
    color: "#123456",
    curve: { __type__: "CURVE", __value__: [[0, 0]] },
    points: { __value__: ["1", 0] },
  });
});

test("keeps every digit of integers in text files", () => {
  const { graph, problems } = convert(writeExactJson(net([{ id: 1, type: "Seeded", values: [18446744073709551615n, "fixed", 1] }])));
  expect(graph["1"]?.inputs.seed).toBe(18446744073709551615n);
  expect(problems).toEqual([{ code: "digits_kept", nodeId: "1", input: "seed" }]);
});

test("strips comments from dynamic prompts only and unescapes brackets", () => {
  const values = ["a /* no */cat \\{x\\} // gone\nhttps://x", "{a|b} // stays"];
  expect(getInputs(net([{ id: 1, type: "Prompt", values }]), "1")).toEqual({ text: "a cat {x} \nhttps:", plain: values[1] });
  expect(toApiWorkflow(net([{ id: 1, type: "Prompt", values }]), info, { fill: false }).graph["1"]?.inputs.text).toBe(values[0]);
});

test("fills a filename by node name or title and keeps unknown parts", () => {
  const nodes = [
    { id: 1, type: "Seeded", values: [5, "fixed", 9], properties: { "Node name for S&R": "Named" } },
    { id: 2, type: "Prompt", title: "Words", values: ["a/b", ""] },
    { id: 3, type: "PrimitiveNode", title: "Wide", values: [640, "fixed"] },
    { id: 4, type: "SaveImage", values: ["%Named.steps%_%Words.text%_%Wide.value%_%width%_%No.thing%"], properties: {} },
    { id: 5, type: "Prompt", values: ["x", "%Named.steps%"] },
  ];
  const { graph } = convert(net(nodes));
  expect(graph["4"]?.inputs.filename_prefix).toBe("9_a_b_640_%width%_%No.thing%");
  expect(graph["5"]?.inputs.plain).toBe("%Named.steps%");
});

test("reads a dynamic choice's values and its sockets by full name", () => {
  const file = net([
    { id: 1, type: "Source" },
    { id: 2, type: "Chooser", in: { "mode.match": [1, 0] }, values: ["by", 1.5, 7] },
  ]);
  expect(getInputs(file, "2")).toEqual({ mode: "by", "mode.factor": 1.5, "mode.match": ["1", 0], last: 7 });
});

test("reads a control's filter and the control of a float", () => {
  const inputs = { kind: "two", label: "a text", much: 1.5, last: 3 };
  expect(getInputs(net([{ id: 1, type: "Drawn", values: ["two", "fixed", "", "a text", 1.5, "fixed", 3] }]), "1")).toEqual(inputs);
  expect(getInputs(net([{ id: 1, type: "Drawn", values: ["two", "fixed", "a text", 1.5, "fixed", 3] }]), "1")).toEqual(inputs);
});

test("fills a filename with the value a primitive writes", () => {
  const nodes = [
    { id: 1, type: "PrimitiveNode", values: [640] },
    { id: 2, type: "Blur", title: "Wide", in: { radius: [1, 0, "INT", true] }, values: [4] },
    { id: 4, type: "SaveImage", values: ["%Wide.radius%"], properties: {} },
  ];
  expect(getInputs(net(nodes), "4")?.filename_prefix).toBe("640");
});

test("reads no named value of a missing class as a link", () => {
  const { graph } = convert(
    net([
      { id: 1, type: "Unheard", in: { image: [2, 0] }, values: { crop: ["2", 0], size: 3, none: null } },
      { id: 2, type: "Source" },
    ]),
  );
  expect(graph["1"]?.inputs).toEqual({ crop: { __value__: ["2", 0] }, size: 3, none: null, image: ["2", 0] });
});

test("reads null as the first dynamic choice, without its inputs", () => {
  expect(getInputs(net([{ id: 1, type: "Branching", values: [null, 9, 8] }]), "1")).toEqual({ mode: "a", "mode.x": 1, last: 9 });
  expect(getInputs(net([{ id: 1, type: "Branching", values: [] }]), "1")).toEqual({ mode: "b", "mode.y": 2, last: 0 });
});

test("migrates named values like positional ones", () => {
  expect(getInputs(net([{ id: 1, type: "KSampler", values: { sampler_name: "sample_euler" } }]), "1")).toEqual({ sampler_name: "euler" });
  expect(getInputs(net([{ id: 1, type: "Listed", values: { from: "Loading...", kind: "two", size: 4 } }]), "1")).toEqual({
    kind: "two",
    size: 4,
  });
});

test("maps an old class name unless the service still has it", () => {
  const old = net([{ id: 1, type: "T2IAdapterLoader", values: ["x"] }]);
  const info = { input: { required: { control_net_name: ["STRING", {}] } }, output: [] };
  expect(toApiWorkflow(old, { ControlNetLoader: info }).graph["1"]).toMatchObject({
    class_type: "ControlNetLoader",
    inputs: { control_net_name: "x" },
  });
  expect(toApiWorkflow(old, { ControlNetLoader: info, T2IAdapterLoader: info }).graph["1"]?.class_type).toBe("T2IAdapterLoader");
  const otherNames = ["ConditioningAverage ", "SDV_img2vid_Conditioning", "Load3DAnimation", "Preview3DAnimation"];
  const { graph } = convert(net(otherNames.map((type, at) => ({ id: at, type }))));
  expect(Object.values(graph).map(({ class_type: type }) => type)).toEqual([
    "ConditioningAverage",
    "SVD_img2vid_Conditioning",
    "Load3D",
    "Preview3D",
  ]);
});

test("fills nested choices of any depth", () => {
  const values = ["{".repeat(20_000) + "a" + "}".repeat(20_000), "/* ".repeat(300_000)];
  expect(getInputs(net([{ id: 1, type: "Prompt", values }]), "1")?.text).toBe("a");
  expect(getInputs(net([{ id: 1, type: "Prompt", values: [values[1], ""] }]), "1")?.text === values[1]).toBe(true);
  expect(getInputs(net([{ id: 1, type: "Prompt", values: ["/* a // b", ""] }]), "1")?.text).toBe("/* a ");
});

test("skips a model view's buttons, fewer in older files", () => {
  const model = { input: { required: { model_file: [["none"], {}], image: ["LOAD_3D", {}], width: ["INT", {}], height: ["INT", {}] } } };
  const catalogue = objectInfoSchema.parse({ Load3D: model });
  const inputs = { model_file: "a.glb", image: "", width: 768, height: 512 };
  const buttons = ["upload3dmodel", "uploadExtraResources", "clear"];
  for (const before of [buttons, [buttons[0], buttons[2]], []]) {
    const file = net([{ id: 1, type: "Load3D", values: ["a.glb", ...before, "", 768, 512] }]);
    expect(toApiWorkflow(file, catalogue).graph["1"]?.inputs).toEqual(inputs);
    const wider = { "1": { class_type: "Load3D", inputs: { ...inputs, width: 769 } } };
    expect(createEditableFile(file, catalogue).withValues(wider).file.nodes).toMatchObject([
      { widgets_values: ["a.glb", ...before, "", 769, 512] },
    ]);
  }
  const { file } = toEditorFile({ "1": { class_type: "Load3D", inputs } }, catalogue, { id: "x", places: new Map() });
  expect(file.nodes).toMatchObject([{ widgets_values: ["a.glb", ...buttons, "", 768, 512] }]);
});
