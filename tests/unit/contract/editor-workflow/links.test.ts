// Which links are followed and which are not, by the editor's rules.
import { expect, test } from "vitest";
import { codes, convert, getInputs, net } from "./editor-files";

test("drops links to muted nodes and uses the widget's value instead", () => {
  const file = net([
    { id: 1, type: "Source", mode: 2 },
    { id: 2, type: "Blur", in: { image: [1, 0], radius: [1, 2, "INT", true] }, values: [8] },
  ]);
  expect(convert(file).graph).toEqual({ "2": { class_type: "Blur", inputs: { radius: 8 }, _meta: { title: "Blur" } } });
});

test("bypasses to the input of the same position, else the first of its type", () => {
  const through = (slot: number, node: Record<string, unknown>, target = "images") =>
    getInputs(
      net([
        { id: 1, type: "Source" },
        { id: 2, type: "Blur", mode: 4, in: node, values: [8] },
        { id: 3, type: "Sink", in: { [target]: [2, slot, target === "any" ? "*" : "IMAGE"] } },
      ]),
      "3",
    );
  // Inputs in order: mask, image, more, radius.
  expect(through(1, { image: [1, 0], more: [1, 1] })).toEqual({ images: ["1", 0] });
  expect(through(0, { image: [1, 0], more: [1, 1] })).toEqual({ images: ["1", 0] });
  expect(through(1, { more: [1, 1] })).toEqual({});
  expect(through(2, { image: [1, 0], more: [1, 1] }, "any")).toEqual({ any: ["1", 1] });
});

test("matches any type with a list containing a star", () => {
  const through = (type: string, target: string) => {
    const file = net([
      { id: 1, type: "Source" },
      { id: 2, type: "Sharpen", mode: 4, in: { any: [1, 0, type] }, outputs: [{ name: "out", type: "MASK" }] },
      { id: 3, type: "Unheard", in: { image: [2, 0, target] } },
    ]);
    return getInputs(file, "3");
  };
  expect(through("LATENT,*", "IMAGE")).toEqual({ image: ["1", 0] });
  expect(through("MASK,IMAGE", "LATENT,*")).toEqual({ image: ["1", 0] });
  expect(through("MASK", "IMAGE")).toEqual({});
});

test("passes a bypassed number's linked widget input through", () => {
  const file = net([
    { id: 1, type: "Source" },
    { id: 2, type: "Seeded", mode: 4, in: { seed: [1, 2, "INT", true] }, values: [1, "fixed", 2] },
    { id: 3, type: "Blur", in: { radius: [2, 0, "INT", true] }, values: [4] },
  ]);
  expect(getInputs(file, "3")).toEqual({ radius: ["1", 2] });
});

test("places a choice's extra inputs and outputs after its own", () => {
  const through = (slot: number) =>
    getInputs(
      net([
        { id: 1, type: "Source" },
        { id: 2, type: "Matched", mode: 4, in: { "how.like": [1, 0], image: [1, 1] }, values: ["like", 5] },
        { id: 3, type: "Sink", in: { any: [2, slot, "*"] } },
      ]),
      "3",
    );
  // Inputs in order: image, how, how.like, how.size.
  expect(through(0)).toEqual({ any: ["1", 1] });
  expect(through(1)).toEqual({});
  expect(through(2)).toEqual({ any: ["1", 0] });
});

test("writes a primitive's number within widget limits and exact digits", () => {
  const convertLed = (name: string, value: unknown, type = "FLOAT") => {
    const nodes = [
      { id: 1, type: "PrimitiveNode", values: [value, "fixed"] },
      { id: 2, type: "Stepped", in: { [name]: [1, 0, type, true] }, values: [64, 8, 1, 0, 5, "fixed"] },
    ];
    return getInputs(net(nodes), "2")?.[name];
  };
  expect([500, 7, 9999, 26.4].map((value) => convertLed("width", value, "INT"))).toEqual([504, 16, 512, 24]);
  expect([7.34, 31, 6.04].map((value) => convertLed("cfg", value))).toEqual([7.3, 30, 6]);
  expect([0.34, -3, 5000].map((value) => convertLed("much", value))).toEqual([0.3, 0, 2048]);
  expect([0.12345, -2].map((value) => convertLed("fine", value))).toEqual([0.123, -1]);
  expect(convertLed("seed", 18446744073709551614n, "INT")).toBe(18446744073709551614n);
  expect(convertLed("width", "500", "INT")).toBe("500");
});

