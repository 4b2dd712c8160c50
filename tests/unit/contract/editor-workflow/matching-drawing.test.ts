// Matching an editor's drawing to a graph.
import { expect, test } from "vitest";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { findNet, readEditorFile } from "@/lib/contract/editor-workflow/file";
import { type Graph } from "@/lib/contract/schemas/graph";
import { convert, createEditorFile, createSubgraph, INNER_ID } from "./editor-files";

const drawing = createEditorFile([
  { id: 1, type: "Source" },
  { id: 2, type: "Sink", in: { images: [1, 0], also: undefined } },
]);
const { graph } = convert(drawing);
const hasMatchingDrawing = (graph: Graph, file: unknown = drawing) => readMatchingDrawing(file, graph) !== undefined;
const createGraphWithSink = (inputs: Graph[string]["inputs"]) => ({ ...graph, "2": { class_type: "Sink", inputs } });

test("matches a drawing to its graph and parts of it, regardless of values", () => {
  expect(hasMatchingDrawing(graph)).toBe(true);
  expect(hasMatchingDrawing({ "1": { class_type: "Source", inputs: { more: 7 } } })).toBe(true);
});

test("rejects a drawing with a missing node, another class or another link", () => {
  expect(hasMatchingDrawing({ ...graph, "3": { class_type: "Source", inputs: {} } })).toBe(false);
  expect(hasMatchingDrawing({ ...graph, "1": { class_type: "Blur", inputs: {} } })).toBe(false);
  expect(hasMatchingDrawing(createGraphWithSink({ images: ["1", 1] }))).toBe(false);
  expect(hasMatchingDrawing(createGraphWithSink({ images: ["1", 0], also: ["1", 0] }))).toBe(false);
  expect(hasMatchingDrawing(createGraphWithSink({}))).toBe(false);
});

test("matches a node inside a subgraph by its full id", () => {
  const inner = createSubgraph(INNER_ID, [{ id: 5, type: "Source" }], { outputs: [[5, 0]] });
  const file = { ...createEditorFile([{ id: 2, type: INNER_ID }]), definitions: { subgraphs: [inner] } };
  expect(hasMatchingDrawing({ "2:5": { class_type: "Source", inputs: {} } }, file)).toBe(true);
  expect(hasMatchingDrawing({ "2:6": { class_type: "Source", inputs: {} } }, file)).toBe(false);
});

test("accepts links that a node pack resolves by name", () => {
  const fileWithGetNode = createEditorFile([
    { id: 1, type: "Source" },
    { id: 2, type: "Sink", in: { images: [4, 0], also: undefined } },
    { id: 4, type: "GetNode" },
  ]);
  expect(hasMatchingDrawing(createGraphWithSink({ images: ["1", 0] }), fileWithGetNode)).toBe(true);
  expect(hasMatchingDrawing(createGraphWithSink({ images: ["1", 0], also: ["1", 1] }), fileWithGetNode)).toBe(true);
});

test("rejects files without a drawing", () => {
  expect(["", null, {}, { nodes: 1 }].map((item) => hasMatchingDrawing(graph, item))).toEqual([false, false, false, false]);
});

test("finds subgraph nodes with one read per node", () => {
  const subgraphNodes = Array.from({ length: 2_000 }, (_, id) => ({ id, type: INNER_ID }));
  const file = readEditorFile({
    ...createEditorFile(subgraphNodes),
    definitions: { subgraphs: [createSubgraph(INNER_ID, [{ id: 5_000, type: "Source" }])] },
  });
  let reads = 0;
  const nodes = file.nodes.map((node) => ({
    ...node,
    get id() {
      reads += 1;
      return node.id;
    },
  }));
  const drawing = { ...file, nodes };
  expect(subgraphNodes.filter(({ id }) => findNet(drawing, [String(id)]))).toHaveLength(2_000);
  expect(reads).toBe(2_000);
});

test("rejects overlong ids and too many subgraph uses", () => {
  const inputs = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`i${index}`, undefined]));
  const createUses = (count: number) => Array.from({ length: count }, (_, id) => ({ id, type: INNER_ID }));
  const inner = createSubgraph(INNER_ID, [{ id: 5_000, type: "Source", in: inputs }]);
  const createFile = (count: number) => ({ ...createEditorFile(createUses(count)), definitions: { subgraphs: [inner] } });
  const createGraphOfUses = (count: number) =>
    Object.fromEntries(createUses(count).map(({ id }) => [`${id}:5000`, { class_type: "Source", inputs: {} }]));
  expect(hasMatchingDrawing(createGraphOfUses(100), createFile(100))).toBe(true);
  expect(hasMatchingDrawing(createGraphOfUses(1_000), createFile(1_000))).toBe(false);
  expect(hasMatchingDrawing({ ["1:".repeat(200_000) + "1"]: { class_type: "Source", inputs: {} } }, createFile(2))).toBe(false);
});
