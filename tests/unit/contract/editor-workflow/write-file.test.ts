// A graph written as an editor file, and values written into a file that the editor made.
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { asArray } from "@/lib/contract/editor-workflow/file";
import { createEditableFile, toEditorFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn, type JsonObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { isLink } from "@/lib/contract/workflow/graph";
import { toComparable } from "./comparable";
import { definition, info as ours, net } from "./editor-files";
import { createGraphs } from "./random-graph";

const folder = "tests/fixtures/editor-pairs";
const readFixture = (name: string) => parseExactJson<JsonObject>(readFileSync(`${folder}/${name}`, "utf8"));
const pairInfo = objectInfoSchema.parse(readFixture("object-info.json"));
const info = { ...pairInfo, ...ours };
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".editor.json") ? file.replace(".editor.json", "") : []));
const back = (file: unknown, catalogue = info) => toApiWorkflow(writeExactJson(file), catalogue, { fill: false }).graph;

/** The inputs that `as` names, in one canonical notation. */
function inputsLike(as: Graph, graph: Graph): unknown {
  const nodes = Object.entries(as).map(([id, { class_type, inputs }]) => {
    const values = graph[id]?.inputs ?? {};
    const inputRows = Object.keys(inputs).map((name) => [name, Object.hasOwn(values, name) ? unwrap(values[name]) : undefined]);
    return [id, { class_type: graph[id]?.class_type ?? class_type, inputs: Object.fromEntries(inputRows) }];
  });
  return parseExactJson(writeExactJson(Object.fromEntries(nodes)));
}
/** A list sent in a wrapper is the list itself; one that could be a link stays wrapped. */
function unwrap(value: unknown): unknown {
  const list = asObject(value)?.__value__;
  return Array.isArray(list) && !isLink(list) ? list : value;
}

const anyGraph = createGraphs(info);

test("reads back any graph written as an editor file", () => {
  fc.assert(
    fc.property(anyGraph, (graph: Graph) => {
      const { file, lostInputs: lost } = toEditorFile(graph, info, { id: "x", places: new Map() });
      const now = back(file);
      expect(lost).toEqual([]);
      expect(readMatchingDrawing(file, graph)).toBeDefined();
      expect(Object.keys(now).sort()).toEqual(Object.keys(graph).sort());
      expect(inputsLike(graph, now)).toEqual(inputsLike(graph, graph));
      // An input that the graph leaves out has the class's default.
      expect(toComparable({ ...now }, info)).toEqual(toComparable(parseExactJson<Graph>(writeExactJson(graph)), info));
    }),
    { numRuns: 150, seed: 20261123 },
  );
});

test("reports a node with a name reserved by the editor", () => {
  const graph = { "1": { class_type: "Note", inputs: {} }, "": { class_type: "Source", inputs: {} } };
  expect(toEditorFile(graph, info, { id: "x", places: new Map() }).lostInputs).toEqual(["1", ""]);
});

test("places nodes like the drawing, without overlaps", () => {
  const positions = new Map([
    ["1", { x: 0, y: 40 }],
    ["2", { x: 0, y: 0 }],
    ["3", { x: 232, y: 0 }],
  ]);
  const node = { class_type: "Prompt", inputs: { text: "a" } };
  const { file } = toEditorFile({ "1": node, "2": node, "3": node }, info, { id: "x", places: positions });
  const [first, second, third] = asArray(file.nodes).map((item) => asObject(item) ?? {});
  expect([second?.pos, third?.pos]).toEqual([
    [0, 0],
    [380, 0],
  ]);
  expect(Number(asArray(first?.pos)[1])).toBeGreaterThan(Number(asArray(second?.size)[1]));
});

/** Another value of the same kind. */
const changeValue = (value: unknown): unknown =>
  typeof value === "number"
    ? value + 1
    : typeof value === "boolean"
      ? !value
      : typeof value === "bigint"
        ? value - 1n
        : `${String(value)}x`;

