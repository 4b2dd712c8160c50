import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { findBox, getSubgraphNames, layoutEditorFile } from "@/components/graph/editor-layout";
import { layoutGraph, nodeSize, type PlacedNode, toEdgesPath } from "@/components/graph/graph-layout";
import { isEditorFile, readEditorFile } from "@/lib/contract/editor-workflow/file";
import { type JsonObject } from "@/lib/contract/json/json";
import { type Graph } from "@/lib/contract/schemas/graph";

/** `links` maps a target to its sources. */
function createGraph(links: Record<string, string[]>): Graph {
  return Object.fromEntries(
    Object.entries(links).map(([id, sources]) => [
      id,
      { class_type: "Node", inputs: Object.fromEntries(sources.map((source, index) => [`in${index}`, [source, 0]])) },
    ]),
  );
}

/** Creates a deterministic pseudo-random graph. */
function createRandomGraph(count: number, seed: number): Graph {
  let state = seed;
  const nextRandom = (limit: number) => (state = (state * 1103515245 + 12345) % 2147483648) % limit;
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  return createGraph(Object.fromEntries(ids.map((id) => [id, Array.from({ length: nextRandom(4) }, () => ids[nextRandom(count)] ?? "")])));
}

/** Creates a graph in which each node has inputs from a few earlier nodes. */
function createWovenGraph(count: number, seed: number): Graph {
  let state = seed;
  const nextRandom = (limit: number) => Math.floor(((state = (state * 1103515245 + 12345) % 2147483648) / 2147483648) * limit);
  const pickSources = (index: number) => (index < 4 ? [] : Array.from({ length: 1 + nextRandom(3) }, () => `n${nextRandom(index)}`));
  return createGraph(Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, pickSources(index)])));
}

function findOverlaps(nodes: readonly PlacedNode[]): string[] {
  const nodesByColumn = new Map<number, PlacedNode[]>();
  for (const node of nodes) nodesByColumn.set(node.x, [...(nodesByColumn.get(node.x) ?? []), node]);
  const columns = [...nodesByColumn.keys()].sort((a, b) => a - b);
  const closeColumns = columns.flatMap((x, index) => (index > 0 && x - (columns[index - 1] ?? 0) < nodeSize.width ? [`column ${x}`] : []));
  const overlappingIds = [...nodesByColumn.values()].flatMap((column) => {
    const sorted = column.toSorted((a, b) => a.y - b.y);
    return sorted.flatMap((node, index) => (index > 0 && node.y - (sorted[index - 1]?.y ?? 0) < nodeSize.height ? [node.id] : []));
  });
  return [...closeColumns, ...overlappingIds];
}

