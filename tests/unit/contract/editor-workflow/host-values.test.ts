// Values that a subgraph node stores for inner widgets, by the newest editor's rules.
import { expect, test } from "vitest";
import { blur, convert, definition, INNER, net, type NodeSpec, OUTER, using } from "./editor-files";

const host = (overrides: Partial<NodeSpec>) => convert(using(overrides)).graph["2:5"]?.inputs.radius;
const quarantineEntry = (id: string, name: string, hostValue?: unknown) => ({
  originalEntry: [id, name],
  reason: "missingSourceNode",
  hostValue,
  attemptedAtVersion: 1,
});

test.for<[string, Partial<NodeSpec>, unknown]>([
  ["its only place", { values: [31] }, 31],
  ["nothing at its place", { values: [null] }, 6],
  ["no place", { values: [] }, 6],
  ["an object by name", { values: { radius: 31 } }, 31],
  ["an object without the name", { values: { image: 31 } }, 6],
  [
    "the place of the input in a list of what is shown",
    {
      values: [null, 31],
      properties: {
        proxyWidgets: [
          ["5", "x"],
          ["-1", "radius"],
        ],
      },
    },
    31,
  ],
  [
    "the place of the inner widget in that list",
    {
      values: [null, 31],
      properties: {
        proxyWidgets: [
          ["-1", "radius"],
          ["5", "radius"],
        ],
      },
    },
    31,
  ],
  ["that list as a text", { values: [31], properties: { proxyWidgets: '[["-1", "radius"]]' } }, 31],
  ["a list of other widgets", { values: [31], properties: { proxyWidgets: [["9", "radius"]] } }, 6],
  ["a value kept by name", { values: [1], properties: { proxyWidgetErrorQuarantine: [quarantineEntry("-1", "radius", 31)] } }, 31],
  [
    "a kept value beside a place that shows it",
    {
      values: [1],
      properties: {
        proxyWidgets: [["-1", "radius"]],
        proxyWidgetErrorQuarantine: [quarantineEntry("-1", "radius", 31), quarantineEntry("-1", "radius", 9)],
      },
    },
    31,
  ],
  [
    "kept values of others",
    {
      values: [31],
      properties: {
        proxyWidgetErrorQuarantine: [quarantineEntry("5", "radius", 7), quarantineEntry("-1", "image", 8), quarantineEntry("-1", "radius")],
      },
    },
    31,
  ],
])("sends a subgraph use's values in %s", ([, more, expected]) => {
  expect(host(more)).toBe(expected);
});

const inside = (nodes: NodeSpec[], inputs: string[]) => definition(INNER, nodes, { inputs });

test("applies a use's named values in any slot order", () => {
  const stepped = {
    id: 5,
    type: "Stepped",
    in: { width: [-10, 0, "INT", true], seed: [-10, 1, "INT", true] },
    values: [512, 8, 0, 0, 384],
  };
  const use = (id: number, width: number, seed: number): NodeSpec => ({
    id,
    type: INNER,
    values: [seed, width],
    properties: { proxyWidgetErrorQuarantine: [quarantineEntry("-1", "seed", seed), quarantineEntry("-1", "width", width)] },
  });
  const file = { ...net([use(2, 64, 48), use(3, 96, 72)]), definitions: { subgraphs: [inside([stepped], ["width", "seed"])] } };
  const { graph } = convert(file);
  expect([graph["2:5"]?.inputs, graph["3:5"]?.inputs]).toMatchObject([
    { width: 64, seed: 48 },
    { width: 96, seed: 72 },
  ]);
});

test("reads a value after each control_after_generate in a longer list", () => {
  const seeded = { id: 5, type: "Seeded", in: { seed: [-10, 0, "INT", true], steps: [-10, 1, "INT", true] }, values: [1, "fixed", 2] };
  const file = (values: unknown[]) => using({ in: {}, values }, [inside([seeded], ["seed", "steps"])]);
  expect(convert(file([11, "randomize", 22])).graph["2:5"]?.inputs).toEqual({ seed: 11, steps: 22 });
  expect(convert(file([11, 22])).graph["2:5"]?.inputs).toEqual({ seed: 11, steps: 22 });
});

test("applies a use's values to hidden inner widgets, also nested", () => {
  const properties = {
    proxyWidgets: [
      ["9", "steps"],
      ["7", "radius"],
    ],
  };
  const outer = definition(OUTER, [
    { id: 9, type: "Seeded", values: [1, "fixed", 2] },
    { id: 7, type: INNER, values: [] },
  ]);
  const { graph } = convert(using({ type: OUTER, in: {}, values: [33, 44], properties }, [blur, outer]));
  expect([graph["2:9"]?.inputs, graph["2:7:5"]?.inputs]).toEqual([{ seed: 1, steps: 33 }, { radius: 44 }]);
});