test.for(names)("writes each value of %s in place and changes nothing else", (name) => {
  const file = readFixture(`${name}.editor.json`);
  const before = back(file, pairInfo);
  for (const [id, node] of Object.entries(before)) {
    for (const [input, value] of Object.entries(node.inputs)) {
      const isChoice = input === "resize_type" || input === "format";
      if (isLink(value) || typeof value === "object" || isChoice || !getOwn(pairInfo, node.class_type)) continue;
      const graph = { ...before, [id]: { ...node, inputs: { ...node.inputs, [input]: changeValue(value) } } };
      const writeResult = createEditableFile(file, pairInfo).withValues(graph);
      const now = back(writeResult.file, pairInfo);
      expect(now[id]?.inputs[input], `${id} ${input}`).toEqual(changeValue(value));
      // One widget may store the value of several inputs; the others are reported.
      const otherInputs = Object.keys(before).flatMap((at) =>
        Object.keys(now[at]?.inputs ?? {}).flatMap((value) =>
          isSame(now[at]?.inputs[value], graph[at]?.inputs[value]) ? [] : [{ nodeId: at, input: value }],
        ),
      );
      expect(writeResult.unplaced()).toEqual(otherInputs);
      expect(differences(file, writeResult.file), `${id} ${input}`).toHaveLength(1);
    }
  }
});
const isSame = (item: unknown, more: unknown) => writeExactJson(item) === writeExactJson(more);
/** The paths at which two values differ. */
function differences(item: unknown, more: unknown, path = ""): string[] {
  if (isSame(item, more)) return [];
  if (typeof item !== "object" || typeof more !== "object" || !item || !more) return [path];
  const keys = new Set([...Object.keys(item), ...Object.keys(more)]);
  return [...keys].flatMap((key) => differences(objectEntry(item, key), objectEntry(more, key), `${path}/${key}`));
}
const objectEntry = (value: object, key: string): unknown => new Map<string, unknown>(Object.entries(value)).get(key);

test("writes a value where a primitive, subgraph use or named value has it", () => {
  const primitive = net([
    { id: 1, type: "PrimitiveNode", values: [99, "fixed"] },
    { id: 2, type: "Blur", in: { radius: [1, 0, "INT", true] }, values: [4] },
    { id: 3, type: "Listed", values: { from: "a", kind: "one", size: 2 } },
  ]);
  const graph = back(primitive);
  const changedGraph = {
    ...graph,
    "2": { ...graph["2"], class_type: "Blur", inputs: { radius: 7 } },
    "3": { ...graph["3"], class_type: "Listed", inputs: { from: "b", kind: "one", size: 2 } },
  };
  const { file, unplaced } = createEditableFile(primitive, info).withValues(changedGraph);
  expect(unplaced()).toEqual([]);
  expect(asArray(file.nodes).map((node) => asObject(node)?.widgets_values)).toEqual([
    [7, "fixed"],
    [4],
    { from: "b", kind: "one", size: 2 },
  ]);
});

test("writes a group node's value into its use and changes nothing else", () => {
  const nodes = [
    { index: 0, type: "Seeded", widgets_values: [1, "fixed", 2] },
    { index: 1, type: "Blur", widgets_values: [3] },
  ];
  const file = {
    ...net([{ id: 8, type: "workflow>both", values: [11, "fixed", 22, 33] }]),
    extra: { groupNodes: { both: { nodes, links: [], external: [] } } },
  };
  const { file: writtenFile, unplaced } = createEditableFile(file, info).withValues({
    "8:0": { class_type: "Seeded", inputs: { seed: 11, steps: 5 } },
    "8:1": { class_type: "Blur", inputs: { radius: 6 } },
  });
  expect(unplaced()).toEqual([]);
  expect(differences(file, writtenFile)).toEqual(["/nodes/0/widgets_values/2", "/nodes/0/widgets_values/3"]);
});

