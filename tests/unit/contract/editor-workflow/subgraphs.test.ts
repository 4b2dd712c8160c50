// Subgraphs and group nodes, by the editor's rules.
import { expect, test } from "vitest";
import { blur, convert, definition, INNER, net, type NodeSpec, OUTER, using } from "./editor-files";

test("sends a subgraph's nodes under the use's id with outer links", () => {
  const { graph, problems } = convert(using({}));
  expect(graph["2:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(graph["3"]?.inputs).toEqual({ images: ["2:5", 0] });
  expect(Object.keys(graph).sort()).toEqual(["1", "2:5", "3"]);
  expect(problems).toEqual([]);
});

test("sends nothing inside a muted use and bypasses by outer types", () => {
  expect(convert(using({ mode: 2 })).graph).toEqual({ "1": expect.anything(), "3": expect.objectContaining({ inputs: {} }) });
  expect(convert(using({ mode: 4 })).graph).toEqual({
    "1": expect.anything(),
    "3": expect.objectContaining({ inputs: { images: ["1", 1] } }),
  });
});

test("sends nested muted or bypassed uses like the editor and reports them", () => {
  const outer = (mode: number) =>
    definition(OUTER, [{ id: 7, type: INNER, mode, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[7, 0]] });
  const nested = (mode: number) => convert(using({ type: OUTER }, [blur, outer(mode)]));
  expect(nested(2).graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(nested(2).graph["3"]?.inputs).toEqual({});
  expect(nested(4).graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(nested(4).graph["3"]?.inputs).toEqual({ images: ["1", 1] });
  expect([nested(0).problems, nested(4).problems]).toEqual([[], [{ code: "inside_of_off_sent", nodeId: "2:7" }]]);
  const off = definition(INNER, [{ id: 5, type: "Blur", mode: 4 }], { inputs: ["image"] });
  expect(convert(using({ type: OUTER }, [off, outer(4)])).problems).toEqual([]);
});

test("joins the ids of nested subgraphs and passes values and links through", () => {
  const outer = definition(OUTER, [{ id: 7, type: INNER, in: { image: [-10, 0], radius: [-10, 1, "INT", true] }, values: [] }], {
    inputs: ["image", "radius"],
    outputs: [[7, 0]],
  });
  const file = using({ type: OUTER }, [blur, outer]);
  const { graph } = convert(file);
  expect(graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: 6 });
  expect(graph["3"]?.inputs).toEqual({ images: ["2:7:5", 0] });
  const linkedFile = using({ type: OUTER, in: { image: [1, 1], radius: [1, 2, "INT", true] } }, [blur, outer]);
  expect(convert(linkedFile).graph["2:7:5"]?.inputs).toEqual({ image: ["1", 1], radius: ["1", 2] });
  const primitive = {
    ...linkedFile,
    nodes: linkedFile.nodes.map((node) => (node.id === 1 ? { ...node, type: "PrimitiveNode", widgets_values: [77] } : node)),
  };
  expect(convert(primitive).graph["2:7:5"]?.inputs.radius).toBe(77);
});

test("renumbers duplicate inner ids like the editor", () => {
  const clash = definition(
    INNER,
    [
      { id: 1, type: "Source" },
      { id: 9, type: "Blur", in: { image: [1, 0] }, values: [2] },
    ],
    { outputs: [[9, 0]] },
  );
  const { graph } = convert(using({ in: {} }, [clash]));
  expect(Object.keys(graph).sort()).toEqual(["1", "2:4", "2:9", "3"]);
  expect(graph["2:9"]?.inputs).toEqual({ image: ["2:4", 0], radius: 2 });
});

test("sends a subgraph's output text raw", () => {
  const prompt = definition(INNER, [{ id: 5, type: "Prompt", in: { text: [-10, 0, "STRING", true] }, values: ["a // b", ""] }], {
    inputs: ["text"],
  });
  const { graph, rawTexts } = convert(using({}, [prompt]));
  expect(graph["2:5"]?.inputs.text).toBe("a // b");
  expect(rawTexts).toEqual(["2:5 text"]);
});

test("ends a recursive definition and reports a missing one", () => {
  const self = definition(INNER, [{ id: 5, type: INNER, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[5, 0]] });
  expect(convert(using({}, [self])).graph["1"]).toBeDefined();
  expect(convert(using({}, [])).problems).toContainEqual({ code: "missing_subgraph", nodeId: "2", id: INNER });
});

test("sends a group node's inside under its id with its values", () => {
  const file = {
    ...net([
      { id: 1, type: "Source" },
      { id: 8, type: "workflow>both", in: { image: [1, 0] }, values: [11, "fixed", 22, 33] },
      { id: 3, type: "Sink", in: { images: [8, 0] } },
    ]),
    extra: {
      groupNodes: {
        both: {
          nodes: [
            { index: 0, type: "Seeded", widgets_values: [1, "fixed", 2] },
            {
              index: 1,
              type: "Blur",
              inputs: [
                { name: "image", type: "IMAGE" },
                { name: "radius", type: "INT", widget: { name: "radius" } },
              ],
              widgets_values: [3],
            },
          ],
          links: [[0, 0, 1, 1, 1, "INT"]],
          external: [],
        },
      },
    },
  };
  const { graph } = convert(file);
  expect(graph["8:0"]?.inputs).toEqual({ seed: 11, steps: 22 });
  expect(graph["8:1"]?.inputs).toEqual({ radius: ["8:0", 0], image: ["1", 0] });
  expect(graph["3"]?.inputs).toEqual({ images: ["8:1", 0] });
});

const createGrouped = (outer: Partial<NodeSpec>, nodes: object[], links: unknown[]) => ({
  ...net([
    { id: 1, type: "Source" },
    { id: 8, type: "workflow/both", ...outer },
  ]),
  extra: { groupNodes: { both: { nodes, links, external: [] } } },
});

test("skips values of linked inner inputs and their controls", () => {
  const widget = (name: string) => ({ name, type: "INT", widget: { name } });
  const nodes = [
    { index: 0, type: "Source" },
    { index: 1, type: "Seeded", inputs: [widget("seed")], widgets_values: [1, "fixed", 2] },
    { index: 2, type: "Note", widgets_values: ["read me"] },
    { index: 3, type: "Blur", widgets_values: [3] },
  ];
  const { graph } = convert(createGrouped({ values: [22, 33] }, nodes, [[0, 2, 1, 0, 1, "INT"]]));
  expect(graph["8:1"]?.inputs).toEqual({ seed: ["8:0", 2], steps: 22 });
  expect(graph["8:3"]?.inputs).toEqual({ radius: 33 });
});

test("places a converted input of a group node last, with value and name", () => {
  const nodes = [
    { index: 0, type: "Blur", inputs: [{ name: "radius", type: "INT", widget: { name: "radius" } }], widgets_values: [1] },
    { index: 1, type: "Blur", title: "Second", widgets_values: [2] },
  ];
  expect(convert(createGrouped({ values: [22, 11] }, nodes, [])).graph).toMatchObject({
    "8:0": { inputs: { radius: 11 } },
    "8:1": { inputs: { radius: 22 } },
  });
  const linkedFile = createGrouped({ values: [22, 11], in: { "Blur radius": [1, 2, "INT", true] } }, nodes, []);
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
  const file = createGrouped(use, nodes, []);
  const sink = { id: 3, type: "Sink", inputs: [{ name: "images", type: "IMAGE", link: 90 }] };
  const { graph } = convert({
    ...file,
    nodes: [...file.nodes, sink],
    links: [...file.links, [90, 8, 1, 3, 0, "IMAGE"]],
    extra: { groupNodes: { both: { nodes, links: [], external: [], config } } },
  });
  expect(graph).toMatchObject({
    "8:1": { inputs: { mask: ["1", 0], image: ["1", 0], radius: ["1", 2] } },
    // Hidden in the first node, the value belongs to the second.
    "8:2": { inputs: { image: ["1", 1], radius: 22 } },
    // The second of the visible outputs; the first is the only one of the source's that is not hidden.
    "3": { inputs: { images: ["8:1", 0] } },
  });
  expect(graph["8:1"]?.inputs.more).toBeUndefined();
});

test("follows a reroute at a group node's edge by type", () => {
  const nodes = [
    { index: 0, type: "Reroute", inputs: [{ name: "", type: "*" }], outputs: [{ name: "", type: "*" }] },
    { index: 1, type: "Blur", inputs: ["mask", "image"].map((name) => ({ name, type: "IMAGE" })), widgets_values: [3] },
    { index: 2, type: "Reroute", inputs: [{ name: "", type: "*" }], outputs: [{ name: "IMAGE", type: "IMAGE" }] },
  ];
  const links = [
    [0, 0, 1, 1, 1, "IMAGE"],
    [1, 0, 2, 0, 2, "IMAGE"],
  ];
  const file = createGrouped({ values: [11], in: { IMAGE: [1, 1] } }, nodes, links);
  const sink = { id: 3, type: "Sink", inputs: [{ name: "images", type: "IMAGE", link: 90 }] };
  // Outputs: first those of the blur that no inner node uses, then the reroute's.
  const { graph } = convert({ ...file, nodes: [...file.nodes, sink], links: [...file.links, [90, 8, 2, 3, 0, "IMAGE"]] });
  expect(graph).toMatchObject({ "8:1": { inputs: { image: ["1", 1], radius: 11 } }, "3": { inputs: { images: ["8:1", 0] } } });
});

test("ignores unused definitions in filenames and reads inner nodes first", () => {
  const getSubgraph = (id: string, steps: number) =>
    definition(id, [{ id: 5, type: "Seeded", title: "Named", values: [1, "fixed", steps] }]);
  const writer = { id: 9, type: "SaveImage", values: ["%Named.steps%"], properties: {} };
  const file = { ...net([writer]), definitions: { subgraphs: [getSubgraph(INNER, 7)] } };
  expect(convert(file).graph["9"]?.inputs.filename_prefix).toBe("%Named.steps%");
  const usedFile = {
    ...net([writer, { id: 2, type: INNER, mode: 2, title: "Named" }]),
    definitions: { subgraphs: [getSubgraph(OUTER, 8), getSubgraph(INNER, 7)] },
  };
  expect(convert(usedFile).graph["9"]?.inputs.filename_prefix).toBe("7");
});

test("limits recursive definitions and oversized ids", () => {
  const ids = Array.from({ length: 24 }, (_, at) => `33333333-3333-4333-8333-${String(at).padStart(12, "0")}`);
  const nested = ids.map((id, at) => {
    const next = ids[at + 1];
    const inner = [5, 6].map((node) => ({ id: node, type: next ?? "Unknown", in: { image: [-10, 0] } }));
    return definition(id, inner, { inputs: ["image"], outputs: [[5, 0]] });
  });
  const { problems } = convert({ ...using({ type: ids[0], in: {} }, nested), last_node_id: 1e300 });
  expect(problems).toContainEqual({ code: "too_many_nodes", max: 5000 });
});

test("prefers the widget that the input names first", () => {
  const two = definition(
    INNER,
    [
      { id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] },
      { id: 6, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [9] },
    ],
    { inputs: ["radius"] },
  );
  const [radius] = two.inputs;
  const { graph } = convert(using({ in: {} }, [{ ...two, inputs: [{ ...radius, linkIds: [101, 100] }] }]));
  expect([graph["2:5"]?.inputs.radius, graph["2:6"]?.inputs.radius]).toEqual([9, 9]);
});

test("distinguishes inputs of one name by order", () => {
  const twice = definition(INNER, [{ id: 5, type: "Sink", in: { images: [-10, 0], also: [-10, 1] } }], { inputs: ["image", "image"] });
  const file = using({ in: { image: [1, 1], more: [1, 0] } }, [twice]);
  const nodes = file.nodes.map((node) => ({
    ...node,
    inputs: node.inputs.map((slot) => ({ ...slot, name: node.id === 2 ? "image" : slot.name })),
  }));
  expect(convert({ ...file, nodes }).graph["2:5"]?.inputs).toEqual({ images: ["1", 1], also: ["1", 0] });
});

test("writes an exposed value to every target, with or without a widget", () => {
  const shared = definition(
    INNER,
    [
      { id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] },
      { id: 6, type: "Sink", in: { any: [-10, 0] } },
    ],
    { inputs: ["radius"] },
  );
  const { graph } = convert(using({ in: {} }, [shared]));
  expect(graph["2:6"]?.inputs).toEqual({ any: 6 });
});

test("reports duplicate ids, also in subgraphs", () => {
  const twice = (first: number) => [
    { id: first, type: "Source" },
    { id: first, type: "Source" },
  ];
  const inner = { ...definition(INNER, twice(30)) };
  const file = { ...net([...twice(1), { id: 2, type: inner.id }]), definitions: { subgraphs: [inner] } };
  expect(convert(file).problems).toEqual([
    { code: "duplicate_id", nodeId: "1", count: 2 },
    { code: "duplicate_id", nodeId: expect.stringMatching(/^2:/), count: 2 },
  ]);
});
