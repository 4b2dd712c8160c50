// Nodes that exist only in the editor: Set and Get nodes that belong together by name, labels, switches, and classes without a link.
import { expect, test } from "vitest";
import { convert, definition, getInputs, net, type NodeSpec } from "./editor-files";

const INNER = "11111111-1111-1111-1111-111111111111";
const OUTER = "22222222-2222-2222-2222-222222222222";
const source: NodeSpec = { id: 1, type: "Source" };
const set = (id: number, name: unknown, from: unknown, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type: "SetNode",
  in: { IMAGE: from },
  values: [name],
  ...overrides,
});
const get = (id: number, name: unknown, overrides: Partial<NodeSpec> = {}): NodeSpec => ({
  id,
  type: "GetNode",
  values: [name],
  ...overrides,
});
const sink = (id: number, from: unknown): NodeSpec => ({ id, type: "Sink", in: { images: from } });

test.for<[string, NodeSpec[], unknown]>([
  ["one Get", [source, set(2, "pic", [1, 1]), get(3, "pic"), sink(9, [3, 0])], ["1", 1]],
  [
    "a Get whose Set reads another Get",
    [source, set(2, "a", [1, 0]), get(3, "a"), set(4, "b", [3, 0]), get(5, "b"), sink(9, [5, 0])],
    ["1", 0],
  ],
  [
    "reroutes on both sides",
    [source, reroute(6, [1, 1]), set(2, "pic", [6, 0]), get(3, "pic"), reroute(7, [3, 0]), sink(9, [7, 0])],
    ["1", 1],
  ],
  ["the Set's own output", [source, set(2, "pic", [1, 1]), sink(9, [2, 0])], ["1", 1]],
  ["a muted Set", [source, set(2, "pic", [1, 1], { mode: 2 }), get(3, "pic"), sink(9, [3, 0])], ["1", 1]],
  ["a bypassed Set", [source, set(2, "pic", [1, 1], { mode: 4 }), get(3, "pic"), sink(9, [3, 0])], ["1", 1]],
  [
    "a bypassed source",
    [source, { id: 4, type: "Blur", mode: 4, in: { image: [1, 1] } }, set(2, "pic", [4, 0]), get(3, "pic"), sink(9, [3, 0])],
    ["1", 1],
  ],
  ["the first of two Sets", [source, set(2, "pic", [1, 1]), set(4, "pic", [1, 0]), get(3, "pic"), sink(9, [3, 0])], ["1", 1]],
  ["a muted Get", [source, set(2, "pic", [1, 1]), get(3, "pic", { mode: 2 }), sink(9, [3, 0])], undefined],
  [
    "another pack's pair",
    [source, set(2, "pic", [1, 1], { type: "easy setNode" }), get(3, "pic", { type: "easy getNode" }), sink(9, [3, 0])],
    ["1", 1],
  ],
  ["values by name", [source, set(2, "pic", [1, 1], { values: { Constant: "pic" } }), get(3, "pic"), sink(9, [3, 0])], ["1", 1]],
  ["rgthree's reroute", [source, reroute(6, [1, 1], "Reroute (rgthree)"), sink(9, [6, 0])], ["1", 1]],
])("resolves a link over %s", ([, nodes, link]) => {
  const { graph, problems } = convert(net(nodes));
  expect(graph["9"]?.inputs).toEqual(link === undefined ? {} : { images: link });
  expect(Object.values(graph).map(({ class_type }) => class_type)).not.toContain("SetNode");
  expect(problems).toEqual([]);
});

function reroute(id: number, from: unknown, type = "Reroute"): NodeSpec {
  return { id, type, in: { "": from } };
}

test.for<[string, NodeSpec[]]>([
  ["no Set has its name", [source, set(2, "Pic", [1, 0]), get(3, "pic"), sink(9, [3, 0])]],
  ["its Set belongs to another pack", [source, set(2, "pic", [1, 0], { type: "easy setNode" }), get(3, "pic"), sink(9, [3, 0])]],
  ["nothing is linked into its Set", [source, set(2, "pic", undefined), get(3, "pic"), sink(9, [3, 0])]],
])("reports a Get at its input if %s", ([, nodes]) => {
  const { graph, problems } = convert(net(nodes));
  expect(graph).toEqual({ "1": expect.anything(), "9": expect.objectContaining({ inputs: {} }) });
  expect(problems).toEqual([{ code: "not_set", nodeId: "9", input: "images", name: "pic" }]);
});

