// Subgraphs and group nodes, by the editor's rules.
import { expect, test } from "vitest";
import {
  blurSubgraph,
  convert,
  createEditorFile,
  createFileWithSubgraph,
  createSubgraph,
  INNER_ID,
  type NodeSpec,
  OUTER_ID,
} from "./editor-files";

test("omits a muted subgraph's nodes and bypasses a subgraph by its outer types", () => {
  expect(convert(createFileWithSubgraph({ mode: 2 })).graph).toEqual({
    "1": expect.anything(),
    "3": expect.objectContaining({ inputs: {} }),
  });
  expect(convert(createFileWithSubgraph({ mode: 4 })).graph).toEqual({
    "1": expect.anything(),
    "3": expect.objectContaining({ inputs: { images: ["1", 1] } }),
  });
});

test("converts muted and bypassed nested subgraphs as the editor does", () => {
  const createOuter = (mode: number) =>
    createSubgraph(OUTER_ID, [{ id: 7, type: INNER_ID, mode, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[7, 0]] });
  const convertNested = (mode: number) => convert(createFileWithSubgraph({ type: OUTER_ID }, [blurSubgraph, createOuter(mode)]));
  expect(convertNested(2).graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(convertNested(2).graph["3"]?.inputs).toEqual({});
  expect(convertNested(4).graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(convertNested(4).graph["3"]?.inputs).toEqual({ images: ["1", 1] });
  expect([convertNested(0).problems, convertNested(4).problems]).toEqual([[], [{ code: "inside_of_off_sent", nodeId: "2:7" }]]);
  const subgraphWithBypassedNode = createSubgraph(INNER_ID, [{ id: 5, type: "Blur", mode: 4 }], { inputs: ["image"] });
  expect(convert(createFileWithSubgraph({ type: OUTER_ID }, [subgraphWithBypassedNode, createOuter(4)])).problems).toEqual([]);
});

test("joins the ids of nested subgraphs and passes values and links on", () => {
  const outer = createSubgraph(OUTER_ID, [{ id: 7, type: INNER_ID, in: { image: [-10, 0], radius: [-10, 1, "INT", true] }, values: [] }], {
    inputs: ["image", "radius"],
    outputs: [[7, 0]],
  });
  const { graph } = convert(createFileWithSubgraph({ type: OUTER_ID }, [blurSubgraph, outer]));
  expect(graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(graph["3"]?.inputs).toEqual({ images: ["2:7:5", 0] });
  const linkedFile = createFileWithSubgraph({ type: OUTER_ID, in: { image: [1, 1], radius: [1, 2, "INT", true] } }, [blurSubgraph, outer]);
  expect(convert(linkedFile).graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: ["1", 2] });
  const primitive = {
    ...linkedFile,
    nodes: linkedFile.nodes.map((node) => (node.id === 1 ? { ...node, type: "PrimitiveNode", widgets_values: [77] } : node)),
  };
  expect(convert(primitive).graph["2:7:5"]?.inputs.radius).toBe(77);
});

test("renumbers duplicate inner ids like the editor", () => {
  const clashingSubgraph = createSubgraph(
    INNER_ID,
    [
      { id: 1, type: "Source" },
      { id: 9, type: "Blur", in: { image: [1, 0] }, values: [2] },
    ],
    { outputs: [[9, 0]] },
  );
  const { graph } = convert(createFileWithSubgraph({ in: {} }, [clashingSubgraph]));
  expect(Object.keys(graph).sort()).toEqual(["1", "2:4", "2:9", "3"]);
  expect(graph["2:9"]?.inputs).toEqual({ image: ["2:4", 0], radius: 2 });
});

test("keeps the text of an exposed subgraph input unprocessed", () => {
  const prompt = createSubgraph(INNER_ID, [{ id: 5, type: "Prompt", in: { text: [-10, 0, "STRING", true] }, values: ["a // b", ""] }], {
    inputs: ["text"],
  });
  const { graph, rawTexts } = convert(createFileWithSubgraph({}, [prompt]));
  expect(graph["2:5"]?.inputs.text).toBe("a // b");
  expect(rawTexts).toEqual(["2:5 text"]);
});

test("stops at a recursive definition and reports a missing one", () => {
  const recursiveSubgraph = createSubgraph(INNER_ID, [{ id: 5, type: INNER_ID, in: { image: [-10, 0] } }], {
    inputs: ["image"],
    outputs: [[5, 0]],
  });
  expect(convert(createFileWithSubgraph({}, [recursiveSubgraph])).graph["1"]).toBeDefined();
  expect(convert(createFileWithSubgraph({}, [])).problems).toContainEqual({ code: "missing_subgraph", nodeId: "2", id: INNER_ID });
});

const createGroupNodeFile = (outer: Partial<NodeSpec>, nodes: object[], links: unknown[], sinkSlot?: number) => ({
  ...createEditorFile([
    { id: 1, type: "Source" },
    { id: 8, type: "workflow/both", ...outer },
    ...(sinkSlot === undefined ? [] : [{ id: 3, type: "Sink", in: { images: [8, sinkSlot] } }]),
  ]),
  extra: { groupNodes: { both: { nodes, links, external: [] } } },
});

test("converts a group node's members with the group node's id and values", () => {
  const radiusInput = { name: "radius", type: "INT", widget: { name: "radius" } };
  const nodes = [
    { index: 0, type: "Seeded", widgets_values: [1, "fixed", 2] },
    { index: 1, type: "Blur", inputs: [{ name: "image", type: "IMAGE" }, radiusInput], widgets_values: [3] },
  ];
  const use = { type: "workflow>both", in: { image: [1, 0] }, values: [11, "fixed", 22, 33] };
  const { graph } = convert(createGroupNodeFile(use, nodes, [[0, 0, 1, 1, 1, "INT"]], 0));
  expect(graph["8:0"]?.inputs).toEqual({ seed: 11, steps: 22 });
  expect(graph["8:1"]?.inputs).toEqual({ radius: ["8:0", 0], image: ["1", 0] });
  expect(graph["3"]?.inputs).toEqual({ images: ["8:1", 0] });
});

test("skips values of linked inner inputs and their controls", () => {
  const createWidgetInput = (name: string) => ({ name, type: "INT", widget: { name } });
  const nodes = [
    { index: 0, type: "Source" },
    { index: 1, type: "Seeded", inputs: [createWidgetInput("seed")], widgets_values: [1, "fixed", 2] },
    { index: 2, type: "Note", widgets_values: ["read me"] },
    { index: 3, type: "Blur", widgets_values: [3] },
  ];
  const { graph } = convert(createGroupNodeFile({ values: [22, 33] }, nodes, [[0, 2, 1, 0, 1, "INT"]]));
  expect(graph["8:1"]?.inputs).toEqual({ seed: ["8:0", 2], steps: 22 });
  expect(graph["8:3"]?.inputs).toEqual({ radius: 33 });
});

test("places a group node's converted input last with its value and name", () => {
  const nodes = [
    { index: 0, type: "Blur", inputs: [{ name: "radius", type: "INT", widget: { name: "radius" } }], widgets_values: [1] },
    { index: 1, type: "Blur", title: "Second", widgets_values: [2] },
  ];
  expect(convert(createGroupNodeFile({ values: [22, 11] }, nodes, [])).graph).toMatchObject({
    "8:0": { inputs: { radius: 11 } },
    "8:1": { inputs: { radius: 22 } },
  });
  const linkedFile = createGroupNodeFile({ values: [22, 11], in: { "Blur radius": [1, 2, "INT", true] } }, nodes, []);
  expect(convert(linkedFile).graph["8:0"]?.inputs).toEqual({ radius: ["1", 2] });
});

test("honours renamed and hidden slots of a group node", () => {
  const nodes = [
    { index: 0, type: "Source" },
    { index: 1, type: "Blur", inputs: [{ name: "mask", type: "MASK", label: "Where" }], widgets_values: [3] },
    { index: 2, type: "Blur", widgets_values: [4] },
  ];
  const config = {
    "0": { output: { "0": { visible: false }, "1": { visible: false } } },
    "1": { input: { image: { name: "Picture" }, more: { visible: false }, radius: { name: "Size", visible: false } } },
    "2": { input: { image: { name: "Picture" } } },
  };
  const use = {
    values: [11, 22],
    in: { Where: [1, 0, "MASK"], Picture: [1, 0], more: [1, 1], "Blur image": [1, 1], Size: [1, 2, "INT", true] },
  };
  const file = createGroupNodeFile(use, nodes, [], 1);
  const { graph } = convert({ ...file, extra: { groupNodes: { both: { ...file.extra.groupNodes.both, config } } } });
  expect(graph).toMatchObject({
    "8:1": { inputs: { mask: ["1", 0], image: ["1", 0], radius: ["1", 2] } },
    // The first node hides its radius, so the value belongs to the second node.
    "8:2": { inputs: { image: ["1", 1], radius: 22 } },
    // The second visible output. The first is the source's only visible output.
    "3": { inputs: { images: ["8:1", 0] } },
  });
  expect(graph["8:1"]?.inputs.more).toBeUndefined();
});

test("follows a reroute at a group node's boundary by type", () => {
  const nodes = [
    { index: 0, type: "Reroute", inputs: [{ name: "", type: "*" }], outputs: [{ name: "", type: "*" }] },
    { index: 1, type: "Blur", inputs: ["mask", "image"].map((name) => ({ name, type: "IMAGE" })), widgets_values: [3] },
    { index: 2, type: "Reroute", inputs: [{ name: "", type: "*" }], outputs: [{ name: "IMAGE", type: "IMAGE" }] },
  ];
  const links = [
    [0, 0, 1, 1, 1, "IMAGE"],
    [1, 0, 2, 0, 2, "IMAGE"],
  ];
  // Outputs in order: the blur's unused outputs, then the reroute's output.
  const { graph } = convert(createGroupNodeFile({ values: [11], in: { IMAGE: [1, 1] } }, nodes, links, 2));
  expect(graph).toMatchObject({ "8:1": { inputs: { image: ["1", 1], radius: 11 } }, "3": { inputs: { images: ["8:1", 0] } } });
});

test("ignores unused definitions in filenames and reads inner nodes first", () => {
  const createSeededSubgraph = (id: string, steps: number) =>
    createSubgraph(id, [{ id: 5, type: "Seeded", title: "Named", values: [1, "fixed", steps] }]);
  const saveNode = { id: 9, type: "SaveImage", values: ["%Named.steps%"], properties: {} };
  const file = { ...createEditorFile([saveNode]), definitions: { subgraphs: [createSeededSubgraph(INNER_ID, 7)] } };
  expect(convert(file).graph["9"]?.inputs.filename_prefix).toBe("%Named.steps%");
  const usedFile = {
    ...createEditorFile([saveNode, { id: 2, type: INNER_ID, mode: 2, title: "Named" }]),
    definitions: { subgraphs: [createSeededSubgraph(OUTER_ID, 8), createSeededSubgraph(INNER_ID, 7)] },
  };
  expect(convert(usedFile).graph["9"]?.inputs.filename_prefix).toBe("7");
});

test("reports too many nodes for exponentially nested definitions", () => {
  const ids = Array.from({ length: 24 }, (_, index) => `33333333-3333-4333-8333-${String(index).padStart(12, "0")}`);
  const nested = ids.map((id, index) => {
    const next = ids[index + 1];
    const inner = [5, 6].map((node) => ({ id: node, type: next ?? "Unknown", in: { image: [-10, 0] } }));
    return createSubgraph(id, inner, { inputs: ["image"], outputs: [[5, 0]] });
  });
  const { problems } = convert({ ...createFileWithSubgraph({ type: ids[0], in: {} }, nested), last_node_id: 1e300 });
  expect(problems).toContainEqual({ code: "too_many_nodes", max: 5000 });
});

test("uses the value of the widget that the input lists first", () => {
  const twoBlurs = createSubgraph(
    INNER_ID,
    [
      { id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] },
      { id: 6, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [9] },
    ],
    { inputs: ["radius"] },
  );
  const [radius] = twoBlurs.inputs;
  const { graph } = convert(createFileWithSubgraph({ in: {} }, [{ ...twoBlurs, inputs: [{ ...radius, linkIds: [101, 100] }] }]));
  expect([graph["2:5"]?.inputs.radius, graph["2:6"]?.inputs.radius]).toEqual([9, 9]);
});

test("distinguishes inputs with the same name by order", () => {
  const subgraph = createSubgraph(INNER_ID, [{ id: 5, type: "Sink", in: { images: [-10, 0], also: [-10, 1] } }], {
    inputs: ["image", "image"],
  });
  const file = createFileWithSubgraph({ in: { image: [1, 1], more: [1, 0] } }, [subgraph]);
  const nodes = file.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((slot) => ({ ...slot, name: node.id === 2 ? "image" : slot.name })),
  }));
  expect(convert({ ...file, nodes }).graph["2:5"]?.inputs).toEqual({ images: ["1", 1], also: ["1", 0] });
});

test("writes an exposed value to every target, with or without a widget", () => {
  const shared = createSubgraph(
    INNER_ID,
    [
      { id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] },
      { id: 6, type: "Sink", in: { any: [-10, 0] } },
    ],
    { inputs: ["radius"] },
  );
  const { graph } = convert(createFileWithSubgraph({ in: {} }, [shared]));
  expect(graph["2:6"]?.inputs).toEqual({ any: 6 });
});

test("reports duplicate ids, including those in subgraphs", () => {
  const createDuplicates = (first: number) => [
    { id: first, type: "Source" },
    { id: first, type: "Source" },
  ];
  const inner = { ...createSubgraph(INNER_ID, createDuplicates(30)) };
  const file = { ...createEditorFile([...createDuplicates(1), { id: 2, type: inner.id }]), definitions: { subgraphs: [inner] } };
  expect(convert(file).problems).toEqual([
    { code: "duplicate_id", nodeId: "1", count: 2 },
    { code: "duplicate_id", nodeId: expect.stringMatching(/^2:/), count: 2 },
  ]);
});
