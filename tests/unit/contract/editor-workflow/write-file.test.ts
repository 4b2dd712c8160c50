// Writing a graph as an editor file, and writing values into an existing editor file.
import fc from "fast-check";
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { asArray } from "@/lib/contract/editor-workflow/file";
import { createEditableFile, toEditorFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { asObject, getOwn } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { isLink } from "@/lib/contract/workflow/graph";
import {
  createEditorFile,
  createSubgraph,
  info as editorFileInfo,
  INNER_ID,
  type NodeSpec,
  pairInfo,
  pairNames,
  readFixture,
} from "./editor-files";
import { toComparable } from "./to-comparable";

const info = { ...pairInfo, ...editorFileInfo };
const convertBack = (file: unknown, catalogue = info) => toApiWorkflow(writeExactJson(file), catalogue, { fill: false }).graph;

/** Returns the inputs of `graph` that `reference` also has, in canonical notation. */
function pickInputs(reference: Graph, graph: Graph): unknown {
  const nodes = Object.entries(reference).map(([id, { class_type, inputs }]) => {
    const values = graph[id]?.inputs ?? {};
    const inputRows = Object.keys(inputs).map((name) => [name, Object.hasOwn(values, name) ? unwrap(values[name]) : undefined]);
    return [id, { class_type: graph[id]?.class_type ?? class_type, inputs: Object.fromEntries(inputRows) }];
  });
  return parseExactJson(writeExactJson(Object.fromEntries(nodes)));
}
/** Unwraps a wrapped list unless it could be read as a link. */
function unwrap(value: unknown): unknown {
  const list = asObject(value)?.__value__;
  return Array.isArray(list) && !isLink(list) ? list : value;
}

/** Arbitrary input values, including large integers and special strings. */
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2, stringUnit: "binary" }),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
  fc.bigInt({ min: -(2n ** 64n), max: -(2n ** 53n) }),
  fc.constantFrom("Loading...", "sample_euler", "%date:yyyy%", "{a|b} // c", ["1"], { __value__: ["1", 0] }, null),
);
const anyId = fc.oneof(fc.nat(12).map(String), fc.constantFrom("5:3", "a", "01", "constructor", "1e3", "9007199254740993", "节点 7", "-1"));
const anyLink = fc.tuple(anyId, fc.nat(4));

const inputNames = [
  ...new Set(Object.values(info).flatMap(({ input }) => Object.keys({ ...input?.required, ...input?.optional }))),
  ...["resize_type.width", "resize_type.match", "images.image0", "images.image3", "values.a", "mode.factor"],
  ...["undeclared", "constructor", "größe 寸"],
];
const anyNode = fc.record({
  class_type: fc.constantFrom(...Object.keys(info), "Unknown.Class", "Sharpen"),
  inputs: fc.dictionary(fc.constantFrom(...inputNames), fc.oneof(anyValue, anyLink), { maxKeys: 8 }),
});
const anyGraph = fc.dictionary(anyId, anyNode, { maxKeys: 8 });

test("reads back any graph written as an editor file", () => {
  fc.assert(
    fc.property(anyGraph, (graph: Graph) => {
      const { file, lostInputs: lost } = toEditorFile(graph, info, { id: "x", drawingPositions: new Map() });
      const convertedGraph = convertBack(file);
      expect(lost).toEqual([]);
      expect(readMatchingDrawing(file, graph)).toBeDefined();
      expect(Object.keys(convertedGraph).sort()).toEqual(Object.keys(graph).sort());
      expect(pickInputs(graph, convertedGraph)).toEqual(pickInputs(graph, graph));
      // An omitted input has the class's default.
      expect(toComparable({ ...convertedGraph }, info)).toEqual(toComparable(parseExactJson<Graph>(writeExactJson(graph)), info));
    }),
    { numRuns: 150, seed: 20261123 },
  );
});

test("reports a node with a name reserved by the editor", () => {
  const graph = { "1": { class_type: "Note", inputs: {} }, "": { class_type: "Source", inputs: {} } };
  expect(toEditorFile(graph, info, { id: "x", drawingPositions: new Map() }).lostInputs).toEqual(["1", ""]);
});

