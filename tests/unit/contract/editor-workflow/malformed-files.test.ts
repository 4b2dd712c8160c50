// Malformed files: truncated, shuffled or hostile. Each yields a graph or a problem and never throws.
import fc from "fast-check";
import { expect, test } from "vitest";
import { openAnyWorkflow } from "@/components/run/workflow/open-workflow";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { fillTexts } from "@/lib/contract/nodes/fill-texts";
import messages from "@/lib/messages/en/run.json";
import { ok } from "@/lib/shared/result";
import { INNER_ID, pairInfo as info, pairNames, readFixture } from "./editor-files";

const messageCodes = Object.keys(messages.editorNote);
/** Problems shown elsewhere: at the field, in the list of missing classes, or before opening. */
const otherProblems = ["value_not_listed", "missing_class", "not_an_editor_file", "too_many_nodes"];

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, -10, -20, "-10", 1e308, -0, "__proto__", "Reroute", "PrimitiveNode", "workflow>x", [], {}, [[]], [null]),
);
/** Replaces a part of the file with another value, removes it, or overwrites it with another part. */
const anyChange = fc.record({
  targetIndex: fc.nat(),
  kind: fc.constantFrom("replace", "remove", "copy"),
  sourceIndex: fc.nat(),
  value: anyValue,
});
type FileChange = { targetIndex: number; kind: string; sourceIndex: number; value: unknown };

function changeFile(file: JsonObject, { targetIndex, kind, sourceIndex, value }: FileChange): JsonObject {
  const slots: { container: Record<string, unknown> | unknown[]; key: string }[] = [];
  const pending: unknown[] = [file];
  for (let container = pending.pop(); container !== undefined && slots.length < 5000; container = pending.pop()) {
    if (!isObject(container) && !Array.isArray(container)) continue;
    for (const [key, inner] of Object.entries(container)) {
      slots.push({ container, key });
      pending.push(inner);
    }
  }
  const [target, source] = [slots[targetIndex % slots.length], slots[sourceIndex % slots.length]];
  if (!target || !source) return file;
  const copied: unknown = structuredClone(new Map(Object.entries(source.container)).get(source.key));
  if (kind === "remove") Reflect.deleteProperty(target.container, target.key);
  else Reflect.set(target.container, target.key, kind === "copy" ? copied : value);
  return file;
}

/** Expects a graph or a problem with a message, here and in the Run page. */
async function expectReadable(text: string, file: unknown = text) {
  const conversion = toApiWorkflow(file, info);
  const codes = conversion.problems.map(({ code }) => code);
  expect(codes.filter((code) => !messageCodes.includes(code) && !otherProblems.includes(code))).toEqual([]);
  const result = await openAnyWorkflow(text, { readCatalogue: async () => ok(info) });
  if (!result.ok) expect(Object.keys(messages.refusal)).toContain(result.failure.reason.code);
  return conversion;
}

test("converts any mutated file to a graph with known problem codes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...pairNames), fc.array(anyChange, { minLength: 1, maxLength: 6 }), async (name, changes) => {
      const file = changes.reduce<JsonObject>(changeFile, structuredClone(readFixture(`${name}.editor.json`)));
      const { graph } = await expectReadable(JSON.stringify(file), file);
      const seeded = Object.fromEntries(
        Object.entries(graph).map(([id, node]) => [id, { ...node, inputs: { ...node.inputs, ...("seed" in node.inputs && { seed: 1 }) } }]),
      );
      createEditableFile(file, info).applyValues(seeded).findUnplacedValues();
    }),
    { numRuns: 300, seed: 20261123 },
  );
}, 60_000);

const createList = <T>(count: number, create: (index: number) => T) => Array.from({ length: count }, (_, index) => create(index));

