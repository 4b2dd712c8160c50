import { describe, expect, it } from "vitest";
import { layoutGraph, nodeSize, type PlacedNode } from "@/components/graph/graph-layout";
import { type Graph } from "@/lib/contract/schemas/graph";

/** `links`: target → sources. */
function graphOf(links: Record<string, string[]>): Graph {
  return Object.fromEntries(
    Object.entries(links).map(([id, sources]) => [
      id,
      { class_type: "Node", inputs: Object.fromEntries(sources.map((source, index) => [`in${index}`, [source, 0]])) },
    ]),
  );
}

/** A graph from pseudo-random numbers that are the same in every run. */
function tossed(count: number, seed: number): Graph {
  let state = seed;
  const toss = (most: number) => (state = (state * 1103515245 + 12345) % 2147483648) % most;
  const ids = Array.from({ length: count }, (_, index) => `n${index}`);
  return graphOf(Object.fromEntries(ids.map((id) => [id, Array.from({ length: toss(4) }, () => ids[toss(count)] ?? "")])));
}

/** Each node takes inputs from some of those before it, near and far ones. */
function woven(count: number, seed: number): Graph {
  let state = seed;
  const toss = (most: number) => Math.floor(((state = (state * 1103515245 + 12345) % 2147483648) / 2147483648) * most);
  const sources = (index: number) => (index < 4 ? [] : Array.from({ length: 1 + toss(3) }, () => `n${toss(index)}`));
  return graphOf(Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, sources(index)])));
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
  it("puts every node to the right of what it takes from", () => {
    const { nodes } = layoutGraph(graphOf({ save: ["sampler"], sampler: ["model", "text"], text: ["model"], model: [] }));
    const x = (id: string) => nodes.get(id)?.x ?? Number.NaN;
    expect(x("model")).toBeLessThan(x("text"));
    expect(x("text")).toBeLessThan(x("sampler"));
    expect(x("sampler")).toBeLessThan(x("save"));
  });

  it("upright puts every node below what it takes from, with no two overlapping", () => {
    const { nodes, width, height } = layoutGraph(
      graphOf({ save: ["sampler"], sampler: ["model", "text"], text: ["model"], model: [] }),
      true,
    );
    const y = (id: string) => nodes.get(id)?.y ?? Number.NaN;
    expect([y("model") < y("text"), y("text") < y("sampler"), y("sampler") < y("save")]).toEqual([true, true, true]);
    expect(height).toBeGreaterThan(width);
    const turned = layoutGraph(tossed(150, 3), true);
    const all = [...turned.nodes.values()];
    const isApart = (one: PlacedNode, other: PlacedNode) =>
      Math.abs(one.x - other.x) >= nodeSize.width || Math.abs(one.y - other.y) >= nodeSize.height;
    expect(all.every((one, at) => all.slice(at + 1).every((other) => isApart(one, other)))).toBe(true);
    expect(all.every(({ x, y: top }) => x >= 0 && x + nodeSize.width <= turned.width && top + nodeSize.height <= turned.height)).toBe(true);
  });

  it("is the same for the same graph", () => {
    expect(layoutGraph(tossed(200, 7))).toEqual(layoutGraph(tossed(200, 7)));
  });

  it("lets no two nodes overlap, with loops and all, and keeps all inside its frame", () => {
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const graph = tossed(150, seed);
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

  it("has a lane in every layer that a link passes, and none for one that goes back", () => {
    const { edges, nodes } = layoutGraph(graphOf({ a: ["d"], b: ["a"], c: ["b"], d: ["c", "a"] }));
    const via = (source: string, target: string) => edges.find((edge) => edge.source === source && edge.target === target)?.via;
    expect(via("a", "d")?.map(({ x }) => x)).toEqual([nodes.get("b")?.x, nodes.get("c")?.x]);
    expect([via("a", "b"), via("d", "a")]).toEqual([[], []]);
  });

  it("survives loops, a node that takes from itself, and links to nothing", () => {
    const { nodes, edges } = layoutGraph(graphOf({ a: ["b"], b: ["a"], self: ["self"], lost: ["nowhere"], __proto__x: [] }));
    expect([...nodes.keys()].sort()).toEqual(["__proto__x", "a", "b", "lost", "self"]);
    expect(edges.map(({ source, target }) => `${source}>${target}`).sort()).toEqual(["a>b", "b>a", "self>self"]);
    expect(overlaps([...nodes.values()])).toEqual([]);
  });

  it("has no size without nodes", () => {
    expect(layoutGraph({})).toMatchObject({ width: 0, height: 0, edges: [] });
  });

  it("draws five thousand nodes in a chain, and folds five thousand loose ones into columns", () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `n${index}`);
    const chain = layoutGraph(graphOf(Object.fromEntries(ids.map((id, index) => [id, index === 0 ? [] : [ids[index - 1] ?? ""]]))));
    expect(chain.nodes.size).toBe(5000);
    expect(chain.height).toBe(nodeSize.height);
    const loose = layoutGraph(graphOf(Object.fromEntries(ids.map((id) => [id, []]))));
    expect(overlaps([...loose.nodes.values()])).toEqual([]);
    expect(loose.height).toBeLessThan(loose.width);
  });
});
