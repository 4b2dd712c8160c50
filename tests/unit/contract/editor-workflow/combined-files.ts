// Node classes and an assertion for files that combine several of the editor's rules.
import { expect } from "vitest";
import { toApiWorkflow } from "@/lib/contract/editor-workflow";
import { readMatchingDrawing } from "@/lib/contract/editor-workflow/drawing";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { info as baseInfo } from "./editor-files";
import { toComparable } from "./to-comparable";

const info = {
  ...baseInfo,
  ...objectInfoSchema.parse({
    Grown: {
      input: {
        required: {
          images: ["COMFY_AUTOGROW_V3", { template: { input: { required: { image: ["IMAGE", {}] } }, prefix: "image", min: 1, max: 5 } }],
          size: ["INT", { default: 3 }],
        },
      },
      output: ["IMAGE"],
    },
    Hidden: {
      input: { required: { text: ["STRING", {}], seed: ["INT", {}] }, hidden: { prompt: "PROMPT", unique_id: "UNIQUE_ID" } },
      output: ["STRING"],
    },
    Uploading: {
      input: { required: { image: [["a.png"], { image_upload: true }], channel: [["red", "green"]] }, optional: { more: ["FLOAT", {}] } },
      input_order: { required: ["image", "channel"], optional: ["more"] },
      output: ["IMAGE", "MASK"],
    },
    Numbered: { input: { required: { size: [[64, 128, 256], {}], count: ["COMBO", { options: ["1", "2"] }] } }, output: [] },
    Mixed: {
      input: { required: { amount: ["FLOAT,INT", {}], typed: ["INT,FLOAT", { widgetType: "FLOAT" }], last: ["INT", {}] } },
      output: ["INT"],
    },
    Nested: {
      input: {
        required: {
          method: [
            "COMFY_DYNAMICCOMBO_V3",
            {
              options: [
                { key: "plain", inputs: {} },
                {
                  key: "deep",
                  inputs: {
                    required: {
                      kind: [
                        "COMFY_DYNAMICCOMBO_V3",
                        { options: [{ key: "x", inputs: { required: { n: ["INT", { control_after_generate: true }] } } }] },
                      ],
                      label: ["STRING", {}],
                    },
                    optional: { image: ["IMAGE", {}] },
                  },
                },
              ],
            },
          ],
          last: ["INT", {}],
        },
      },
      output: ["IMAGE"],
    },
    Switch: {
      input: {
        required: { on: ["BOOLEAN", {}] },
        optional: {
          no: ["COMFY_MATCHTYPE_V3", { template: { template_id: "s", allowed_types: "*" } }],
          yes: ["COMFY_MATCHTYPE_V3", { template: { template_id: "s", allowed_types: "*" } }],
        },
      },
      output: ["COMFY_MATCHTYPE_V3"],
    },
    Resize: {
      input: { required: { input: ["COMFY_MATCHTYPE_V3", { template: { template_id: "t", allowed_types: "IMAGE,MASK" } }] } },
      output: ["COMFY_MATCHTYPE_V3"],
    },
    Decode: { input: { required: { samples: ["LATENT"], vae: ["VAE"] } }, output: ["IMAGE"] },
    Latent: { input: { required: {} }, output: ["LATENT"] },
  }),
};
export const createDefinitions = (...subgraphs: object[]) => ({ definitions: { subgraphs } });
export type Nodes = Record<string, [type: string, inputs: Record<string, unknown>]>;
const createGraph = (nodes: Nodes): Graph =>
  Object.fromEntries(Object.entries(nodes).map(([id, [class_type, inputs]]) => [id, { class_type, inputs }]));

export function expectReadAs(file: object, expected: Nodes): void {
  const { graph } = toApiWorkflow(file, info, { fill: false });
  expect(toComparable(graph, info)).toEqual(toComparable(createGraph(expected), info));
  expect(readMatchingDrawing(file, graph)).toBeDefined();
}