test("reports a value that would change both uses of a subgraph", () => {
  const ID = "11111111-1111-1111-1111-111111111111";
  const inner = definition(ID, [{ id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] }], { inputs: ["radius"] });
  const file = {
    ...net([
      { id: 1, type: ID },
      { id: 2, type: ID },
    ]),
    definitions: { subgraphs: [inner] },
  };
  const graph = back(file);
  const writeResult = createEditableFile(file, info).withValues({ ...graph, "1:5": { class_type: "Blur", inputs: { radius: 8 } } });
  expect(back(writeResult.file)["1:5"]?.inputs.radius).toBe(8);
  expect(writeResult.unplaced()).toEqual([{ nodeId: "2:5", input: "radius" }]);
});

test("writes a newer file's value into one use and drops its named copy", () => {
  const ID = "11111111-1111-1111-1111-111111111111";
  const inner = definition(ID, [{ id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] }], { inputs: ["radius"] });
  const use = { type: ID, properties: { previewExposures: [] }, values: [6], widgets_values_named: { radius: 6 } };
  const file = {
    ...net([
      { id: 2, ...use },
      { id: 3, ...use },
    ]),
    definitions: { subgraphs: [inner] },
  };
  const before = back(file);
  const { file: writtenFile, unplaced } = createEditableFile(file, info).withValues({
    ...before,
    "2:5": { class_type: "Blur", inputs: { radius: 9 } },
  });
  expect(unplaced()).toEqual([]);
  expect(differences(file, writtenFile)).toEqual(["/nodes/0/widgets_values_named", "/nodes/0/widgets_values/0"]);
});

test("moves a named value to its position and keeps the others", () => {
  const ID = "11111111-1111-1111-1111-111111111111";
  const inner = definition(
    ID,
    [{ id: 5, type: "Seeded", in: { seed: [-10, 0, "INT", true], steps: [-10, 1, "INT", true] }, values: [1, "fixed", 2] }],
    { inputs: ["seed", "steps"] },
  );
  const entry = (name: string, hostValue: number) => ({ originalEntry: ["-1", name], reason: "missingSourceNode", hostValue });
  const properties = { proxyWidgetErrorQuarantine: [entry("steps", 48), entry("seed", 64)] };
  const file = { ...net([{ id: 2, type: ID, values: [48, 64], properties }]), definitions: { subgraphs: [inner] } };
  const { file: writtenFile, unplaced } = createEditableFile(file, info).withValues({
    "2:5": { class_type: "Seeded", inputs: { seed: 7, steps: 48 } },
  });
  expect(unplaced()).toEqual([]);
  expect(asArray(writtenFile.nodes)).toMatchObject([
    { widgets_values: [7, 64], properties: { proxyWidgetErrorQuarantine: [{ originalEntry: ["-1", "steps"] }] } },
  ]);
});

test("writes another choice with its inputs and keeps the seed's control", () => {
  const file = net([{ id: 2, type: "Chooser", values: ["by", 1.5, 7] }]);
  const none = { "2": { class_type: "Chooser", inputs: { mode: "none", last: 7 } } };
  expect(asArray(createEditableFile(file, info).withValues(none).file.nodes)).toMatchObject([{ widgets_values: ["none", 7] }]);
  const seeded = net([{ id: 1, type: "Seeded", values: [5, "increment"] }]);
  const steps = { "1": { class_type: "Seeded", inputs: { seed: 5, steps: 9 } } };
  expect(asArray(createEditableFile(seeded, info).withValues(steps).file.nodes)).toMatchObject([{ widgets_values: [5, "increment", 9] }]);
});

test("writes a box's edges once more behind it", () => {
  const file = net([{ id: 1, type: "Boxed", values: [{ x: 1, y: 2, width: 3, height: 4 }, 1, 2, 3, 4, "text"] }]);
  const box = { x: 5, y: 2, width: 3, height: 9 };
  const { file: writtenFile } = createEditableFile(file, info).withValues({ "1": { class_type: "Boxed", inputs: { box, after: "text" } } });
  expect(asArray(writtenFile.nodes)).toMatchObject([{ widgets_values: [box, 5, 2, 3, 9, "text"] }]);
});

