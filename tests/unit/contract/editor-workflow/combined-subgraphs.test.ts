// Files that combine several rules of subgraphs, group nodes, modes and primitives.
// Each expectation was derived from the rules before the file was converted.
import { test } from "vitest";
import { A, B, blur, C, ends, expectReadAs, type Nodes, outside, subgraphs, three, use, wrapped } from "./combined-files";
import { definition, net } from "./editor-files";

test.for<[string, object | string, Nodes]>([
  [
    "three subgraphs deep, a widget handed out of all of them and linked outside",
    { ...outside({ in: { image: [1, 1], radius: [1, 2, "INT", true] } }), ...subgraphs(...three) },
    { "1": ["Source", {}], "2:10:20:30": ["Blur", { image: ["1", 1], radius: ["1", 2] }], "3": ["Sink", { images: ["2:10:20:30", 0] }] },
  ],
  [
    "three deep, linked outside to a node that is muted: the innermost widget's own value",
    { ...outside({ in: { image: [1, 1], radius: [4, 2, "INT", true] } }, [{ id: 4, type: "Source", mode: 2 }]), ...subgraphs(...three) },
    { "1": ["Source", {}], "2:10:20:30": ["Blur", { image: ["1", 1], radius: 6 }], "3": ["Sink", { images: ["2:10:20:30", 0] }] },
  ],
  [
    "three deep, the innermost bypassed, and a reroute outside that is bypassed too",
    {
      ...net([
        { id: 1, type: "Source" },
        { id: 5, type: "Reroute", mode: 4, in: { "": [1, 1, "*"] } },
        { id: 2, type: C, in: { image: [5, 0] } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
      ...subgraphs(wrapped(A, blur(30, { mode: 4 })), wrapped(B, use(20, A)), wrapped(C, use(10, B))),
    },
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "the outermost of three bypassed, with its second input linked alone",
    { ...outside({ mode: 4, in: { radius: [1, 2, "INT", true] } }), ...subgraphs(...three) },
    { "1": ["Source", {}], "3": ["Sink", {}] },
  ],
  [
    "two uses of one subgraph in a row, one inside of which is muted outside",
    {
      ...net([
        { id: 1, type: "Source" },
        { id: 2, type: A, in: { image: [1, 0] }, values: [] },
        { id: 4, type: A, in: { image: [2, 0] }, values: [] },
        { id: 5, type: A, mode: 2, in: { image: [4, 0] } },
        { id: 3, type: "Sink", in: { images: [4, 0], also: [5, 0] } },
      ]),
      ...subgraphs(three[0] ?? {}),
    },
    {
      "1": ["Source", {}],
      "2:30": ["Blur", { image: ["1", 0], radius: 6 }],
      "4:30": ["Blur", { image: ["2:30", 0], radius: 6 }],
      "3": ["Sink", { images: ["4:30", 0] }],
    },
  ],
  [
    "a primitive outside that leads into two uses and a node, with its control before or behind",
    {
      ...net([
        { id: 1, type: "PrimitiveNode", values: [9, "increment"], mode: 4 },
        { id: 2, type: A, in: { radius: [1, 0, "INT", true] } },
        { id: 4, type: A, in: { radius: [1, 0, "INT", true] } },
        { id: 5, type: "Seeded", in: { steps: [1, 0, "INT", true] }, values: [3, "control_before", 44] },
      ]),
      ...subgraphs(three[0] ?? {}),
    },
    { "2:30": ["Blur", { radius: 9 }], "4:30": ["Blur", { radius: 9 }], "5": ["Seeded", { seed: 3, steps: 9 }] },
  ],
  [
    "a subgraph whose output is its input, with another around it",
    {
      ...net([
        { id: 1, type: "Source" },
        { id: 2, type: B, in: { image: [1, 1] } },
        { id: 3, type: "Sink", in: { images: [2, 0] } },
      ]),
      ...subgraphs(
        { ...definition(A, [], { inputs: ["image"], outputs: [[-10, 0]] }) },
        definition(B, [{ id: 20, type: A, in: { image: [-10, 0] } }], { inputs: ["image"], outputs: [[20, 0]] }),
      ),
    },
    { "1": ["Source", {}], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "a group node inside of which one member is muted and one is bypassed, fed from a reroute",
    {
      ...net([
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
    // The first of the visible outputs is the bypassed blur's second.
    { "1": ["Source", {}], "8:1": ["Blur", { image: ["1", 1], radius: 22 }], "3": ["Sink", { images: ["1", 1] }] },
  ],
  [
    "a widget handed out over a reroute inside is its own until something is linked outside",
    {
      ...net([
        { id: 1, type: "Source" },
        { id: 2, type: A, in: { image: [1, 0] } },
        { id: 4, type: A, in: { image: [1, 1], radius: [1, 2, "INT", true] } },
      ]),
      ...subgraphs(
        definition(
          A,
          [
            { id: 40, type: "Reroute", in: { "": [-10, 0, "*"] } },
            { id: 41, type: "Reroute", in: { "": [-10, 1, "*"] } },
            { id: 30, type: "Blur", in: { image: [40, 0], radius: [41, 0, "INT", true] }, values: [6] },
          ],
          ends,
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
    "older uses keep values of their own at the places of what they show, one of them nothing",
    {
      ...net([
        {
          id: 2,
          type: A,
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
          type: A,
          properties: {
            proxyWidgets: [
              ["-1", "radius"],
              ["30", "radius"],
            ],
          },
          values: [null, 32],
        },
      ]),
      ...subgraphs(three[0] ?? {}),
    },
    { "2:30": ["Blur", { radius: 31 }], "4:30": ["Blur", { radius: 32 }] },
  ],
  [
    "outputs of a subgraph from a muted node, from one bypassed by its second place, and from nothing",
    {
      ...net([
        { id: 1, type: "Source" },
        { id: 2, type: A, in: { image: [1, 1] } },
        { id: 3, type: "Sink", in: { images: [2, 1], also: [2, 0], any: [2, 2, "*"] } },
      ]),
      ...subgraphs(
        definition(
          A,
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
])("%s", ([, file, expected]) => expectReadAs(file, expected));
