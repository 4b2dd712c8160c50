// Files that no editor saves: truncated, shuffled, hostile. Each yields a graph or a message, and never throws.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openAnyWorkflow } from "@/components/run/workflow/open-workflow";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject, type JsonObject } from "@/lib/contract/json/json";
import { parseJson } from "@/lib/contract/json/parse-json";
import { fillTexts } from "@/lib/contract/nodes/fill-texts";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import messages from "@/lib/messages/en/run.json";
import { ok } from "@/lib/shared/result";

const folder = "tests/fixtures/editor-pairs";
const text = (name: string) => readFileSync(`${folder}/${name}`, "utf8");
const info = objectInfoSchema.parse(JSON.parse(text("object-info.json")));
const files = readdirSync(folder).filter((name) => name.endsWith(".editor.json"));
const codes = Object.keys(messages.editorNote);
/** Reported elsewhere: at the field, in the list of missing classes, or before opening. */
const otherFaults = ["value_not_listed", "missing_class", "not_an_editor_file", "too_many_nodes"];

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(null, -10, -20, "-10", 1e308, -0, "__proto__", "Reroute", "PrimitiveNode", "workflow>x", [], {}, [[]], [null]),
);
/** A part of the file is replaced by another value, removed, or overwritten by another part. */
const change = fc.record({ at: fc.nat(), how: fc.constantFrom("replace", "remove", "copy"), from: fc.nat(), value: anyValue });

function changeFile(file: JsonObject, { at, how, from, value }: { at: number; how: string; from: number; value: unknown }): JsonObject {
  const slots: { holder: Record<string, unknown> | unknown[]; key: string }[] = [];
  const open: unknown[] = [file];
  for (let holder = open.pop(); holder !== undefined && slots.length < 5000; holder = open.pop()) {
    if (!isObject(holder) && !Array.isArray(holder)) continue;
    for (const [key, inner] of Object.entries(holder)) {
      slots.push({ holder, key });
      open.push(inner);
    }
  }
  const [first, second] = [slots[at % slots.length], slots[from % slots.length]];
  if (!first || !second) return file;
  const copied: unknown = structuredClone(new Map(Object.entries(second.holder)).get(second.key));
  if (how === "remove") Reflect.deleteProperty(first.holder, first.key);
  else Reflect.set(first.holder, first.key, how === "copy" ? copied : value);
  return file;
}

test("converts any changed file into a graph with reports", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...files), fc.array(change, { minLength: 1, maxLength: 6 }), async (name, changes) => {
      const file = changes.reduce<JsonObject>(changeFile, structuredClone(JSON.parse(text(name))));
      const { graph, problems } = toApiWorkflow(file, info);
      expect(problems.map(({ code }) => code).filter((code) => !codes.includes(code) && !otherFaults.includes(code))).toEqual([]);
      const seeded = Object.fromEntries(
        Object.entries(graph).map(([id, node]) => [id, { ...node, inputs: { ...node.inputs, ...("seed" in node.inputs && { seed: 1 }) } }]),
      );
      createEditableFile(file, info).withValues(seeded).unplaced();
      const result = await openAnyWorkflow(JSON.stringify(file), { readCatalogue: async () => ok(info) });
      if (!result.ok) expect(Object.keys(messages.refusal)).toContain(result.failure.reason.code);
    }),
    { numRuns: 300, seed: 20261123 },
  );
}, 60_000);

test("handles very long and very deep files", () => {
  const repeat = (count: number, make: (at: number) => unknown) => Array.from({ length: count }, (_, at) => make(at));
  const chain = repeat(4_000, (id) => ({
    id,
    type: "Reroute",
    mode: 4,
    inputs: [{ name: "", type: "*", link: id }],
    outputs: [{ type: "*" }],
  }));
  const links = repeat(4_000, (id) => [id, id - 1, 0, id, 0, "*"]);
  const sink = { id: 30_000, type: "SaveImage", inputs: [{ name: "images", type: "IMAGE", link: 3_999 }] };
  expect(toApiWorkflow({ nodes: [...chain, sink], links }, info).graph["30000"]).toBeDefined();
  const wide = {
    id: 1,
    type: "KSampler",
    inputs: repeat(20_000, (at) => ({ name: `i${at}`, link: at })),
    widgets_values: repeat(200_000, () => 1),
  };
  expect(toApiWorkflow({ nodes: [wide], links: [] }, info).graph["1"]).toBeDefined();
  const deep = `{"nodes":[{"id":1,"type":"KSampler","widgets_values":${"[".repeat(5_000)}${"]".repeat(5_000)}}]}`;
  expect(() => toApiWorkflow(parseJson(deep), info)).not.toThrow();
});