test("follows reroutes, drops muted or dangling ones and stops at loops", () => {
  const over = (mode: number, from: unknown) =>
    convert(
      net([
        { id: 1, type: "Source" },
        { id: 2, type: "Reroute", mode, in: { "": from } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
    );
  expect(over(0, [1, 1, "*"]).graph["3"]?.inputs).toEqual({ images: ["1", 1] });
  expect(over(4, [1, 1, "*"]).graph["3"]?.inputs).toEqual({ images: ["1", 1] });
  expect(over(2, [1, 1, "*"]).graph["3"]?.inputs).toEqual({});
  expect(over(0, undefined).graph["3"]?.inputs).toEqual({});
  const ring = over(0, [2, 0, "*"]);
  expect(ring.graph["3"]?.inputs).toEqual({});
  expect(codes(ring.problems)).toEqual(["broken_link"]);
});

test("writes a primitive's value over its widgets, muted or not", () => {
  const convertLed = (mode: number) =>
    net([
      { id: 1, type: "PrimitiveNode", mode, values: [99, "fixed"] },
      { id: 2, type: "Blur", in: { radius: [1, 0, "INT", true] }, values: [4] },
    ]);
  expect(getInputs(convertLed(0), "2")).toEqual({ radius: 99 });
  expect(getInputs(convertLed(2), "2")).toEqual({ radius: 99 });
  expect(getInputs(convertLed(4), "2")).toEqual({ radius: 99 });
  const over = net([
    { id: 1, type: "PrimitiveNode", values: [99, "fixed"] },
    { id: 3, type: "Reroute", in: { "": [1, 0, "*"] } },
    { id: 2, type: "Blur", in: { radius: [3, 0, "INT", true] }, values: [4] },
  ]);
  expect(getInputs(over, "2")).toEqual({ radius: 4 });
});

test("keeps an unknown class with links and names its pack unless bypassed", () => {
  const nodes = (mode: number) => [
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
  const { graph, problems } = convert(net(nodes(0)));
  expect(graph["2"]).toEqual({
    class_type: "Sharpen",
    inputs: { UNKNOWN: { __value__: [3] }, image: ["1", 0] },
    _meta: { title: "Sharp" },
  });
  expect(problems).toEqual([
    { code: "missing_class", nodeId: "2", classType: "Sharpen", title: "Sharp", pack: "someone/pack", version: "1.2" },
  ]);
  const bypassed = convert(net(nodes(4)));
  expect(bypassed.graph["3"]?.inputs).toEqual({ images: ["1", 0] });
  expect(bypassed.problems).toEqual([]);
});

test("reports links that the file lacks or that start at a missing node", () => {
  const file = net([{ id: 3, type: "Sink", in: { images: [9, 0], also: [3, 0] } }]);
  const { graph, problems } = convert({ ...file, links: file.links.slice(0, 1) });
  expect(graph["3"]?.inputs).toEqual({});
  expect(problems).toEqual([
    { code: "broken_link", nodeId: "3", input: "images" },
    { code: "broken_link", nodeId: "3", input: "also" },
  ]);
});

test("reports node pack links instead of guessing them", () => {
  expect(codes(convert({ ...net([]), extra: { ue_links: [{}] } }).problems)).toEqual(["links_by_rule"]);
});

test("rejects files that are not the editor's", () => {
  for (const value of [undefined, null, 3, "no", [], {}, { nodes: {} }])
    expect(convert(value)).toEqual({ graph: {}, problems: [{ code: "not_an_editor_file" }], notices: [], rawTexts: [] });
});

test("fills a primitive's text as the widget would", () => {
  const file = net([
    { id: 1, type: "PrimitiveNode", values: ["a // b"] },
    { id: 2, type: "Prompt", in: { text: [1, 0, "STRING", true] }, values: ["", ""] },
  ]);
  expect(getInputs(file, "2")).toEqual({ text: "a ", plain: "" });
});

test("identifies a slot by its own name, else by its widget's", () => {
  const file = net([
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

test("uses the last of several slots with one name", () => {
  const file = net([
    { id: 1, type: "Source" },
    { id: 2, type: "Sink", in: { images: [1, 0], also: [1, 1] } },
  ]);
  const nodes = file.nodes.map((node) => ({ ...node, inputs: node.inputs.map((slot) => ({ ...slot, name: "images" })) }));
  expect(getInputs({ ...file, nodes }, "2")).toEqual({ images: ["1", 1] });
});
