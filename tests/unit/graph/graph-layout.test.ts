import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { findBox, getSubgraphNames, layoutEditorFile } from "@/components/graph/editor-layout";
import { edgesPath, layoutGraph, nodeSize, type PlacedNode } from "@/components/graph/graph-layout";
import { isEditorFile, readEditorFile } from "@/lib/contract/editor-workflow/file";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";

/** `links`: target → sources. */
function createGraph(links: Record<string, string[]>): Graph {
  return Object.fromEntries(
    Object.entries(links).map(([id, sources]) => [
      id,
      { class_type: "Node", inputs: Object.fromEntries(sources.map((source, index) => [`in${index}`, [source, 0]])) },
    ]),
  );
}

/** A deterministic pseudo-random graph. */
function createRandomGraph(count: number, seed: number): Graph {
  let state = seed;
  const toss = (limit: number) => (state = (state * 1103515245 + 12345) % 2147483648) % limit;
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  return createGraph(Object.fromEntries(ids.map((id) => [id, Array.from({ length: toss(4) }, () => ids[toss(count)] ?? "")])));
}

/** Each node takes inputs from some earlier ones, near and far. */
function woven(count: number, seed: number): Graph {
  let state = seed;
  const toss = (limit: number) => Math.floor(((state = (state * 1103515245 + 12345) % 2147483648) / 2147483648) * limit);
  const sources = (index: number) => (index < 4 ? [] : Array.from({ length: 1 + toss(3) }, () => `n${toss(index)}`));
  return createGraph(Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, sources(index)])));
}

function overlaps(nodes: readonly PlacedNode[]): string[] {
  const byColumn = new Map<number, PlacedNode[]>();
  for (const node of nodes) byColumn.set(node.x, [...(byColumn.get(node.x) ?? []), node]);
  const columns = [...byColumn.keys()].sort((a, b) => a - b);
  const tooNear = columns.flatMap((x, index) => (index > 0 && x - (columns[index - 1] ?? 0) < nodeSize.width ? [`column ${x}`] : []));
  const within = [...byColumn.values()].flatMap((column) => {
    const sorted = column.toSorted((a, b) => a.y - b.y);
    return sorted.flatMap((node, index) => (index > 0 && node.y - (sorted[index - 1]?.y ?? 0) < nodeSize.height ? [node.id] : []));
  });
  return [...tooNear, ...within];
}