test("ends looping Set and Get nodes as a broken link", () => {
  const { problems } = convert(net([set(2, "a", [3, 0]), get(3, "a"), sink(9, [3, 0])]));
  expect(problems).toEqual([{ code: "broken_link", nodeId: "9", input: "images" }]);
});

test("resolves Get from its own graph or an outer one, never from inside", () => {
  const inner = (nodes: NodeSpec[]) => definition(INNER, [...nodes, get(31, "pic"), sink(32, [31, 0])], { inputs: ["image"] });
  const outer = (more: NodeSpec[]) => [source, set(2, "pic", [1, 1]), { id: 5, type: INNER, in: { image: [1, 0] } }, ...more];
  const file = (nodes: NodeSpec[], inside: NodeSpec[]) => ({ ...net(nodes), definitions: { subgraphs: [inner(inside)] } });
  expect(getInputs(file(outer([]), []), "5:32")).toEqual({ images: ["1", 1] });
  expect(getInputs(file(outer([]), [set(30, "pic", [-10, 0])]), "5:32")).toEqual({ images: ["1", 0] });
  const hidden = [{ id: 5, type: INNER, in: {} }, get(6, "inside"), sink(9, [6, 0])];
  expect(getInputs(file(hidden, [source, set(30, "inside", [1, 0])]), "9")).toEqual({});
  const nested = definition(OUTER, [{ id: 50, type: INNER }]);
  const twoDeep = { ...net([source, set(2, "pic", [1, 1]), { id: 4, type: OUTER }]), definitions: { subgraphs: [nested, inner([])] } };
  expect(getInputs(twoDeep, "4:50:32")).toEqual({ images: ["1", 1] });
});

test("finds no widget by name behind a primitive, like behind a reroute", () => {
  const nodes = [
    { id: 1, type: "PrimitiveNode", values: [77] },
    set(2, "r", [1, 0, "INT"]),
    get(3, "r"),
    { id: 4, type: "Blur", in: { radius: [3, 0, "INT", true] }, values: [5] },
  ];
  expect(getInputs(net(nodes), "4")).toEqual({ radius: 5 });
});

test("omits and reports labels, switches and unlinked unknown classes", () => {
  const nodes = [
    source,
    sink(9, [1, 0]),
    { id: 3, type: "Label (rgthree)", title: "Step 1" },
    { id: 4, type: "Fast Muter (rgthree)", in: { "": [9, 0, "*"] } },
    { id: 5, type: "Mute / Bypass Repeater (rgthree)", mode: 4, in: { "": [1, 0, "*"] } },
    { id: 6, type: "SomePanel", values: ["text"] },
    { id: 7, type: "OnlyForTheSwitch" },
    { id: 8, type: "Fast Bypasser (rgthree)", in: { "": [7, 0, "*"] } },
    set(10, "pic", [1, 0]),
    get(11, "pic"),
  ];
  const { graph, problems, notices } = convert(net(nodes));
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
  ["takes a link", [source, { id: 3, type: "Lacking", in: { image: [1, 0] } }]],
  ["gives a link", [{ id: 3, type: "Lacking" }, sink(9, [3, 0])]],
  ["has a name that only ends like one of a pair", [{ id: 3, type: "ImageOffsetNode" }, sink(9, [3, 0])]],
  [
    "is all that would run",
    [
      { id: 3, type: "Lacking" },
      { id: 4, type: "Label (rgthree)" },
    ],
  ],
])("keeps an unknown class a problem if it %s", ([, nodes]) => {
  const { graph, problems } = convert(net(nodes));
  expect(graph["3"]).toBeDefined();
  expect(problems).toMatchObject([{ code: "missing_class", nodeId: "3" }]);
});

test("links a class that only a subgraph's output uses", () => {
  const inner = definition(INNER, [{ id: 30, type: "Lacking" }], { outputs: [[30, 0]] });
  const file = { ...net([source, { id: 5, type: INNER }, sink(9, [5, 0])]), definitions: { subgraphs: [inner] } };
  expect(convert(file).problems).toMatchObject([{ code: "missing_class", nodeId: "5:30" }]);
});
