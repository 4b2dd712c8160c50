// Nodes that exist only in the editor: Set and Get nodes paired by name, labels, switches, and unlinked classes.
import { expect, test } from "vitest";
import { convert, createEditorFile, createSubgraph, getInputs, INNER_ID, type NodeSpec, OUTER_ID } from "./editor-files";

const source: NodeSpec = { id: 1, type: "Source" };
const createSetNode = (id: number, name: unknown, from: unknown, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type: "SetNode",
  in: { IMAGE: from },
  values: [name],
  ...overrides,
});
const createGetNode = (id: number, name: unknown, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type: "GetNode",
  values: [name],
  ...overrides,
});
const createSink = (id: number, from: unknown): NodeSpec => ({ id, type: "Sink", in: { images: from } });
const createReroute = (id: number, from: unknown, type = "Reroute"): NodeSpec => ({ id, type, in: { "": from } });
/** A Set node linked to the source's second output, a Get node with the same name and a sink. */
const createPair = (setOverrides: Partial<NodeSpec>, getOverrides: Partial<NodeSpec> = {}) => [
  source,
  createSetNode(2, "pic", [1, 1], setOverrides),
  createGetNode(3, "pic", getOverrides),
  createSink(9, [3, 0]),
];

test.for<[string, NodeSpec[], unknown]>([
  [
    "a Get whose Set reads another Get",
    [
      source,
      createSetNode(2, "a", [1, 0]),
      createGetNode(3, "a"),
      createSetNode(4, "b", [3, 0]),
      createGetNode(5, "b"),
      createSink(9, [5, 0]),
    ],
    ["1", 0],
  ],
  [
    "reroutes on both sides",
    [
      source,
      createReroute(6, [1, 1]),
      createSetNode(2, "pic", [6, 0]),
      createGetNode(3, "pic"),
      createReroute(7, [3, 0]),
      createSink(9, [7, 0]),
    ],
    ["1", 1],
  ],
  ["the Set's own output", [source, createSetNode(2, "pic", [1, 1]), createSink(9, [2, 0])], ["1", 1]],
  ["a muted Set", createPair({ mode: 2 }), ["1", 1]],
  ["a bypassed Set", createPair({ mode: 4 }), ["1", 1]],
  [
    "a bypassed source",
    [
      source,
      { id: 4, type: "Blur", mode: 4, in: { image: [1, 1] } },
      createSetNode(2, "pic", [4, 0]),
      createGetNode(3, "pic"),
      createSink(9, [3, 0]),
    ],
    ["1", 1],
  ],
  [
    "the first of two Sets",
    [source, createSetNode(2, "pic", [1, 1]), createSetNode(4, "pic", [1, 0]), createGetNode(3, "pic"), createSink(9, [3, 0])],
    ["1", 1],
  ],
  ["a muted Get", createPair({}, { mode: 2 }), undefined],
  ["another pack's Set and Get", createPair({ type: "easy setNode" }, { type: "easy getNode" }), ["1", 1]],
  ["a Set with named values", createPair({ values: { Constant: "pic" } }), ["1", 1]],
  ["rgthree's reroute", [source, createReroute(6, [1, 1], "Reroute (rgthree)"), createSink(9, [6, 0])], ["1", 1]],
])("resolves a link through %s", ([, nodes, link]) => {
  const { graph, problems } = convert(createEditorFile(nodes));
  expect(graph["9"]?.inputs).toEqual(link === undefined ? {} : { images: link });
  expect(Object.values(graph).map(({ class_type }) => class_type)).not.toContain("SetNode");
  expect(problems).toEqual([]);
});

test.for<[string, NodeSpec[]]>([
  ["no Set has its name", createPair({ values: ["Pic"] })],
  ["its Set belongs to another pack", createPair({ type: "easy setNode" })],
  ["its Set has no linked input", createPair({ in: { IMAGE: undefined } })],
])("reports a Get node at the linked input when %s", ([, nodes]) => {
  const { graph, problems } = convert(createEditorFile(nodes));
  expect(graph).toEqual({ "1": expect.anything(), "9": expect.objectContaining({ inputs: {} }) });
  expect(problems).toEqual([{ code: "not_set", nodeId: "9", input: "images", name: "pic" }]);
});

test("reports a broken link when Set and Get nodes form a loop", () => {
  const { problems } = convert(createEditorFile([createSetNode(2, "a", [3, 0]), createGetNode(3, "a"), createSink(9, [3, 0])]));
  expect(problems).toEqual([{ code: "broken_link", nodeId: "9", input: "images" }]);
});

