// Whether an editor's drawing belongs to a graph.
import { expect, test } from "vitest";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { findNet, readEditorFile } from "@/lib/contract/editor-workflow/file";
import { type Graph } from "@/lib/contract/schemas/graph";
import { convert, definition, net } from "./editor-files";

const INNER = "11111111-1111-1111-1111-111111111111";
const drawing = net([
  { id: 1, type: "Source" },
  { id: 2, type: "Sink", in: { images: [1, 0], also: undefined } },
]);
const { graph } = convert(drawing);
const isOf = (graph: Graph, file: unknown = drawing) => readMatchingDrawing(file, graph) !== undefined;
const sink = (inputs: Graph[string]["inputs"]) => ({ ...graph, "2": { class_type: "Sink", inputs } });

test("matches a drawing to its graph and parts of it, regardless of values", () => {
  expect(isOf(graph)).toBe(true);
  expect(isOf({ "1": { class_type: "Source", inputs: { more: 7 } } })).toBe(true);
});

test("rejects a drawing with a missing node, another class or another link", () => {
  expect(isOf({ ...graph, "3": { class_type: "Source", inputs: {} } })).toBe(false);
  expect(isOf({ ...graph, "1": { class_type: "Blur", inputs: {} } })).toBe(false);
  expect(isOf(sink({ images: ["1", 1] }))).toBe(false);
  expect(isOf(sink({ images: ["1", 0], also: ["1", 0] }))).toBe(false);
  expect(isOf(sink({}))).toBe(false);
});

test("gives each node inside a subgraph its own box", () => {
  const inner = definition(INNER, [{ id: 5, type: "Source" }], { outputs: [[5, 0]] });
  const file = { ...net([{ id: 2, type: INNER }]), definitions: { subgraphs: [inner] } };
  expect(isOf({ "2:5": { class_type: "Source", inputs: {} } }, file)).toBe(true);
  expect(isOf({ "2:6": { class_type: "Source", inputs: {} } }, file)).toBe(false);
});

test("accepts a pack's own rule-based links in a drawing", () => {
  const byName = net([
    { id: 1, type: "Source" },
    { id: 2, type: "Sink", in: { images: [4, 0], also: undefined } },
    { id: 4, type: "GetNode" },
  ]);
  expect(isOf(sink({ images: ["1", 0] }), byName)).toBe(true);
  expect(isOf(sink({ images: ["1", 0], also: ["1", 1] }), byName)).toBe(true);
});

test("rejects files without a drawing", () => {
  expect(["", null, {}, { nodes: 1 }].map((item) => isOf(graph, item))).toEqual([false, false, false, false]);
});

test("finds each inner node without scanning all", () => {
  const uses = Array.from({ length: 2_000 }, (_, id) => ({ id, type: INNER }));
  const file = readEditorFile({ ...net(uses), definitions: { subgraphs: [definition(INNER, [{ id: 5_000, type: "Source" }])] } });
  let reads = 0;
  const nodes = file.nodes.map((node) => ({
    ...node,
    get id() {
      reads += 1;
      return node.id;
    },
  }));
  const drawing = { ...file, nodes };
  expect(uses.filter(({ id }) => findNet(drawing, [String(id)]))).toHaveLength(2_000);
  expect(reads).toBe(2_000);
});

test("rejects ids with too many parts and too many uses", () => {
  const inputs = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`i${at}`, undefined]));
  const uses = (count: number) => Array.from({ length: count }, (_, id) => ({ id, type: INNER }));
  const inner = definition(INNER, [{ id: 5_000, type: "Source", in: inputs }]);
  const file = (count: number) => ({ ...net(uses(count)), definitions: { subgraphs: [inner] } });
  const usesById = (count: number) => Object.fromEntries(uses(count).map(({ id }) => [`${id}:5000`, { class_type: "Source", inputs: {} }]));
  expect(isOf(usesById(100), file(100))).toBe(true);
  expect(isOf(usesById(1_000), file(1_000))).toBe(false);
  expect(isOf({ ["1:".repeat(200_000) + "1"]: { class_type: "Source", inputs: {} } }, file(2))).toBe(false);
});
