// Files that were recorded from the editor with the graphs that it sends for them, and files that combine several of the editor's rules.
// The expectations of combined files were derived from the rules before the files were converted.
import { expect, test } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { createDefinitions, expectReadAs, type Nodes } from "./combined-files";
import { blurSubgraph, createEditorFile, createSubgraph, INNER_ID, OUTER_ID, pairInfo, pairNames, readFixture } from "./editor-files";
import { toComparable } from "./to-comparable";

test.for(pairNames)("converts %s to the graph that the editor sends", (name) => {
  const file = readFixture(`${name}.editor.json`);
  const { graph } = toApiWorkflow(file, pairInfo);
  expect(toComparable(graph, pairInfo)).toEqual(toComparable(readFixture(`${name}.api.json`), pairInfo));
  expect(readMatchingDrawing(file, graph)).toBeDefined();
});

test.for<[string, object, Nodes]>([
  [
    "string ids, mixed link formats and named values in one file",
    {
      nodes: [
        { id: "1", type: "Source", mode: 1 },
        { id: 7, type: "Blur", mode: 3, inputs: [{ name: "image", link: "5" }], widgets_values: { radius: 8 } },
        {
          id: "x 寸",
          type: "Sink",
          inputs: [
            { name: "also", link: 6 },
            { name: "images", link: 5 },
          ],
        },
      ],
      links: [["5", "1", "1", 7, 0, "IMAGE"], { id: 6, origin_id: "7", origin_slot: 1, target_id: "x 寸", target_slot: 9, type: -1 }],
    },
    { "1": ["Source", {}], "7": ["Blur", { image: ["1", 1], radius: 8 }], "x 寸": ["Sink", { also: ["7", 1], images: ["1", 1] }] },
  ],
  [
    "an autogrow list with gaps where the second link leads to a muted node",
    createEditorFile([
      { id: 1, type: "Source" },
      { id: 2, type: "Source", mode: 2 },
      {
        id: 3,
        type: "Grown",
        in: {
          "images.image0": [1, 0],
          "images.image1": [2, 0],
          "images.image2": [1, 1],
          "images.image3": undefined,
          size: [1, 2, "INT", true],
        },
        values: [7],
      },
    ]),
    { "1": ["Source", {}], "3": ["Grown", { "images.image0": ["1", 0], "images.image2": ["1", 1], size: ["1", 2] }] },
  ],
  [
    "a bypassed autogrow node by its first input of the type",
    createEditorFile([
      { id: 1, type: "Source" },
      { id: 3, type: "Grown", mode: 4, in: { "images.image0": undefined, "images.image1": [1, 1] }, values: [7] },
      { id: 4, type: "Sink", in: { images: [3, 0] } },
    ]),
    // The first input matches the type but is empty, so no other input is tried.
    { "1": ["Source", {}], "4": ["Sink", {}] },
  ],
  [
    "a nested dynamic choice with a control, a socket and missing values",
    createEditorFile([
      { id: 1, type: "Source" },
      { id: 2, type: "Nested", in: { "method.image": [1, 1] }, values: ["deep", "x", 5, "randomize", "a text"] },
      { id: 3, type: "Nested", values: ["plain", 4, "extra", null] },
      { id: 4, type: "Nested", values: ["unknown", 4] },
    ]),
    {
      "1": ["Source", {}],
      "2": [
        "Nested",
        { method: "deep", "method.kind": "x", "method.kind.n": 5, "method.label": "a text", "method.image": ["1", 1], last: 0 },
      ],
      "3": ["Nested", { method: "plain", last: 4 }],
      "4": ["Nested", { method: "unknown", last: 4 }],
    },
  ],
  [
    "an uploaded image with a subfolder, an optional value and an upload button",
    createEditorFile([
      { id: 1, type: "Uploading", values: ["sub dir/größe.png [output]", "green", 0.5, "image"] },
      { id: 2, type: "Uploading", values: [null, null, null] },
      { id: 3, type: "Uploading", values: ["", "green"] },
    ]),
    {
      "1": ["Uploading", { image: "sub dir/größe.png [output]", channel: "green", more: 0.5 }],
      "2": ["Uploading", { image: "a.png", channel: "red", more: 0 }],
      "3": ["Uploading", { image: "", channel: "green", more: 0 }],
    },
  ],
  [
    "number choices, a number as a string and a list as a choice",
    createEditorFile([
      { id: 1, type: "Numbered", values: [128, 2] },
      { id: 2, type: "Numbered", values: ["128", ["1", 0]] },
    ]),
    { "1": ["Numbered", { size: 128, count: 2 }], "2": ["Numbered", { size: "128", count: { __value__: ["1", 0] } }] },
  ],
  [
    "hidden inputs without values and a string with special characters",
    createEditorFile([
      { id: 1, type: "Hidden", values: ["", 3, true] },
      { id: 2, type: "Hidden", values: ["a // {b|c} \\\\\n寸\u0000", 3, false] },
    ]),
    { "1": ["Hidden", { text: "", seed: 3 }], "2": ["Hidden", { text: "a // {b|c} \\\\\n寸\u0000", seed: 3 }] },
  ],
  [
    "an input with several types as a socket unless the class sets a widget",
    createEditorFile([
      { id: 1, type: "Mixed", values: [1.5, 7] },
      { id: 2, type: "Mixed", mode: 4, in: { amount: [1, 0, "INT"] }, values: [1, 2] },
      { id: 3, type: "Blur", in: { radius: [2, 0, "INT", true] }, values: [4] },
    ]),
    { "1": ["Mixed", { typed: 1.5, last: 7 }], "3": ["Blur", { radius: ["1", 0] }] },
  ],
  [
    "a match-type socket by its allowed types when the file has no type",
    createEditorFile([
      { id: 1, type: "Latent" },
      { id: 2, type: "Decode", mode: 4, in: { samples: [1, 0, "LATENT"] } },
      { id: 3, type: "Resize", in: { input: [2, 0, "*"] } },
    ]),
    // A latent doesn't match "IMAGE,MASK".
    { "1": ["Latent", {}], "3": ["Resize", {}] },
  ],
  [
    "a bypassed switch by its first input, whatever its value",
    createEditorFile([
      { id: 1, type: "Source" },
      { id: 2, type: "Switch", mode: 4, in: { no: [1, 1], yes: [1, 0] }, values: [true], outputs: [{ name: "out", type: "IMAGE" }] },
      { id: 3, type: "Sink", in: { images: [2, 0] } },
    ]),
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "an exposed widget to its own value when the outer link is muted",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: INNER_ID, in: { image: [1, 1], radius: [4, 2, "INT", true] }, values: [] },
        { id: 4, type: "Source", mode: 2 },
      ]),
      ...createDefinitions(blurSubgraph),
    },
    { "1": ["Source", {}], "2:5": ["Blur", { image: ["1", 1], radius: 6 }] },
  ],
  [
    "two chained uses of a subgraph and a muted third use",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: INNER_ID, in: { image: [1, 0] }, values: [] },
        { id: 4, type: INNER_ID, in: { image: [2, 0] }, values: [] },
        { id: 6, type: INNER_ID, mode: 2, in: { image: [4, 0] } },
        { id: 3, type: "Sink", in: { images: [4, 0], also: [6, 0] } },
      ]),
      ...createDefinitions(blurSubgraph),
    },
    {
      "1": ["Source", {}],
      "2:5": ["Blur", { image: ["1", 0], radius: 6 }],
      "4:5": ["Blur", { image: ["2:5", 0], radius: 6 }],
      "3": ["Sink", { images: ["4:5", 0] }],
    },
  ],
  [
    "nested subgraphs with a bypassed inner node and a bypassed reroute",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 5, type: "Reroute", mode: 4, in: { "": [1, 1, "*"] } },
        { id: 2, type: OUTER_ID, in: { image: [5, 0] } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
      ...createDefinitions(
        createSubgraph(INNER_ID, [{ id: 30, type: "Blur", mode: 4, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[30, 0]] }),
        createSubgraph(OUTER_ID, [{ id: 20, type: INNER_ID, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[20, 0]] }),
      ),
    },
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "a nested subgraph whose output is its input",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: OUTER_ID, in: { image: [1, 1] } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
      ...createDefinitions(
        createSubgraph(INNER_ID, [], { inputs: ["image"], outputs: [[-10, 0]] }),
        createSubgraph(OUTER_ID, [{ id: 20, type: INNER_ID, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[20, 0]] }),
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
        { id: 2, type: INNER_ID, in: { image: [1, 0] } },
        { id: 4, type: INNER_ID, in: { image: [1, 1], radius: [1, 2, "INT", true] } },
      ]),
      ...createDefinitions(
        createSubgraph(
          INNER_ID,
          [
            { id: 40, type: "Reroute", in: { "": [-10, 0, "*"] } },
            { id: 41, type: "Reroute", in: { "": [-10, 1, "*"] } },
            { id: 30, type: "Blur", in: { image: [40, 0], radius: [41, 0, "INT", true] }, values: [6] },
          ],
          { inputs: ["image", "radius"] },
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
    "subgraph outputs from a muted node, a bypassed node and a missing slot",
    {
      ...createEditorFile([
        { id: 1, type: "Source" },
        { id: 2, type: INNER_ID, in: { image: [1, 1] } },
        { id: 3, type: "Sink", in: { images: [2, 1], also: [2, 0], any: [2, 2, "*"] } },
      ]),
      ...createDefinitions(
        createSubgraph(
          INNER_ID,
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