test("resolves a Get from its own or an outer graph, never from an inner graph", () => {
  const createInner = (nodes: NodeSpec[]) =>
    createSubgraph(INNER_ID, [...nodes, createGetNode(31, "pic"), createSink(32, [31, 0])], { inputs: ["image"] });
  const createOuterNodes = (extraNodes: NodeSpec[]) => [
    source,
    createSetNode(2, "pic", [1, 1]),
    { id: 5, type: INNER_ID, in: { image: [1, 0] } },
    ...extraNodes,
  ];
  const createFile = (nodes: NodeSpec[], innerNodes: NodeSpec[]) => ({
    ...createEditorFile(nodes),
    definitions: { subgraphs: [createInner(innerNodes)] },
  });
  expect(getInputs(createFile(createOuterNodes([]), []), "5:32")).toEqual({ images: ["1", 1] });
  expect(getInputs(createFile(createOuterNodes([]), [createSetNode(30, "pic", [-10, 0])]), "5:32")).toEqual({ images: ["1", 0] });
  const outerNodes = [{ id: 5, type: INNER_ID, in: {} }, createGetNode(6, "inside"), createSink(9, [6, 0])];
  expect(getInputs(createFile(outerNodes, [source, createSetNode(30, "inside", [1, 0])]), "9")).toEqual({});
  const nested = createSubgraph(OUTER_ID, [{ id: 50, type: INNER_ID }]);
  const nestedFile = {
    ...createEditorFile([source, createSetNode(2, "pic", [1, 1]), { id: 4, type: OUTER_ID }]),
    definitions: { subgraphs: [nested, createInner([])] },
  };
  expect(getInputs(nestedFile, "4:50:32")).toEqual({ images: ["1", 1] });
});

test("ignores a primitive's value behind Set and Get nodes", () => {
  const nodes = [
    { id: 1, type: "PrimitiveNode", values: [77] },
    createSetNode(2, "r", [1, 0, "INT"]),
    createGetNode(3, "r"),
    { id: 4, type: "Blur", in: { radius: [3, 0, "INT", true] }, values: [5] },
  ];
  expect(getInputs(createEditorFile(nodes), "4")).toEqual({ radius: 5 });
});

test("omits and reports labels, switches and unlinked unknown classes", () => {
  const nodes = [
    source,
    createSink(9, [1, 0]),
    { id: 3, type: "Label (rgthree)", title: "Step 1" },
    { id: 4, type: "Fast Muter (rgthree)", in: { "": [9, 0, "*"] } },
    { id: 5, type: "Mute / Bypass Repeater (rgthree)", mode: 4, in: { "": [1, 0, "*"] } },
    { id: 6, type: "SomePanel", values: ["text"] },
    { id: 7, type: "OnlyForTheSwitch" },
    { id: 8, type: "Fast Bypasser (rgthree)", in: { "": [7, 0, "*"] } },
    createSetNode(10, "pic", [1, 0]),
    createGetNode(11, "pic"),
  ];
  const { graph, problems, notices } = convert(createEditorFile(nodes));
  expect([Object.keys(graph), problems]).toEqual([["1", "9"], []]);
  expect(notices).toEqual([
    { code: "left_out", nodeId: "3", classType: "Label (rgthree)", title: "Step 1" },
    { code: "left_out", nodeId: "4", classType: "Fast Muter (rgthree)" },
    { code: "left_out", nodeId: "8", classType: "Fast Bypasser (rgthree)" },
    { code: "resolved", nodeId: "11", name: "pic" },
    { code: "left_out", nodeId: "6", classType: "SomePanel" },
    { code: "left_out", nodeId: "7", classType: "OnlyForTheSwitch" },
  ]);
});

test.for<[string, NodeSpec[]]>([
  ["has a linked input", [source, { id: 3, type: "UnknownClass", in: { image: [1, 0] } }]],
  ["has a linked output", [{ id: 3, type: "UnknownClass" }, createSink(9, [3, 0])]],
  ["only resembles a Set or Get node by name", [{ id: 3, type: "ImageOffsetNode" }, createSink(9, [3, 0])]],
  [
    "is the only node that would run",
    [
      { id: 3, type: "UnknownClass" },
      { id: 4, type: "Label (rgthree)" },
    ],
  ],
])("reports an unknown class as a problem when it %s", ([, nodes]) => {
  const { graph, problems } = convert(createEditorFile(nodes));
  expect(graph["3"]).toBeDefined();
  expect(problems).toMatchObject([{ code: "missing_class", nodeId: "3" }]);
});

test("reports a missing class when only a subgraph's output uses it", () => {
  const inner = createSubgraph(INNER_ID, [{ id: 30, type: "UnknownClass" }], { outputs: [[30, 0]] });
  const file = { ...createEditorFile([source, { id: 5, type: INNER_ID }, createSink(9, [5, 0])]), definitions: { subgraphs: [inner] } };
  expect(convert(file).problems).toMatchObject([{ code: "missing_class", nodeId: "5:30" }]);
});