test("converts very long and deeply nested files", () => {
  const chain = createList(4_000, (id) => ({
    id,
    type: "Reroute",
    mode: 4,
    inputs: [{ name: "", type: "*", link: id }],
    outputs: [{ type: "*" }],
  }));
  const links = createList(4_000, (id) => [id, id - 1, 0, id, 0, "*"]);
  const sink = { id: 30_000, type: "SaveImage", inputs: [{ name: "images", type: "IMAGE", link: 3_999 }] };
  expect(toApiWorkflow({ nodes: [...chain, sink], links }, info).graph["30000"]).toBeDefined();
  const wide = {
    id: 1,
    type: "KSampler",
    inputs: createList(20_000, (at) => ({ name: `i${at}`, link: at })),
    widgets_values: createList(200_000, () => 1),
  };
  expect(toApiWorkflow({ nodes: [wide], links: [] }, info).graph["1"]).toBeDefined();
  const deep = `{"nodes":[{"id":1,"type":"KSampler","widgets_values":${"[".repeat(5_000)}${"]".repeat(5_000)}}]}`;
  expect(() => toApiWorkflow(parseJson(deep), info)).not.toThrow();
});

test("reads a subgraph with 30,000 linked inputs in linear time", () => {
  const inputCount = 30_000;
  const inner = { id: 5, type: "UnknownClass", inputs: createList(inputCount, (index) => ({ name: `i${index}`, link: index })) };
  const definition = {
    id: INNER_ID,
    nodes: [inner],
    inputs: createList(inputCount, (index) => ({ name: `p${index}`, type: "*", linkIds: [index] })),
    links: createList(inputCount, (index) => ({ id: index, origin_id: -10, origin_slot: index, target_id: 5, target_slot: index })),
  };
  const use = {
    id: 2,
    type: INNER_ID,
    inputs: createList(inputCount, (index) => ({ name: `p${index}` })),
    properties: { proxyWidgets: createList(inputCount, (index) => ["-1", `p${index}`]) },
  };
  const { graph } = toApiWorkflow({ nodes: [use], links: [], definitions: { subgraphs: [definition] } }, info);
  expect(graph["2:5"]).toBeDefined();
});

test("reads a group node with many reroutes in linear time", () => {
  const rerouteCount = 20_000;
  const nodes = [
    { type: "UnknownClass", inputs: createList(rerouteCount, (index) => ({ name: `i${index}` })) },
    ...createList(rerouteCount, () => ({ type: "Reroute" })),
  ];
  const g = { nodes, links: createList(rerouteCount, (index) => [index, 0, 0, 0]) };
  const { graph } = toApiWorkflow({ nodes: [{ id: 1, type: "workflow>g" }], links: [], extra: { groupNodes: { g } } }, info);
  expect(graph["1:0"]).toBeDefined();
});

test("fills a filename that repeats a placeholder 100,000 times", () => {
  const count = 100_000;
  const nodes = createList(1_000, (id) => ({ id, type: "KSampler", title: "Named", widgets_values: createList(100, () => 1) }));
  const prefix = "%Named.seed%".repeat(count);
  const writer = { id: 2_000, type: "SaveImage", properties: {}, widgets_values: [prefix] };
  const { graph } = toApiWorkflow({ nodes: [...nodes, writer], links: [] }, info);
  expect(graph["2000"]?.inputs.filename_prefix === "1".repeat(count)).toBe(true);
  expect(
    fillTexts({ ...graph, "2000": { class_type: "SaveImage", inputs: { filename_prefix: prefix } } }, info, { at: new Date(), draw: 0 }),
  ).toHaveLength(1);
});

const createNode = (id: number | string, type: string, overrides: object = {}) => ({ id, type, ...overrides });
const createSlot = (name: string, link: unknown, overrides: object = {}) => ({ name, type: "IMAGE", link, ...overrides });
const createSubgraph = (nodes: object[], links: object[], overrides: object = {}) => ({
  definitions: { subgraphs: [{ id: INNER_ID, nodes, links, ...overrides }] },
});
const createInputLink = (id: number, targetId: number) => ({ id, origin_id: -10, origin_slot: 0, target_id: targetId, target_slot: 0 });
const createGroup = (name: string, nodes: unknown, overrides: object = {}) => ({
  extra: { groupNodes: JSON.parse(`{"${name}":${JSON.stringify({ nodes, links: [], ...overrides })}}`) },
});