test("reports differing nodes, links and classes node by node", () => {
  const file = net([
    { id: 1, type: "Source" },
    { id: 2, type: "Sink", in: { images: [1, 0], also: [1, 1], any: undefined } },
    { id: 3, type: "Source" },
    { id: 5, type: "Seeded", values: [1, "fixed", 2] },
  ]);
  const { "3": _left, ...graph } = back(file);
  const { unplaced } = createEditableFile(file, info).withValues({
    ...graph,
    "2": { class_type: "Sink", inputs: { images: ["1", 1], any: ["1", 0] } },
    "4": { class_type: "Source", inputs: {} },
    "5": { class_type: "Uncontrolled", inputs: { seed: 1, steps: 2 } },
  });
  expect(unplaced()).toEqual([
    { nodeId: "2", input: "images" },
    { nodeId: "2", input: "any" },
    { nodeId: "2", input: "also" },
    { nodeId: "4" },
    { nodeId: "5" },
    { nodeId: "3" },
  ]);
});

test("writes the default for an omitted input and no value for a linked one", () => {
  const file = net([
    { id: 1, type: "Source" },
    { id: 2, type: "Blur", in: { radius: undefined }, values: [9] },
    { id: 3, type: "Blur", values: [9] },
  ]);
  const graph = {
    "1": { class_type: "Source", inputs: {} },
    "2": { class_type: "Blur", inputs: {} },
    "3": { class_type: "Blur", inputs: { radius: ["1", 2] } },
  };
  const { file: writtenFile, unplaced } = createEditableFile(file, info).withValues(graph);
  expect(asArray(writtenFile.nodes).map((node) => asObject(node)?.widgets_values)).toEqual([undefined, [3], [9]]);
  expect(unplaced()).toEqual([{ nodeId: "3", input: "radius" }]);
});

test("keeps values behind a class's own when a list grows or a choice changes", () => {
  const grows = {
    input: {
      required: {
        images: ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE"] } }, prefix: "image" } }],
        size: ["INT", {}],
      },
    },
    output: [],
  };
  const ownInfo = { ...info, ...objectInfoSchema.parse({ Grows: grows }) };
  const growing = net([{ id: 1, type: "Grows", values: [1, "kept by the pack", 5] }]);
  const more = { "1": { class_type: "Grows", inputs: { size: 2 } } };
  expect(asArray(createEditableFile(growing, ownInfo).withValues(more).file.nodes)).toMatchObject([
    { widgets_values: [2, "kept by the pack", 5] },
  ]);
  const choosing = net([{ id: 2, type: "Chooser", values: ["by", 1.5, 7, "kept by the pack"] }]);
  const none = { "2": { class_type: "Chooser", inputs: { mode: "none", last: 7 } } };
  expect(asArray(createEditableFile(choosing, ownInfo).withValues(none).file.nodes)).toMatchObject([
    { widgets_values: ["none", 7, "kept by the pack"] },
  ]);
});

test("reads the file once for any number of writes", () => {
  const file = net([{ id: 1, type: "Seeded", values: [5, "fixed", 9] }]);
  let reads = 0;
  const note = {
    id: 2,
    type: "Note",
    get inputs() {
      reads += 1;
      return [];
    },
  };
  const { withValues } = createEditableFile({ ...file, nodes: [...file.nodes, note] }, info);
  const writtenFiles = [1, 2, 3].map((seed) => withValues({ "1": { class_type: "Seeded", inputs: { seed, steps: 9 } } }).file);
  expect(writtenFiles.map(({ nodes }) => asObject(asArray(nodes)[0])?.widgets_values)).toEqual([1, 2, 3].map((seed) => [seed, "fixed", 9]));
  expect(reads).toBe(1);
});