describe("a drawn workflow", () => {
  it("places every node to the right of its sources", () => {
    const { nodes } = layoutGraph(createGraph({ save: ["sampler"], sampler: ["model", "text"], text: ["model"], model: [] }));
    const x = (id: string) => nodes.get(id)?.x ?? Number.NaN;
    expect(x("model")).toBeLessThan(x("text"));
    expect(x("text")).toBeLessThan(x("sampler"));
    expect(x("sampler")).toBeLessThan(x("save"));
  });

  it("places every node below its sources when upright, without overlaps", () => {
    const { nodes, width, height } = layoutGraph(
      createGraph({ save: ["sampler"], sampler: ["model", "text"], text: ["model"], model: [] }),
      true,
    );
    const y = (id: string) => nodes.get(id)?.y ?? Number.NaN;
    expect([y("model") < y("text"), y("text") < y("sampler"), y("sampler") < y("save")]).toEqual([true, true, true]);
    expect(height).toBeGreaterThan(width);
    const turned = layoutGraph(createRandomGraph(150, 3), true);
    const all = [...turned.nodes.values()];
    const isApart = (item: PlacedNode, other: PlacedNode) =>
      Math.abs(item.x - other.x) >= nodeSize.width || Math.abs(item.y - other.y) >= nodeSize.height;
    expect(all.every((item, at) => all.slice(at + 1).every((other) => isApart(item, other)))).toBe(true);
    expect(all.every(({ x, y: top }) => x >= 0 && x + nodeSize.width <= turned.width && top + nodeSize.height <= turned.height)).toBe(true);
  });

  it("is the same for the same graph", () => {
    expect(layoutGraph(createRandomGraph(200, 7))).toEqual(layoutGraph(createRandomGraph(200, 7)));
  });

  it("lets no nodes overlap, even with loops, and keeps them in the frame", () => {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const graph = createRandomGraph(150, seed);
      const { nodes, width, height } = layoutGraph(graph);
      expect(nodes.size).toBe(150);
      expect(overlaps([...nodes.values()])).toEqual([]);
      for (const { x, y } of nodes.values()) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(x + nodeSize.width).toBeLessThanOrEqual(width + 0.001);
        expect(y + nodeSize.height).toBeLessThanOrEqual(height + 0.001);
      }
    }
  });

  it("leads a link past the nodes between, and never over one", () => {
    for (const isUpright of [false, true]) {
      for (const seed of [1, 2, 3, 4]) {
        const { nodes, edges, width, height } = layoutGraph(woven(40, seed), isUpright);
        const lanes = edges.flatMap(({ via }) => via);
        expect(lanes.length).toBeGreaterThan(0);
        // A lane runs straight through its layer, so no node may lie on its line.
        const hit = [...nodes.values()].filter(({ x, y }) =>
          lanes.some((lane) =>
            isUpright
              ? lane.y === y && lane.x > x - 8 && lane.x < x + nodeSize.width + 8
              : lane.x === x && lane.y > y - 8 && lane.y < y + nodeSize.height + 8,
          ),
        );
        expect(hit).toEqual([]);
        expect(lanes.every(({ x, y }) => x >= 0 && y >= 0 && x <= width && y <= height)).toBe(true);
      }
    }
  });

  it("has a lane in every layer a link crosses, none for backward links", () => {
    const { edges, nodes } = layoutGraph(createGraph({ a: ["d"], b: ["a"], c: ["b"], d: ["c", "a"] }));
    const via = (source: string, target: string) => edges.find((edge) => edge.source === source && edge.target === target)?.via;
    expect(via("a", "d")?.map(({ x }) => x)).toEqual([nodes.get("b")?.x, nodes.get("c")?.x]);
    expect([via("a", "b"), via("d", "a")]).toEqual([[], []]);
  });

  it("handles loops, self-links and dangling links", () => {
    const { nodes, edges } = layoutGraph(createGraph({ a: ["b"], b: ["a"], self: ["self"], lost: ["nowhere"], __proto__x: [] }));
    expect([...nodes.keys()].sort()).toEqual(["__proto__x", "a", "b", "lost", "self"]);
    expect(edges.map(({ source, target }) => `${source}>${target}`).sort()).toEqual(["a>b", "b>a", "self>self"]);
    expect(overlaps([...nodes.values()])).toEqual([]);
  });

  it("has no size without nodes", () => {
    expect(layoutGraph({})).toMatchObject({ width: 0, height: 0, edges: [] });
  });

  it("draws a chain of five thousand nodes and folds loose ones into columns", () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `n${index}`);
    const chain = layoutGraph(createGraph(Object.fromEntries(ids.map((id, index) => [id, index === 0 ? [] : [ids[index - 1] ?? ""]]))));
    expect(chain.nodes.size).toBe(5000);
    expect(chain.height).toBe(nodeSize.height);
    const loose = layoutGraph(createGraph(Object.fromEntries(ids.map((id) => [id, []]))));
    expect(overlaps([...loose.nodes.values()])).toEqual([]);
    expect(loose.height).toBeLessThan(loose.width);
  });
});

const readFile = (file: unknown) => (isEditorFile(file) ? readEditorFile(file) : expect.fail("no file of the editor"));
const pair = (name: string) => readFile(JSON.parse(readFileSync(`tests/fixtures/editor-pairs/${name}.editor.json`, "utf8")));
const layoutOne = (node: JsonObject, more: JsonObject = {}) =>
  layoutEditorFile(readFile({ nodes: [{ id: 1, type: "X", ...node }], ...more }), []);