test.for<[string, object | string]>([
  [
    "prototype names as ids and inputs",
    `{"nodes":[{"id":"__proto__","type":"constructor","inputs":[{"name":"__proto__","link":1}],"widgets_values":{"__proto__":1,"toString":2}},{"id":"hasOwnProperty","type":"SaveImage","inputs":[{"name":"images","link":1}]}],"links":[[1,"__proto__",0,"hasOwnProperty",0,"IMAGE"]]}`,
  ],
  [
    "a recursive group node named __proto__",
    { nodes: [createNode(1, "workflow>__proto__")], ...createGroup("__proto__", [createNode(0, "workflow>__proto__"), null, 7]) },
  ],
  [
    "a group node with a malformed config",
    {
      nodes: [createNode(1, "workflow/g", { inputs: [createSlot("images", 1)] })],
      ...createGroup("g", [createNode(0, "SaveImage")], { config: { "0": { input: { images: 5 }, output: [] } }, external: "x" }),
    },
  ],
  [
    "circular reroutes in a group node",
    {
      nodes: [createNode(1, "workflow>g")],
      ...createGroup("g", [createNode(0, "Reroute"), createNode(1, "Reroute")], {
        links: [
          [0, 0, 1, 0],
          [1, 0, 0, 0],
        ],
      }),
    },
  ],
  [
    "a recursive subgraph in the newer format",
    {
      nodes: [createNode(2, INNER_ID, { properties: { previewExposures: [] }, widgets_values: [1, 2] })],
      ...createSubgraph(
        [createNode(5, INNER_ID, { inputs: [createSlot("in", 1)], properties: { previewExposures: [] }, widgets_values: [3] })],
        [createInputLink(1, 5)],
        {
          inputs: [{ name: "in", linkIds: [1, 1, "x"] }],
        },
      ),
    },
  ],
  [
    "links from missing subgraph slots",
    {
      nodes: [createNode(2, INNER_ID)],
      ...createSubgraph(
        [createNode(5, "SaveImage", { inputs: [createSlot("images", 1)] })],
        [
          { ...createInputLink(1, 5), origin_slot: -1 },
          { ...createInputLink(2, 5), origin_slot: 1e300 },
        ],
      ),
    },
  ],
  [
    "extremely large numbers",
    `{"nodes":[{"id":1e400,"type":"EmptyImage"},{"id":123456789012345678901234567890,"type":"EmptyImage","widgets_values":[1e308,-1e308,${"9".repeat(5_000)},-0]}],"last_node_id":1e300,"links":[[1e21,-1,1e300,2,-5]]}`,
  ],
  [
    "a primitive that is its own target",
    {
      nodes: [createNode(1, "PrimitiveNode", { widgets_values: [{}, []], inputs: [createSlot("value", 1, { widget: {} })] })],
      links: [[1, 1, 0, 1, 0]],
    },
  ],
  [
    "arrays instead of every other value",
    {
      nodes: [
        [],
        [[]],
        { id: [], type: [] },
        createNode(1, "KSampler", {
          inputs: [[], null, 3, { name: [], link: {}, widget: [] }],
          outputs: 5,
          properties: [],
          widgets_values: "x",
          mode: [],
        }),
      ],
      links: [[], {}, null, [null, null]],
      groups: 3,
      definitions: [],
      extra: [],
    },
  ],
])("converts or rejects %s", async ([, file]) => {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  const { graph } = await expectReadable(text);
  expect(parseJson(writeExactJson(graph))).toBeDefined();
  const parsed = parseJson(text);
  if (isObject(parsed)) createEditableFile(parsed, info).applyValues(graph).findUnplacedValues();
});
