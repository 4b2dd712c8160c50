// Values that a subgraph node stores for inner widgets, by the rules of the newest editor.
import { expect, test } from "vitest";
import {
  blurSubgraph,
  convert,
  createEditorFile,
  createFileWithSubgraph,
  createSubgraph,
  INNER_ID,
  type NodeSpec,
  OUTER_ID,
} from "./editor-files";

const getInnerRadius = (overrides: Partial<NodeSpec>) => convert(createFileWithSubgraph(overrides)).graph["2:5"]?.inputs.radius;
const createQuarantineEntry = (id: string, name: string, hostValue?: unknown) => ({
  originalEntry: [id, name],
  reason: "missingSourceNode",
  hostValue,
  attemptedAtVersion: 1,
});

test.for<[string, Partial<NodeSpec>, unknown]>([
  ["a single positional value", { values: [31] }, 31],
  ["a null value", { values: [null] }, 6],
  ["a named value", { values: { radius: 31 } }, 31],
  ["named values of other inputs", { values: { image: 31 } }, 6],
  [
    "proxyWidgets that list the input",
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
    "proxyWidgets that list the inner widget",
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
  ["proxyWidgets as a JSON string", { values: [31], properties: { proxyWidgets: '[["-1", "radius"]]' } }, 31],
  ["proxyWidgets that list other widgets", { values: [31], properties: { proxyWidgets: [["9", "radius"]] } }, 6],
  ["a quarantined value", { values: [1], properties: { proxyWidgetErrorQuarantine: [createQuarantineEntry("-1", "radius", 31)] } }, 31],
  [
    "a quarantined value and a proxyWidgets entry",
    {
      values: [1],
      properties: {
        proxyWidgets: [["-1", "radius"]],
        proxyWidgetErrorQuarantine: [createQuarantineEntry("-1", "radius", 31), createQuarantineEntry("-1", "radius", 9)],
      },
    },
    31,
  ],
  [
    "quarantined values of other widgets",
    {
      values: [31],
      properties: {
        proxyWidgetErrorQuarantine: [
          createQuarantineEntry("5", "radius", 7),
          createQuarantineEntry("-1", "image", 8),
          createQuarantineEntry("-1", "radius"),
        ],
      },
    },
    31,
  ],
])("resolves a subgraph node's value with %s", ([, overrides, expected]) => {
  expect(getInnerRadius(overrides)).toBe(expected);
});

const createInnerSubgraph = (nodes: NodeSpec[], inputs: string[]) => createSubgraph(INNER_ID, nodes, { inputs });

test("applies a subgraph node's named values in any slot order", () => {
  const stepped = {
    id: 5,
    type: "Stepped",
    in: { width: [-10, 0, "INT", true], seed: [-10, 1, "INT", true] },
    values: [512, 8, 0, 0, 384],
  };
  const createUse = (id: number, width: number, seed: number): NodeSpec => ({
    id,
    type: INNER_ID,
    values: [seed, width],
    properties: { proxyWidgetErrorQuarantine: [createQuarantineEntry("-1", "seed", seed), createQuarantineEntry("-1", "width", width)] },
  });
  const file = {
    ...createEditorFile([createUse(2, 64, 48), createUse(3, 96, 72)]),
    definitions: { subgraphs: [createInnerSubgraph([stepped], ["width", "seed"])] },
  };
  const { graph } = convert(file);
  expect([graph["2:5"]?.inputs, graph["3:5"]?.inputs]).toMatchObject([
    { width: 64, seed: 48 },
    { width: 96, seed: 72 },
  ]);
});

test("reads a value after each control_after_generate in a longer list", () => {
  const seeded = { id: 5, type: "Seeded", in: { seed: [-10, 0, "INT", true], steps: [-10, 1, "INT", true] }, values: [1, "fixed", 2] };
  const createFile = (values: unknown[]) => createFileWithSubgraph({ in: {}, values }, [createInnerSubgraph([seeded], ["seed", "steps"])]);
  expect(convert(createFile([11, "randomize", 22])).graph["2:5"]?.inputs).toEqual({ seed: 11, steps: 22 });
  expect(convert(createFile([11, 22])).graph["2:5"]?.inputs).toEqual({ seed: 11, steps: 22 });
});

test("applies a subgraph node's values to hidden inner widgets at any depth", () => {
  const properties = {
    proxyWidgets: [
      ["9", "steps"],
      ["7", "radius"],
    ],
  };
  const outer = createSubgraph(OUTER_ID, [
    { id: 9, type: "Seeded", values: [1, "fixed", 2] },
    { id: 7, type: INNER_ID, values: [] },
  ]);
  const { graph } = convert(createFileWithSubgraph({ type: OUTER_ID, in: {}, values: [33, 44], properties }, [blurSubgraph, outer]));
  expect([graph["2:9"]?.inputs, graph["2:7:5"]?.inputs]).toEqual([{ seed: 1, steps: 33 }, { radius: 44 }]);
});
