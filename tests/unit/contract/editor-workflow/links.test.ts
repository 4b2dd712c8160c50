// How links resolve by the editor's rules.
import { expect, test } from "vitest";
import { convert, createEditorFile, getCodes, getInputs } from "./editor-files";

test("uses the widget's value when its link leads to a muted node", () => {
  const file = createEditorFile([
    { id: 1, type: "Source", mode: 2 },
    { id: 2, type: "Blur", in: { image: [1, 0], radius: [1, 2, "INT", true] }, values: [8] },
  ]);
  expect(convert(file).graph).toEqual({ "2": { class_type: "Blur", inputs: { radius: 8 }, _meta: { title: "Blur" } } });
});

test("bypasses to the input at the same position, else the first of its type", () => {
  const getSinkInputs = (slot: number, node: Record<string, unknown>, target = "images") =>
    getInputs(
      createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: "Blur", mode: 4, in: node, values: [8] },
        { id: 3, type: "Sink", in: { [target]: [2, slot, target === "any" ? "*" : "IMAGE"] } },
      ]),
      "3",
    );
  // Inputs in order: mask, image, more, radius.
  expect(getSinkInputs(1, { image: [1, 0], more: [1, 1] })).toEqual({ images: ["1", 0] });
  expect(getSinkInputs(0, { image: [1, 0], more: [1, 1] })).toEqual({ images: ["1", 0] });
  expect(getSinkInputs(1, { more: [1, 1] })).toEqual({});
  expect(getSinkInputs(2, { image: [1, 0], more: [1, 1] }, "any")).toEqual({ any: ["1", 1] });
});

test("matches any type when a type list contains a star", () => {
  const getBypassedInputs = (type: string, target: string) => {
    const file = createEditorFile([
      { id: 1, type: "Source" },
      { id: 2, type: "Sharpen", mode: 4, in: { any: [1, 0, type] }, outputs: [{ name: "out", type: "MASK" }] },
      { id: 3, type: "UnknownClass", in: { image: [2, 0, target] } },
    ]);
    return getInputs(file, "3");
  };
  expect(getBypassedInputs("LATENT,*", "IMAGE")).toEqual({ image: ["1", 0] });
  expect(getBypassedInputs("MASK,IMAGE", "LATENT,*")).toEqual({ image: ["1", 0] });
  expect(getBypassedInputs("MASK", "IMAGE")).toEqual({});
});

test("passes a linked widget input through a bypassed node", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Seeded", mode: 4, in: { seed: [1, 2, "INT", true] }, values: [1, "fixed", 2] },
    { id: 3, type: "Blur", in: { radius: [2, 0, "INT", true] }, values: [4] },
  ]);
  expect(getInputs(file, "3")).toEqual({ radius: ["1", 2] });
});

test("orders a dynamic choice's extra inputs after the node's own", () => {
  const getSinkInputs = (slot: number) =>
    getInputs(
      createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: "Matched", mode: 4, in: { "method.like": [1, 0], image: [1, 1] }, values: ["like", 5] },
        { id: 3, type: "Sink", in: { any: [2, slot, "*"] } },
      ]),
      "3",
    );
  // Inputs in order: image, method, method.like, method.size.
  expect(getSinkInputs(0)).toEqual({ any: ["1", 1] });
  expect(getSinkInputs(1)).toEqual({});
  expect(getSinkInputs(2)).toEqual({ any: ["1", 0] });
});

test("clamps a primitive's number to the widget's limits and keeps its digits", () => {
  const convertPrimitive = (name: string, value: unknown, type = "FLOAT") => {
    const nodes = [
      { id: 1, type: "PrimitiveNode", values: [value, "fixed"] },
      { id: 2, type: "Stepped", in: { [name]: [1, 0, type, true] }, values: [64, 8, 1, 0, 5, "fixed"] },
    ];
    return getInputs(createEditorFile(nodes), "2")?.[name];
  };
  expect([500, 7, 9999, 26.4].map((value) => convertPrimitive("width", value, "INT"))).toEqual([504, 16, 512, 24]);
  expect([7.34, 31, 6.04].map((value) => convertPrimitive("cfg", value))).toEqual([7.3, 30, 6]);
  expect([0.34, -3, 5000].map((value) => convertPrimitive("strength", value))).toEqual([0.3, 0, 2048]);
  expect([0.12345, -2].map((value) => convertPrimitive("fine", value))).toEqual([0.123, -1]);
  expect(convertPrimitive("seed", 18446744073709551614n, "INT")).toBe(18446744073709551614n);
  expect(convertPrimitive("width", "500", "INT")).toBe("500");
});