test("places nodes like the editor, with titles, notes and groups", () => {
  const { nodes, groups, edges } = layoutEditorFile(pair("11-notes-and-groups"), []);
  const all = [...nodes.values()];
  expect(all.map(({ look }) => look?.kind).sort()).toEqual(["node", "node", "note", "note"]);
  expect(groups?.length).toBeGreaterThan(0);
  expect(edges).toHaveLength(1);
  const graphLayout = layoutOne(
    { pos: [100, 200], size: { "0": 300, "1": 90 }, bgcolor: "#335" },
    { groups: [{ title: "All", bounding: [90, 100, 500, 300], color: "#A88" }] },
  );
  expect(graphLayout.nodes.get("1")).toMatchObject({ x: 10, y: 70, width: 300, height: 120, look: { color: "#335" } });
  expect(graphLayout.groups).toEqual([{ title: "All", x: 0, y: 0, width: 500, height: 300, color: "#A88" }]);
  expect({ width: graphLayout.width, height: graphLayout.height }).toEqual({ width: 500, height: 300 });
});

test("draws muted, bypassed and collapsed nodes and ignores bad colours", () => {
  expect(layoutOne({ mode: 2 }).nodes.get("1")?.look?.mode).toBe("muted");
  expect(layoutOne({ mode: 4 }).nodes.get("1")?.look?.mode).toBe("bypassed");
  expect(layoutOne({ size: [300, 400], flags: { collapsed: true } }).nodes.get("1")).toMatchObject({ width: 160, height: 30 });
  expect(layoutOne({ color: "red;background:url(//x)", bgcolor: {} }).nodes.get("1")?.look?.color).toBeUndefined();
});

test("omits an enabled node only when another graph has it", () => {
  const file = readFile({
    nodes: [
      { id: 1, type: "X" },
      { id: 2, type: "X" },
      { id: 3, type: "Note" },
      { id: 4, type: "X", mode: 2 },
    ],
  });
  const { nodes } = layoutEditorFile(file, [], { "1": { class_type: "X", inputs: {} } });
  expect(["1", "2", "3", "4"].map((id) => nodes.get(id)?.look?.mode)).toEqual([undefined, "leftOut", undefined, "muted"]);
});

test("draws a subgraph as one box with nodes by graph id", () => {
  const file = pair("20-subgraph-linked-widget");
  expect(layoutEditorFile(file, []).nodes.get("5")?.look).toMatchObject({ kind: "subgraph", title: "New Subgraph" });
  const inner = layoutEditorFile(file, ["5"]);
  expect([...inner.nodes.keys()]).toEqual(["5:2", "5:3"]);
  expect(inner.edges.map(({ source, target }) => [source, target])).toEqual([["5:2", "5:3"]]);
  expect(findBox(file, "5:3")).toEqual({ inside: ["5"], id: "5:3" });
  expect(findBox(file, "5:99")).toEqual({ inside: [], id: "5" });
  expect(findBox(file, "99")).toBeUndefined();
  expect(getSubgraphNames(file, ["5"])).toEqual(["New Subgraph"]);
});

test("makes every position and size finite", () => {
  const anyValue = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom<unknown>(1e300, -1e300, [NaN, 1], [1e308, -1e308], { "0": "x" }),
  );
  fc.assert(
    fc.property(anyValue, anyValue, anyValue, anyValue, (pos, size, flags, bounding) => {
      const layout = layoutOne(
        { pos, size, flags, inputs: [{ link: 1 }] },
        { links: [[1, 1, 1e300, 1, 0, "*"]], groups: [{ bounding }, bounding] },
      );
      const numbers = [
        layout.width,
        layout.height,
        ...[...layout.nodes.values(), ...(layout.groups ?? [])].flatMap(({ x, y, width, height }) => [x, y, width, height]),
      ];
      expect(numbers.filter((number) => !Number.isFinite(number) || Math.abs(number) > 500_000)).toEqual([]);
      expect(edgesPath(layout, layout.edges)).not.toMatch(/NaN|Infinity/);
    }),
  );
});

test("draws very many groups and very long ids up to a limit", () => {
  const groups = Array.from({ length: 300_000 }, (_, at) => ({ bounding: [at, 5, 10, 10] }));
  const graphLayout = layoutOne({ pos: [100, 200] }, { groups });
  expect(graphLayout.groups).toHaveLength(1_000);
  expect(graphLayout.nodes.get("1")).toMatchObject({ x: 100, y: 165 });
  expect(findBox(readFile({ nodes: [{ id: 1, type: "X" }] }), `1${":1".repeat(1_000_000)}`)).toEqual({ inside: [], id: "1" });
});
