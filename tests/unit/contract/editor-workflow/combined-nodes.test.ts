// Files that combine several rules of a node's values, inputs and ids.
// Each expectation was derived from the rules before the file was converted.
import { test } from "vitest";
import { createDefinitions, expectReadAs, type Nodes, SUBGRAPH_A } from "./combined-files";
import { createEditorFile, createSubgraph } from "./editor-files";

test.for<[string, object | string, Nodes]>([
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
    "a renamed widget input and two inputs with the same name",
    {
      nodes: [
        { id: 1, type: "Source" },
        { id: 2, type: "Blur", inputs: [{ name: "Größe", widget: { name: "radius" }, link: 1 }], widgets_values: [4] },
        {
          id: 3,
          type: "Sink",
          inputs: [
            { name: "images", link: null },
            { name: "images", link: 2 },
          ],
        },
      ],
      links: [
        [1, 1, 2, 2, 0, "INT"],
        [2, 1, 1, 3, 1, "IMAGE"],
      ],
    },
    { "1": ["Source", {}], "2": ["Blur", { radius: ["1", 2] }], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "integers beyond 2^53 from a primitive and inside a subgraph",
    JSON.stringify({
      ...createEditorFile([
        { id: 1, type: "PrimitiveNode", values: ["BIG", "fixed"] },
        { id: 2, type: "Stepped", in: { seed: [1, 0, "INT", true] }, values: [64, 8, 1, 0, 5, "fixed"] },
        { id: 4, type: SUBGRAPH_A },
      ]),
      ...createDefinitions(
        createSubgraph(SUBGRAPH_A, [{ id: 30, type: "Seeded", in: { seed: [-10, 0, "INT", true] }, values: ["BIG", false, 3] }], {
          inputs: ["seed"],
        }),
      ),
    }).replaceAll('"BIG"', "18446744073709551615"),
    {
      "2": ["Stepped", { width: 64, cfg: 8, strength: 1, fine: 0, seed: 18446744073709551615n }],
      "4:30": ["Seeded", { seed: 18446744073709551615n, steps: 3 }],
    },
  ],
  [
    "nested lists, an object and an already wrapped list",
    createEditorFile([
      { id: 1, type: "Coloured", values: ["#fff", [[0, [1]], { x: 1 }], { __value__: [["1", 0]] }] },
      { id: 2, type: "Coloured", values: ["", [], []] },
    ]),
    {
      "1": [
        "Coloured",
        { color: "#fff", curve: { __type__: "CURVE", __value__: [[0, [1]], { x: 1 }] }, points: { __value__: [["1", 0]] } },
      ],
      "2": ["Coloured", { color: "", curve: [], points: [] }],
    },
  ],
])("converts %s", ([, file, expected]) => expectReadAs(file, expected));
