// Files that combine several rules of subgraphs, group nodes, modes and primitives.
// Each expectation was derived from the rules before the file was converted.
import { test } from "vitest";
import {
  createBlur,
  createDefinitions,
  createOuterFile,
  createSubgraphNode,
  expectReadAs,
  nestedSubgraphs,
  type Nodes,
  SUBGRAPH_A,
  SUBGRAPH_B,
  SUBGRAPH_C,
  subgraphInputs,
  wrapInSubgraph,
} from "./combined-files";
import { createEditorFile, createSubgraph } from "./editor-files";

test.for<[string, object | string, Nodes]>([
  [
    "a widget exposed through three nested subgraphs and linked outside",
    { ...createOuterFile({ in: { image: [1, 1], radius: [1, 2, "INT", true] } }), ...createDefinitions(...nestedSubgraphs) },
    { "1": ["Source", {}], "2:10:20:30": ["Blur", { image: ["1", 1], radius: ["1", 2] }], "3": ["Sink", { images: ["2:10:20:30", 0] }] },
  ],
  [
    "an exposed widget to its own value when the outer link is muted",
    {
      ...createOuterFile({ in: { image: [1, 1], radius: [4, 2, "INT", true] } }, [{ id: 4, type: "Source", mode: 2 }]),
      ...createDefinitions(...nestedSubgraphs),
    },
    { "1": ["Source", {}], "2:10:20:30": ["Blur", { image: ["1", 1], radius: 6 }], "3": ["Sink", { images: ["2:10:20:30", 0] }] },
  ],
  [
    "three nested subgraphs with a bypassed inner node and a bypassed reroute",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 5, type: "Reroute", mode: 4, in: { "": [1, 1, "*"] } },
        { id: 2, type: SUBGRAPH_C, in: { image: [5, 0] } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
      ...createDefinitions(
        wrapInSubgraph(SUBGRAPH_A, createBlur(30, { mode: 4 })),
        wrapInSubgraph(SUBGRAPH_B, createSubgraphNode(20, SUBGRAPH_A)),
        wrapInSubgraph(SUBGRAPH_C, createSubgraphNode(10, SUBGRAPH_B)),
      ),
    },
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "a bypassed outer subgraph with only its second input linked",
    { ...createOuterFile({ mode: 4, in: { radius: [1, 2, "INT", true] } }), ...createDefinitions(...nestedSubgraphs) },
    { "1": ["Source", {}], "3": ["Sink", {}] },
  ],
  [
    "two chained uses of a subgraph and a muted third use",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: SUBGRAPH_A, in: { image: [1, 0] }, values: [] },
        { id: 4, type: SUBGRAPH_A, in: { image: [2, 0] }, values: [] },
        { id: 5, type: SUBGRAPH_A, mode: 2, in: { image: [4, 0] } },
        { id: 3, type: "Sink", in: { images: [4, 0], also: [5, 0] } },
      ]),
      ...createDefinitions(nestedSubgraphs[0] ?? {}),
    },
    {
      "1": ["Source", {}],
      "2:30": ["Blur", { image: ["1", 0], radius: 6 }],
      "4:30": ["Blur", { image: ["2:30", 0], radius: 6 }],
      "3": ["Sink", { images: ["4:30", 0] }],
    },
  ],
  [
    "a primitive linked to two subgraph uses and a node with a control",
    {
      ...createEditorFile([
        { id: 1, type: "PrimitiveNode", values: [9, "increment"], mode: 4 },
        { id: 2, type: SUBGRAPH_A, in: { radius: [1, 0, "INT", true] } },
        { id: 4, type: SUBGRAPH_A, in: { radius: [1, 0, "INT", true] } },
        { id: 5, type: "Seeded", in: { steps: [1, 0, "INT", true] }, values: [3, "control_before", 44] },
      ]),
      ...createDefinitions(nestedSubgraphs[0] ?? {}),
    },
    { "2:30": ["Blur", { radius: 9 }], "4:30": ["Blur", { radius: 9 }], "5": ["Seeded", { seed: 3, steps: 9 }] },
  ],
  [
    "a nested subgraph whose output is its input",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: SUBGRAPH_B, in: { image: [1, 1] } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
      ...createDefinitions(
        { ...createSubgraph(SUBGRAPH_A, [], { inputs: ["image"], outputs: [[-10, 0]] }) },
        createSubgraph(SUBGRAPH_B, [{ id: 20, type: SUBGRAPH_A, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[20, 0]] }),
      ),
    },
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "a group node with a bypassed member behind a reroute",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 5, type: "Reroute", in: { "": [1, 1, "*"] } },
        { id: 8, type: "workflow>g", in: { image: [5, 0] }, values: [11, 22] },
        { id: 3, type: "Sink", in: { images: [8, 0] } },
      ]),
      extra: {
        groupNodes: {
          g: {
            nodes: [
              { index: 0, type: "Blur", mode: 4, inputs: [{ name: "image", type: "IMAGE" }], widgets_values: [3] },
              { index: 1, type: "Blur", inputs: [{ name: "mask" }, { name: "image", type: "IMAGE" }], widgets_values: [4] },
            ],
            links: [[0, 0, 1, 1, 1, "IMAGE"]],
            external: [],
          },
        },
      },
    },
    // The first visible output is the bypassed blur's second output.
    { "1": ["Source", {}], "8:1": ["Blur", { image: ["1", 1], radius: 22 }], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "a widget exposed through inner reroutes with and without an outer link",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: SUBGRAPH_A, in: { image: [1, 0] } },
        { id: 4, type: SUBGRAPH_A, in: { image: [1, 1], radius: [1, 2, "INT", true] } },
      ]),
      ...createDefinitions(
        createSubgraph(
          SUBGRAPH_A,
          [
            { id: 40, type: "Reroute", in: { "": [-10, 0, "*"] } },
            { id: 41, type: "Reroute", in: { "": [-10, 1, "*"] } },
            { id: 30, type: "Blur", in: { image: [40, 0], radius: [41, 0, "INT", true] }, values: [6] },
          ],
          subgraphInputs,
        ),
      ),
    },
    {
      "1": ["Source", {}],
      "2:30": ["Blur", { image: ["1", 0], radius: 6 }],
      "4:30": ["Blur", { image: ["1", 1], radius: ["1", 2] }],
    },
  ],
  [
    "older subgraph uses with values in proxyWidgets order, one of them null",
    {
      ...createEditorFile([
        {
          id: 2,
          type: SUBGRAPH_A,
          properties: {
            proxyWidgets: [
              ["30", "text"],
              ["-1", "radius"],
            ],
          },
          values: [null, 31],
        },
        {
          id: 4,
          type: SUBGRAPH_A,
          properties: {
            proxyWidgets: [
              ["-1", "radius"],
              ["30", "radius"],
            ],
          },
          values: [null, 32],
        },
      ]),
      ...createDefinitions(nestedSubgraphs[0] ?? {}),
    },
    { "2:30": ["Blur", { radius: 31 }], "4:30": ["Blur", { radius: 32 }] },
  ],
  [
    "subgraph outputs from a muted node, a bypassed node and a missing slot",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: SUBGRAPH_A, in: { image: [1, 1] } },
        { id: 3, type: "Sink", in: { images: [2, 1], also: [2, 0], any: [2, 2, "*"] } },
      ]),
      ...createDefinitions(
        createSubgraph(
          SUBGRAPH_A,
          [
            { id: 30, type: "Source", mode: 2 },
            { id: 31, type: "Blur", mode: 4, in: { mask: undefined, image: [-10, 0], more: [30, 0] } },
          ],
          {
            inputs: ["image"],
            outputs: [
              [30, 0],
              [31, 1],
            ],
          },
        ),
      ),
    },
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
])("converts %s", ([, file, expected]) => expectReadAs(file, expected));
