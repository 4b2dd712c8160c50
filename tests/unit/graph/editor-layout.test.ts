// The layout of an editor file: as the editor has it, one subgraph at a time.
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { boxOf, layoutEditorFile, namesOf } from "@/components/graph/editor-layout";
import { edgesPath } from "@/components/graph/graph-layout";
import { isEditorFile, readEditorFile } from "@/lib/contract/editor-workflow/file";
import { type JsonObject } from "@/lib/contract/json/json";

const read = (file: unknown) => (isEditorFile(file) ? readEditorFile(file) : expect.fail("no file of the editor"));
const pair = (name: string) => read(JSON.parse(readFileSync(`tests/fixtures/editor-pairs/${name}.editor.json`, "utf8")));
const one = (node: JsonObject, more: JsonObject = {}) => layoutEditorFile(read({ nodes: [{ id: 1, type: "X", ...node }], ...more }), []);

test("nodes stand where the editor has them, as large, with their heads above; notes and groups among them", () => {
  const { nodes, groups, edges } = layoutEditorFile(pair("11-notes-and-groups"), []);
  const all = [...nodes.values()];
  expect(all.map(({ look }) => look?.kind).sort()).toEqual(["node", "node", "note", "note"]);
  expect(groups?.length).toBeGreaterThan(0);
  expect(edges).toHaveLength(1);
  const drawn = one(
    { pos: [100, 200], size: { "0": 300, "1": 90 }, bgcolor: "#335" },
    { groups: [{ title: "All", bounding: [90, 100, 500, 300], color: "#A88" }] },
  );
  expect(drawn.nodes.get("1")).toMatchObject({ x: 10, y: 70, width: 300, height: 120, look: { color: "#335" } });
  expect(drawn.groups).toEqual([{ title: "All", x: 0, y: 0, width: 500, height: 300, color: "#A88" }]);
  expect({ width: drawn.width, height: drawn.height }).toEqual({ width: 500, height: 300 });
});

test("a muted node, a bypassed one, a collapsed one and a colour that is none look like it", () => {
  expect(one({ mode: 2 }).nodes.get("1")?.look?.mode).toBe("muted");
  expect(one({ mode: 4 }).nodes.get("1")?.look?.mode).toBe("bypassed");
  expect(one({ size: [300, 400], flags: { collapsed: true } }).nodes.get("1")).toMatchObject({ width: 160, height: 30 });
  expect(one({ color: "red;background:url(//x)", bgcolor: {} }).nodes.get("1")?.look?.color).toBeUndefined();
});

test("a node that is on and not in the graph is left out; one that no graph has is not", () => {
  const file = read({
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

test("a subgraph is one box, and inside it nodes go by their ids in the graph", () => {
  const file = pair("20-subgraph-linked-widget");
  expect(layoutEditorFile(file, []).nodes.get("5")?.look).toMatchObject({ kind: "subgraph", title: "New Subgraph" });
  const inner = layoutEditorFile(file, ["5"]);
  expect([...inner.nodes.keys()]).toEqual(["5:2", "5:3"]);
  expect(inner.edges.map(({ source, target }) => [source, target])).toEqual([["5:2", "5:3"]]);
  expect(boxOf(file, "5:3")).toEqual({ inside: ["5"], id: "5:3" });
  expect(boxOf(file, "5:99")).toEqual({ inside: [], id: "5" });
  expect(boxOf(file, "99")).toBeUndefined();
  expect(namesOf(file, ["5"])).toEqual(["New Subgraph"]);
});

test("whatever is given as a place or a size, everything has a finite one", () => {
  const odd = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom<unknown>(1e300, -1e300, [NaN, 1], [1e308, -1e308], { "0": "x" }));
  fc.assert(
    fc.property(odd, odd, odd, odd, (pos, size, flags, bounding) => {
      const layout = one(
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

test("very many groups, and an id of very many parts, are drawn up to a bound", () => {
  const groups = Array.from({ length: 300_000 }, (_, at) => ({ bounding: [at, 5, 10, 10] }));
  const drawn = one({ pos: [100, 200] }, { groups });
  expect(drawn.groups).toHaveLength(1_000);
  expect(drawn.nodes.get("1")).toMatchObject({ x: 100, y: 165 });
  expect(boxOf(read({ nodes: [{ id: 1, type: "X" }] }), `1${":1".repeat(1_000_000)}`)).toEqual({ inside: [], id: "1" });
});
