// A workflow with many texts, and its node list.
import { type Graph } from "./form-values";

export const POEM = 'a lighthouse at dusk\nwaves, "salt" \\ spray\n\n  third line';

/** Creates thirty single-line and thirty multi-line texts, and nodes with two or three prompts. */
export function createTextWorkflow(): { graph: Graph; catalogue: unknown } {
  const names = Array.from({ length: 60 }, (_, index) => `part_${index + 1}`);
  const isLong = (index: number) => index % 2 === 1;
  const texts = names.map((name, index) => [name, isLong(index) ? `${name} of a long text` : index % 3 === 0 ? "" : `${name} in one line`]);
  const createTextInput = (multiline: boolean) => ["STRING", { multiline, default: "" }];
  const sdxl = { text_g: "wide shot", text_l: POEM, width: 1024, height: 1024, crop_w: 0, ascore: 6.5 };
  return {
    graph: {
      "1": { class_type: "ManyTexts", inputs: Object.fromEntries(texts) },
      "2": { class_type: "CLIPTextEncodeSDXL", inputs: sdxl },
      "3": {
        class_type: "CLIPTextEncodeFlux",
        inputs: { clip_l: "short", t5xxl: 7, guidance: 3.5, is_on: true, off: "yes", mode: "soft", seed: null },
      },
      "4": {
        class_type: "ManyTexts",
        inputs: { part_1: "two\nlines in an input of one", part_2: "windows\r\nline", part_3: " ends with a space " },
      },
      "5": { class_type: "ShowAll", inputs: { one: ["1", 0], two: ["2", 0], three: ["3", 0], four: ["4", 0] } },
    },
    catalogue: {
      ManyTexts: {
        input: { optional: Object.fromEntries(names.map((name, index) => [name, createTextInput(isLong(index))])) },
        output: ["STRING"],
      },
      CLIPTextEncodeSDXL: {
        input: { required: { text_g: createTextInput(true), text_l: createTextInput(true), width: ["INT", {}] } },
        output: ["CONDITIONING"],
      },
      CLIPTextEncodeFlux: {
        input: {
          required: {
            clip_l: createTextInput(true),
            t5xxl: createTextInput(true),
            is_on: ["BOOLEAN", {}],
            off: ["BOOLEAN", {}],
            seed: ["INT", {}],
            mode: [["hard", "soft"], {}],
          },
        },
        output: ["CONDITIONING"],
      },
      ShowAll: { input: { required: { one: ["*", {}] } }, output: [], output_node: true },
    },
  };
}