test("places nodes like the drawing, without overlaps", () => {
  const positions = new Map([
    ["1", { x: 0, y: 40 }],
    ["2", { x: 0, y: 0 }],
    ["3", { x: 232, y: 0 }],
  ]);
  const node = { class_type: "Prompt", inputs: { text: "a" } };
  const { file } = toEditorFile({ "1": node, "2": node, "3": node }, info, { id: "x", drawingPositions: positions });
  const [first, second, third] = asArray(file.nodes).map((item) => asObject(item) ?? {});
  expect([second?.pos, third?.pos]).toEqual([
    [0, 0],
    [380, 0],
  ]);
  expect(Number(asArray(first?.pos)[1])).toBeGreaterThan(Number(asArray(second?.size)[1]));
});

/** Returns another value of the same type. */
const changeValue = (value: unknown): unknown =>
  typeof value === "number"
    ? value + 1
    : typeof value === "boolean"
      ? !value
      : typeof value === "bigint"
        ? value - 1n
        : `${String(value)}x`;

test.for(pairNames)("writes each value of %s in place and changes nothing else", (name) => {
  const file = readFixture(`${name}.editor.json`);
  const before = convertBack(file, pairInfo);
  for (const [id, node] of Object.entries(before)) {
    for (const [input, value] of Object.entries(node.inputs)) {
      const isChoice = input === "resize_type" || input === "format";
      if (isLink(value) || typeof value === "object" || isChoice || !getOwn(pairInfo, node.class_type)) continue;
      const graph = { ...before, [id]: { ...node, inputs: { ...node.inputs, [input]: changeValue(value) } } };
      const writeResult = createEditableFile(file, pairInfo).applyValues(graph);
      const writtenGraph = convertBack(writeResult.file, pairInfo);
      expect(writtenGraph[id]?.inputs[input], `${id} ${input}`).toEqual(changeValue(value));
      // One widget may store the value of several inputs. The other inputs are reported.
      const otherInputs = Object.keys(before).flatMap((otherId) =>
        Object.keys(writtenGraph[otherId]?.inputs ?? {}).flatMap((otherInput) =>
          isSame(writtenGraph[otherId]?.inputs[otherInput], graph[otherId]?.inputs[otherInput])
            ? []
            : [{ nodeId: otherId, input: otherInput }],
        ),
      );
      expect(writeResult.findUnplacedValues()).toEqual(otherInputs);
      expect(listDifferences(file, writeResult.file), `${id} ${input}`).toHaveLength(1);
    }
  }
});
const isSame = (left: unknown, right: unknown) => writeExactJson(left) === writeExactJson(right);
/** Lists the paths at which two values differ. */
function listDifferences(left: unknown, right: unknown, path = ""): string[] {
  if (isSame(left, right)) return [];
  if (typeof left !== "object" || typeof right !== "object" || !left || !right) return [path];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].flatMap((key) => listDifferences(getEntry(left, key), getEntry(right, key), `${path}/${key}`));
}
const getEntry = (value: object, key: string): unknown => new Map<string, unknown>(Object.entries(value)).get(key);

/** Writes the nodes' inputs and returns the new file, each node's widget values and the unplaced values. */
function writeValues(
  file: ReturnType<typeof createEditorFile>,
  nodes: Record<string, [type: string, inputs: Graph[string]["inputs"]]>,
  catalogue = info,
) {
  const graph = Object.fromEntries(Object.entries(nodes).map(([id, [type, inputs]]) => [id, { class_type: type, inputs }]));
  const result = createEditableFile(file, catalogue).applyValues(graph);
  const values = asArray(result.file.nodes).map((node) => asObject(node)?.widgets_values);
  return { file: result.file, values, unplaced: result.findUnplacedValues() };
}

/** A file whose nodes use a subgraph with a blur that has an exposed radius. */
const createBlurUses = (...uses: NodeSpec[]) => ({
  ...createEditorFile(uses),
  definitions: {
    subgraphs: [
      createSubgraph(INNER_ID, [{ id: 5, type: "Blur", in: { radius: [-10, 0, "INT", true] }, values: [6] }], { inputs: ["radius"] }),
    ],
  },
});