const many = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

test("reads a subgraph with very many linked inputs in linear time", () => {
  const max = 30_000;
  const id = "11111111-1111-1111-1111-111111111111";
  const inner = { id: 5, type: "Unheard", inputs: many(max, (at) => ({ name: `i${at}`, link: at })) };
  const definition = {
    id,
    nodes: [inner],
    inputs: many(max, (at) => ({ name: `p${at}`, type: "*", linkIds: [at] })),
    links: many(max, (at) => ({ id: at, origin_id: -10, origin_slot: at, target_id: 5, target_slot: at })),
  };
  const use = {
    id: 2,
    type: id,
    inputs: many(max, (at) => ({ name: `p${at}` })),
    properties: { proxyWidgets: many(max, (at) => ["-1", `p${at}`]) },
  };
  const { graph } = toApiWorkflow({ nodes: [use], links: [], definitions: { subgraphs: [definition] } }, info);
  expect(graph["2:5"]).toBeDefined();
});

test("reads a group node with many reroutes in linear time", () => {
  const max = 20_000;
  const nodes = [{ type: "Unheard", inputs: many(max, (at) => ({ name: `i${at}` })) }, ...many(max, () => ({ type: "Reroute" }))];
  const g = { nodes, links: many(max, (at) => [at, 0, 0, 0]) };
  const { graph } = toApiWorkflow({ nodes: [{ id: 1, type: "workflow>g" }], links: [], extra: { groupNodes: { g } } }, info);
  expect(graph["1:0"]).toBeDefined();
});

test("fills a filename that repeats one widget at once", () => {
  const count = 100_000;
  const nodes = many(1_000, (id) => ({ id, type: "KSampler", title: "Named", widgets_values: many(100, () => 1) }));
  const prefix = "%Named.seed%".repeat(count);
  const writer = { id: 2_000, type: "SaveImage", properties: {}, widgets_values: [prefix] };
  const { graph } = toApiWorkflow({ nodes: [...nodes, writer], links: [] }, info);
  expect(graph["2000"]?.inputs.filename_prefix === "1".repeat(count)).toBe(true);
  expect(
    fillTexts({ ...graph, "2000": { class_type: "SaveImage", inputs: { filename_prefix: prefix } } }, info, { at: new Date(), draw: 0 }),
  ).toHaveLength(1);
});

const ID = "11111111-1111-1111-1111-111111111111";
const node = (id: number | string, type: string, overrides: object = {}) => ({ id, type, ...overrides });
const createSlot = (name: string, link: unknown, overrides: object = {}) => ({ name, type: "IMAGE", link, ...overrides });
const subgraph = (nodes: object[], links: object[], overrides: object = {}) => ({
  definitions: { subgraphs: [{ id: ID, nodes, links, ...overrides }] },
});
const inward = (id: number, target: number) => ({ id, origin_id: -10, origin_slot: 0, target_id: target, target_slot: 0 });
const group = (name: string, nodes: unknown, overrides: object = {}) => ({
  extra: { groupNodes: JSON.parse(`{"${name}":${JSON.stringify({ nodes, links: [], ...overrides })}}`) },
});