test("follows reroutes, drops muted or dangling ones and stops at loops", () => {
  const convertReroute = (mode: number, from: unknown) =>
    convert(
      createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: "Reroute", mode, in: { "": from } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
    );
  for (const mode of [0, 4]) expect(convertReroute(mode, [1, 1, "*"]).graph["3"]?.inputs).toEqual({ images: ["1", 1] });
  expect(convertReroute(2, [1, 1, "*"]).graph["3"]?.inputs).toEqual({});
  expect(convertReroute(0, undefined).graph["3"]?.inputs).toEqual({});
  const loop = convertReroute(0, [2, 0, "*"]);
  expect(loop.graph["3"]?.inputs).toEqual({});
  expect(getCodes(loop.problems)).toEqual(["broken_link"]);
});

test("applies a primitive's value and its dynamic prompts in every mode", () => {
  for (const mode of [0, 2, 4]) {
    const file = createEditorFile([
      { id: 1, type: "PrimitiveNode", mode, values: ["a // b", "fixed"] },
      { id: 2, type: "Prompt", in: { text: [1, 0, "STRING", true] }, values: ["", ""] },
    ]);
    expect(getInputs(file, "2")).toEqual({ text: "a ", plain: "" });
  }
  const reroutedFile = createEditorFile([
    { id: 1, type: "PrimitiveNode", values: [99, "fixed"] },
    { id: 3, type: "Reroute", in: { "": [1, 0, "*"] } },
    { id: 2, type: "Blur", in: { radius: [3, 0, "INT", true] }, values: [4] },
  ]);
  expect(getInputs(reroutedFile, "2")).toEqual({ radius: 4 });
});

test("keeps an unknown class and reports its pack unless it is bypassed", () => {
  const createNodes = (mode: number) => [
    { id: 1, type: "Source" },
    {
      id: 2,
      type: "Sharpen",
      mode,
      title: "Sharp",
      in: { image: [1, 0] },
      outputs: [{ name: "out", type: "IMAGE" }],
      values: [3],
      properties: { aux_id: "someone/pack", ver: "1.2" },
    },
    { id: 3, type: "Sink", in: { images: [2, 0] } },
  ];
  const { graph, problems } = convert(createEditorFile(createNodes(0)));
  expect(graph["2"]).toEqual({
    class_type: "Sharpen",
    inputs: { UNKNOWN: { __value__: [3] }, image: ["1", 0] },
    _meta: { title: "Sharp" },
  });
  expect(problems).toEqual([
    { code: "missing_class", nodeId: "2", classType: "Sharpen", title: "Sharp", pack: "someone/pack", version: "1.2" },
  ]);
  const bypassed = convert(createEditorFile(createNodes(4)));
  expect(bypassed.graph["3"]?.inputs).toEqual({ images: ["1", 0] });
  expect(bypassed.problems).toEqual([]);
});

test("reports missing links and links from a missing node", () => {
  const file = createEditorFile([{ id: 3, type: "Sink", in: { images: [9, 0], also: [3, 0] } }]);
  const { graph, problems } = convert({ ...file, links: file.links.slice(0, 1) });
  expect(graph["3"]?.inputs).toEqual({});
  expect(problems).toEqual([
    { code: "broken_link", nodeId: "3", input: "images" },
    { code: "broken_link", nodeId: "3", input: "also" },
  ]);
});

test("reports node pack links instead of guessing them", () => {
  expect(getCodes(convert({ ...createEditorFile([]), extra: { ue_links: [{}] } }).problems)).toEqual(["links_by_rule"]);
});

test("rejects values that are not editor files", () => {
  for (const value of [undefined, null, 3, "no", [], {}, { nodes: {} }])
    expect(convert(value)).toEqual({ graph: {}, problems: [{ code: "not_an_editor_file" }], notices: [], rawTexts: [] });
});

test("identifies a renamed slot by its widget's name", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Blur", in: { image: [1, 0], radius: [1, 2, "INT", true] }, values: [3] },
  ]);
  const renameInputs = (name: string) =>
    file.nodes.map((node) => ({
      ...node,
      inputs: node.inputs.map((slot) => ("widget" in slot && slot.widget ? { ...slot, name } : slot)),
    }));
  expect(getInputs({ ...file, nodes: renameInputs("Breite") }, "2")).toEqual({ image: ["1", 0], radius: ["1", 2] });
});

test("uses the last slot when several share a name", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Sink", in: { images: [1, 0], also: [1, 1] } },
  ]);
  const nodes = file.nodes.map((node) => ({ ...node, inputs: node.inputs.map((slot) => ({ ...slot, name: "images" })) }));
  expect(getInputs({ ...file, nodes }, "2")).toEqual({ images: ["1", 1] });
});