test("writes a value into the primitive or named value that stores it", () => {
  const primitive = createEditorFile([
    { id: 1, type: "PrimitiveNode", values: [99, "fixed"] },
    { id: 2, type: "Blur", in: { radius: [1, 0, "INT", true] }, values: [4] },
    { id: 3, type: "Listed", values: { from: "a", kind: "one", size: 2 } },
  ]);
  const { values, unplaced } = writeValues(primitive, {
    "2": ["Blur", { radius: 7 }],
    "3": ["Listed", { from: "b", kind: "one", size: 2 }],
  });
  expect(unplaced).toEqual([]);
  expect(values).toEqual([[7, "fixed"], [4], { from: "b", kind: "one", size: 2 }]);
});

test("writes a member's value into its group node and changes nothing else", () => {
  const nodes = [
    { index: 0, type: "Seeded", widgets_values: [1, "fixed", 2] },
    { index: 1, type: "Blur", widgets_values: [3] },
  ];
  const file = {
    ...createEditorFile([{ id: 8, type: "workflow>both", values: [11, "fixed", 22, 33] }]),
    extra: { groupNodes: { both: { nodes, links: [], external: [] } } },
  };
  const { file: writtenFile, unplaced } = writeValues(file, { "8:0": ["Seeded", { seed: 11, steps: 5 }], "8:1": ["Blur", { radius: 6 }] });
  expect(unplaced).toEqual([]);
  expect(listDifferences(file, writtenFile)).toEqual(["/nodes/0/widgets_values/2", "/nodes/0/widgets_values/3"]);
});

test("reports a value that would change both uses of a subgraph", () => {
  const file = createBlurUses({ id: 1, type: INNER_ID }, { id: 2, type: INNER_ID });
  const { file: writtenFile, unplaced } = writeValues(file, { "1:5": ["Blur", { radius: 8 }], "2:5": ["Blur", { radius: 6 }] });
  expect(convertBack(writtenFile)["1:5"]?.inputs.radius).toBe(8);
  expect(unplaced).toEqual([{ nodeId: "2:5", input: "radius" }]);
});

test("writes a value into one subgraph use and drops its named copy", () => {
  const use = { type: INNER_ID, properties: { previewExposures: [] }, values: [6], widgets_values_named: { radius: 6 } };
  const file = createBlurUses({ id: 2, ...use }, { id: 3, ...use });
  const { file: writtenFile, unplaced } = writeValues(file, { "2:5": ["Blur", { radius: 9 }], "3:5": ["Blur", { radius: 6 }] });
  expect(unplaced).toEqual([]);
  expect(listDifferences(file, writtenFile)).toEqual(["/nodes/0/widgets_values_named", "/nodes/0/widgets_values/0"]);
});

test("moves a named value to its position and keeps the others", () => {
  const inner = createSubgraph(
    INNER_ID,
    [{ id: 5, type: "Seeded", in: { seed: [-10, 0, "INT", true], steps: [-10, 1, "INT", true] }, values: [1, "fixed", 2] }],
    { inputs: ["seed", "steps"] },
  );
  const entry = (name: string, hostValue: number) => ({ originalEntry: ["-1", name], reason: "missingSourceNode", hostValue });
  const properties = { proxyWidgetErrorQuarantine: [entry("steps", 48), entry("seed", 64)] };
  const file = { ...createEditorFile([{ id: 2, type: INNER_ID, values: [48, 64], properties }]), definitions: { subgraphs: [inner] } };
  const { file: writtenFile, unplaced } = writeValues(file, { "2:5": ["Seeded", { seed: 7, steps: 48 }] });
  expect(unplaced).toEqual([]);
  expect(asArray(writtenFile.nodes)).toMatchObject([
    { widgets_values: [7, 64], properties: { proxyWidgetErrorQuarantine: [{ originalEntry: ["-1", "steps"] }] } },
  ]);
});