test.for<[string, object | string]>([
  [
    "names of prototypes",
    `{"nodes":[{"id":"__proto__","type":"constructor","inputs":[{"name":"__proto__","link":1}],"widgets_values":{"__proto__":1,"toString":2}},{"id":"hasOwnProperty","type":"SaveImage","inputs":[{"name":"images","link":1}]}],"links":[[1,"__proto__",0,"hasOwnProperty",0,"IMAGE"]]}`,
  ],
  [
    "a group node by the name of a prototype that holds itself",
    { nodes: [node(1, "workflow>__proto__")], ...group("__proto__", [node(0, "workflow>__proto__"), null, 7]) },
  ],
  [
    "a group node whose changes are none",
    {
      nodes: [node(1, "workflow/g", { inputs: [createSlot("images", 1)] })],
      ...group("g", [node(0, "SaveImage")], { config: { "0": { input: { images: 5 }, output: [] } }, external: "x" }),
    },
  ],
  [
    "reroutes of a group node that lead to one another",
    {
      nodes: [node(1, "workflow>g")],
      ...group("g", [node(0, "Reroute"), node(1, "Reroute")], {
        links: [
          [0, 0, 1, 0],
          [1, 0, 0, 0],
        ],
      }),
    },
  ],
  [
    "a subgraph that passes its input to its output",
    {
      nodes: [
        node(1, "EmptyImage"),
        node(2, ID, { inputs: [createSlot("in", 1)] }),
        node(3, "SaveImage", { inputs: [createSlot("images", 2)] }),
      ],
      links: [
        [1, 1, 0, 2, 0],
        [2, 2, 0, 3, 0],
      ],
      ...subgraph([], [{ id: 5, origin_id: -10, origin_slot: 0, target_id: -20, target_slot: 0 }], {
        inputs: [{ name: "in" }],
        outputs: [{ name: "out" }],
      }),
    },
  ],
  [
    "a newer use of a subgraph that holds itself",
    {
      nodes: [node(2, ID, { properties: { previewExposures: [] }, widgets_values: [1, 2] })],
      ...subgraph(
        [node(5, ID, { inputs: [createSlot("in", 1)], properties: { previewExposures: [] }, widgets_values: [3] })],
        [inward(1, 5)],
        {
          inputs: [{ name: "in", linkIds: [1, 1, "x"] }],
        },
      ),
    },
  ],
  [
    "places of a subgraph that are not there",
    {
      nodes: [node(2, ID)],
      ...subgraph(
        [node(5, "SaveImage", { inputs: [createSlot("images", 1)] })],
        [
          { ...inward(1, 5), origin_slot: -1 },
          { ...inward(2, 5), origin_slot: 1e300 },
        ],
      ),
    },
  ],
  [
    "numbers beyond all others",
    `{"nodes":[{"id":1e400,"type":"EmptyImage"},{"id":123456789012345678901234567890,"type":"EmptyImage","widgets_values":[1e308,-1e308,${"9".repeat(5_000)},-0]}],"last_node_id":1e300,"links":[[1e21,-1,1e300,2,-5]]}`,
  ],
  [
    "a bypassed node behind a place that is not there",
    {
      nodes: [node(1, "ImageInvert", { mode: 4 }), node(2, "SaveImage", { inputs: [createSlot("images", 1)] })],
      links: [
        [1, 1, -3, 2, 0],
        [2, 1, 1e9, 2, 0],
      ],
    },
  ],
  [
    "a primitive that is its own target",
    {
      nodes: [node(1, "PrimitiveNode", { widgets_values: [{}, []], inputs: [createSlot("value", 1, { widget: {} })] })],
      links: [[1, 1, 0, 1, 0]],
    },
  ],
  [
    "lists in the place of everything",
    {
      nodes: [
        [],
        [[]],
        { id: [], type: [] },
        node(1, "KSampler", {
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
])("%s: a graph or a sentence", async ([, file]) => {
  const text = typeof file === "string" ? file : JSON.stringify(file);
  const { graph, problems } = toApiWorkflow(text, info);
  expect(problems.map(({ code }) => code).filter((code) => !codes.includes(code) && !otherFaults.includes(code))).toEqual([]);
  expect(parseJson(writeExactJson(graph))).toBeDefined();
  const parsed = parseJson(text);
  if (isObject(parsed)) createEditableFile(parsed, info).withValues(graph).unplaced();
  const result = await openAnyWorkflow(text, { readCatalogue: async () => ok(info) });
  if (!result.ok) expect(Object.keys(messages.refusal)).toContain(result.failure.reason.code);
});