describe("graph layout", () => {
  it("places every node to the right of its sources", () => {
    const { nodes } = layoutGraph(createGraph({ save: ["sampler"], sampler: ["model", "text"], text: ["model"], model: [] }));
    const getX = (id: string) => nodes.get(id)?.x ?? Number.NaN;
    expect(getX("model")).toBeLessThan(getX("text"));
    expect(getX("text")).toBeLessThan(getX("sampler"));
    expect(getX("sampler")).toBeLessThan(getX("save"));
  });

  it("places every node below its sources when upright, without overlaps", () => {
    const { nodes, width, height } = layoutGraph(
      createGraph({ save: ["sampler"], sampler: ["model", "text"], text: ["model"], model: [] }),
      true,
    );
    const getY = (id: string) => nodes.get(id)?.y ?? Number.NaN;
    expect([getY("model") < getY("text"), getY("text") < getY("sampler"), getY("sampler") < getY("save")]).toEqual([true, true, true]);
    expect(height).toBeGreaterThan(width);
    const uprightLayout = layoutGraph(createRandomGraph(150, 3), true);
    const all = [...uprightLayout.nodes.values()];
    const isApart = (item: PlacedNode, other: PlacedNode) =>
      Math.abs(item.x - other.x) >= nodeSize.width || Math.abs(item.y - other.y) >= nodeSize.height;
    expect(all.every((item, index) => all.slice(index + 1).every((other) => isApart(item, other)))).toBe(true);
    expect(
      all.every(({ x, y: top }) => x >= 0 && x + nodeSize.width <= uprightLayout.width && top + nodeSize.height <= uprightLayout.height),
    ).toBe(true);
  });

  it("never overlaps nodes, even with loops, and keeps them within the size", () => {
    for (const seed of [1, 2, 3]) {
      const { nodes, width, height } = layoutGraph(createRandomGraph(150, seed));
      expect(nodes.size).toBe(150);
      expect(findOverlaps([...nodes.values()])).toEqual([]);
      for (const { x, y } of nodes.values()) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(x + nodeSize.width).toBeLessThanOrEqual(width + 0.001);
        expect(y + nodeSize.height).toBeLessThanOrEqual(height + 0.001);
      }
    }
  });

  it("routes a link around the nodes in between", () => {
    for (const isUpright of [false, true]) {
      for (const seed of [1, 2]) {
        const { nodes, edges, width, height } = layoutGraph(createWovenGraph(40, seed), isUpright);
        const lanes = edges.flatMap(({ via }) => via);
        expect(lanes.length).toBeGreaterThan(0);
        // A lane crosses its layer in a straight line, so no node may be on it.
        const coveredNodes = [...nodes.values()].filter(({ x, y }) =>
          lanes.some((lane) =>
            isUpright
              ? lane.y === y && lane.x > x - 8 && lane.x < x + nodeSize.width + 8
              : lane.x === x && lane.y > y - 8 && lane.y < y + nodeSize.height + 8,
          ),
        );
        expect(coveredNodes).toEqual([]);
        expect(lanes.every(({ x, y }) => x >= 0 && y >= 0 && x <= width && y <= height)).toBe(true);
      }
    }
  });

  it("returns a lane for every layer a link crosses, none for backward links", () => {
    const { edges, nodes } = layoutGraph(createGraph({ a: ["d"], b: ["a"], c: ["b"], d: ["c", "a"] }));
    const getLanes = (source: string, target: string) => edges.find((edge) => edge.source === source && edge.target === target)?.via;
    expect(getLanes("a", "d")?.map(({ x }) => x)).toEqual([nodes.get("b")?.x, nodes.get("c")?.x]);
    expect([getLanes("a", "b"), getLanes("d", "a")]).toEqual([[], []]);
  });

  it("handles loops, self-links and dangling links", () => {
    const { nodes, edges } = layoutGraph(createGraph({ a: ["b"], b: ["a"], self: ["self"], lost: ["nowhere"], __proto__x: [] }));
    expect([...nodes.keys()].sort()).toEqual(["__proto__x", "a", "b", "lost", "self"]);
    expect(edges.map(({ source, target }) => `${source}>${target}`).sort()).toEqual(["a>b", "b>a", "self>self"]);
    expect(findOverlaps([...nodes.values()])).toEqual([]);
  });

  it("returns an empty layout when there are no nodes", () => {
    expect(layoutGraph({})).toMatchObject({ width: 0, height: 0, edges: [] });
  });

  it("lays out a chain of 5,000 nodes and wraps unlinked ones into columns", () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `n${index}`);
    const chain = layoutGraph(createGraph(Object.fromEntries(ids.map((id, index) => [id, index === 0 ? [] : [ids[index - 1] ?? ""]]))));
    expect(chain.nodes.size).toBe(5000);
    expect(chain.height).toBe(nodeSize.height);
    const unlinkedLayout = layoutGraph(createGraph(Object.fromEntries(ids.map((id) => [id, []]))));
    expect(findOverlaps([...unlinkedLayout.nodes.values()])).toEqual([]);
    expect(unlinkedLayout.height).toBeLessThan(unlinkedLayout.width);
  });
});