test("writes another choice with its inputs and keeps the seed's control", () => {
  const file = createEditorFile([{ id: 2, type: "Chooser", values: ["by", 1.5, 7] }]);
  expect(writeValues(file, { "2": ["Chooser", { mode: "none", last: 7 }] }).values).toEqual([["none", 7]]);
  const seeded = createEditorFile([{ id: 1, type: "Seeded", values: [5, "increment"] }]);
  expect(writeValues(seeded, { "1": ["Seeded", { seed: 5, steps: 9 }] }).values).toEqual([[5, "increment", 9]]);
});

test("updates a box's edge values when the box changes", () => {
  const file = createEditorFile([{ id: 1, type: "Boxed", values: [{ x: 1, y: 2, width: 3, height: 4 }, 1, 2, 3, 4, "text"] }]);
  const box = { x: 5, y: 2, width: 3, height: 9 };
  expect(writeValues(file, { "1": ["Boxed", { box, after: "text" }] }).values).toEqual([[box, 5, 2, 3, 9, "text"]]);
});

test("reports differing nodes, links and classes per node", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Sink", in: { images: [1, 0], also: [1, 1], any: undefined } },
    { id: 3, type: "Source" },
    { id: 5, type: "Seeded", values: [1, "fixed", 2] },
  ]);
  const { unplaced } = writeValues(file, {
    "1": ["Source", {}],
    "2": ["Sink", { images: ["1", 1], any: ["1", 0] }],
    "4": ["Source", {}],
    "5": ["Uncontrolled", { seed: 1, steps: 2 }],
  });
  expect(unplaced).toEqual([
    { nodeId: "2", input: "images" },
    { nodeId: "2", input: "any" },
    { nodeId: "2", input: "also" },
    { nodeId: "4" },
    { nodeId: "5" },
    { nodeId: "3" },
  ]);
});

test("writes the default for an omitted input and no value for a linked one", () => {
  const file = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Blur", in: { radius: undefined }, values: [9] },
    { id: 3, type: "Blur", values: [9] },
  ]);
  const { values, unplaced } = writeValues(file, { "1": ["Source", {}], "2": ["Blur", {}], "3": ["Blur", { radius: ["1", 2] }] });
  expect(values).toEqual([undefined, [3], [9]]);
  expect(unplaced).toEqual([{ nodeId: "3", input: "radius" }]);
});

test("keeps a node pack's trailing values when the inputs change", () => {
  const images = ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE"] } }, prefix: "image" } }];
  const autogrowClass = { input: { required: { images, size: ["INT", {}] } }, output: [] };
  const extendedInfo = { ...info, ...objectInfoSchema.parse({ Grows: autogrowClass }) };
  const growingFile = createEditorFile([{ id: 1, type: "Grows", values: [1, "node pack value", 5] }]);
  expect(writeValues(growingFile, { "1": ["Grows", { size: 2 }] }, extendedInfo).values).toEqual([[2, "node pack value", 5]]);
  const chooserFile = createEditorFile([{ id: 2, type: "Chooser", values: ["by", 1.5, 7, "node pack value"] }]);
  expect(writeValues(chooserFile, { "2": ["Chooser", { mode: "none", last: 7 }] }).values).toEqual([["none", 7, "node pack value"]]);
});

test("reads the file once for any number of writes", () => {
  const file = createEditorFile([{ id: 1, type: "Seeded", values: [5, "fixed", 9] }]);
  let reads = 0;
  const note = {
    id: 2,
    type: "Note",
    get inputs() {
      reads += 1;
      return [];
    },
  };
  const { applyValues } = createEditableFile({ ...file, nodes: [...file.nodes, note] }, info);
  const writtenFiles = [1, 2, 3].map((seed) => applyValues({ "1": { class_type: "Seeded", inputs: { seed, steps: 9 } } }).file);
  expect(writtenFiles.map(({ nodes }) => asObject(asArray(nodes)[0])?.widgets_values)).toEqual([1, 2, 3].map((seed) => [seed, "fixed", 9]));
  expect(reads).toBe(1);
});
