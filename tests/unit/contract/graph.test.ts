import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Graph } from "@/lib/contract/schemas/graph";
import { findCycle, findDanglingLinks, findSources, getLinks, isLink, listLinks, sortTopologically } from "@/lib/contract/workflow/graph";

/** `sources` maps a node id to the ids of its sources. */
function createGraph(sources: Record<string, string[]>): Graph {
  return Object.fromEntries(
    Object.entries(sources).map(([id, sourceIds]) => [
      id,
      { class_type: "X", inputs: Object.fromEntries(sourceIds.map((source, index) => [`in${index}`, [source, 0]])) },
    ]),
  );
}

const emptyNode = { class_type: "", inputs: {} };
const anyGraph = fc
  .array(fc.array(fc.nat(19), { maxLength: 4 }), { minLength: 1, maxLength: 20 })
  .map((rows) => createGraph(Object.fromEntries(rows.map((row, index) => [`n${index}`, row.map((source) => `n${source}`)]))));

describe("links", () => {
  it.each([[["4", 0]], [["12:3", 7]], [["", 0]]])("accepts %j as a link", (value) => {
    expect(isLink(value)).toBe(true);
  });

  it.each([[["4"]], [["4", 0, 0]], [[4, 0]], [["4", "0"]], [["4", 1.5]], [["4", -1]], ["4"], [null], [{ __value__: ["4", 0] }]])(
    "treats %j as a literal",
    (value) => {
      expect(isLink(value)).toBe(false);
    },
  );

  it("lists links with their input", () => {
    const node = { class_type: "X", inputs: { images: ["8", 1], text: "a cat", size: { __value__: ["8", 0] } } };
    expect(listLinks({ "9": node })).toEqual([{ nodeId: "9", input: "images", source: "8", output: 1 }]);
  });

  it("finds links to missing nodes with their source", () => {
    const graph = createGraph({ "1": ["9"], "2": ["1", "toString"] });
    expect(findDanglingLinks(graph).map((link) => [link.nodeId, link.source])).toEqual([
      ["1", "9"],
      ["2", "toString"],
    ]);
  });
});

it("sorts nodes by picking the first ready node until only loops remain", () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const visited = new Set<string>();
      const isReady = (id: string) =>
        !visited.has(id) && getLinks(graph[id] ?? emptyNode).every(({ source }) => visited.has(source) || !Object.hasOwn(graph, source));
      for (const id of sortTopologically(graph)) {
        expect(id).toBe(Object.keys(graph).find(isReady));
        visited.add(id);
      }
      expect(Object.keys(graph).find(isReady)).toBeUndefined();
    }),
  );
});

describe("finding a node's sources", () => {
  it("follows links through nodes, loops and dangling links", () => {
    const graph = createGraph({ "1": [], "2": ["1"], "3": ["2", "9"], "4": ["3"], "5": ["5", "1"] });
    expect([...findSources(graph, "3")].sort()).toEqual(["1", "2", "9"]);
    expect([...findSources(graph, "5")].sort()).toEqual(["1", "5"]);
    expect([...findSources(graph, "1")]).toEqual([]);
    expect([...findSources(graph, "toString")]).toEqual([]);
  });
});

describe("finding a loop", () => {
  it("returns ids that each link to the next, or undefined without a loop", () => {
    fc.assert(
      fc.property(anyGraph, (graph) => {
        const cycle = findCycle(graph);
        expect(cycle === undefined).toBe(sortTopologically(graph).length === Object.keys(graph).length);
        expect(new Set(cycle).size).toBe(cycle?.length ?? 0);
        cycle?.forEach((id, index, ids) => {
          const next = ids[(index + 1) % ids.length];
          expect(getLinks(graph[id] ?? emptyNode).map((link) => link.source)).toContain(next);
        });
      }),
    );
  });

  it("handles a chain of 5,000 nodes without overflowing the stack", () => {
    const chain = createGraph(
      Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`n${index}`, index === 4999 ? [] : [`n${index + 1}`]])),
    );
    expect(sortTopologically(chain)).toHaveLength(5000);
    expect(findCycle(chain)).toBeUndefined();
  });
});