const readFile = (file: unknown) => (isEditorFile(file) ? readEditorFile(file) : expect.fail("not an editor file"));
const readPair = (name: string) => readFile(JSON.parse(readFileSync(`tests/fixtures/editor-pairs/${name}.editor.json`, "utf8")));
const layoutNode = (node: JsonObject, overrides: JsonObject = {}) =>
  layoutEditorFile(readFile({ nodes: [{ id: 1, type: "X", ...node }], ...overrides }), []);

test("places nodes like the editor, with titles, notes and groups", () => {
  const { nodes, groups, edges } = layoutEditorFile(readPair("11-notes-and-groups"), []);
  const all = [...nodes.values()];
  expect(all.map(({ look }) => look?.kind).sort()).toEqual(["node", "node", "note", "note"]);
  expect(groups?.length).toBeGreaterThan(0);
  expect(edges).toHaveLength(1);
  const graphLayout = layoutNode(
    { pos: [100, 200], size: { "0": 300, "1": 90 }, bgcolor: "#335" },
    { groups: [{ title: "All", bounding: [90, 100, 500, 300], color: "#A88" }] },
  );
  expect(graphLayout.nodes.get("1")).toMatchObject({ x: 10, y: 70, width: 300, height: 120, look: { color: "#335" } });
  expect(graphLayout.groups).toEqual([{ title: "All", x: 0, y: 0, width: 500, height: 300, color: "#A88" }]);
  expect({ width: graphLayout.width, height: graphLayout.height }).toEqual({ width: 500, height: 300 });
});

test("draws muted, bypassed and collapsed nodes and ignores invalid colors", () => {
  expect(layoutNode({ mode: 2 }).nodes.get("1")?.look?.mode).toBe("muted");
  expect(layoutNode({ mode: 4 }).nodes.get("1")?.look?.mode).toBe("bypassed");
  expect(layoutNode({ size: [300, 400], flags: { collapsed: true } }).nodes.get("1")).toMatchObject({ width: 160, height: 30 });
  expect(layoutNode({ color: "red;background:url(//x)", bgcolor: {} }).nodes.get("1")?.look?.color).toBeUndefined();
});

test("marks an enabled node that the graph leaves out", () => {
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

test("draws a subgraph as one box and its nodes by graph id", () => {
  const file = readPair("20-subgraph-linked-widget");
  expect(layoutEditorFile(file, []).nodes.get("5")?.look).toMatchObject({ kind: "subgraph", title: "New Subgraph" });
  const inner = layoutEditorFile(file, ["5"]);
  expect([...inner.nodes.keys()]).toEqual(["5:2", "5:3"]);
  expect(inner.edges.map(({ source, target }) => [source, target])).toEqual([["5:2", "5:3"]]);
  expect(findBox(file, "5:3")).toEqual({ subgraphPath: ["5"], id: "5:3" });
  expect(findBox(file, "5:99")).toEqual({ subgraphPath: [], id: "5" });
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
      const layout = layoutNode(
        { pos, size, flags, inputs: [{ link: 1 }] },
        { links: [[1, 1, 1e300, 1, 0, "*"]], groups: [{ bounding }, bounding] },
      );
      const numbers = [
        layout.width,
        layout.height,
        ...[...layout.nodes.values(), ...(layout.groups ?? [])].flatMap(({ x, y, width, height }) => [x, y, width, height]),
      ];
      expect(numbers.filter((number) => !Number.isFinite(number) || Math.abs(number) > 500_000)).toEqual([]);
      expect(toEdgesPath(layout, layout.edges)).not.toMatch(/NaN|Infinity/);
    }),
  );
});

test("limits the number of groups and accepts very long ids", () => {
  const groups = Array.from({ length: 300_000 }, (_, index) => ({ bounding: [index, 5, 10, 10] }));
  const graphLayout = layoutNode({ pos: [100, 200] }, { groups });
  expect(graphLayout.groups).toHaveLength(1_000);
  expect(graphLayout.nodes.get("1")).toMatchObject({ x: 100, y: 165 });
  expect(findBox(readFile({ nodes: [{ id: 1, type: "X" }] }), `1${":1".repeat(1_000_000)}`)).toEqual({ subgraphPath: [], id: "1" });
});
