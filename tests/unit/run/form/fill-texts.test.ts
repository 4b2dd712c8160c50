// Texts that are filled in on sending, as the family's editor does it.
import { expect, test } from "vitest";
import { writable } from "@/lib/contract/editor-workflow/write-file";
import { filledTexts, withTexts } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

const catalogue: ObjectInfo = { Encode: { input: { required: { text: ["STRING", { dynamicPrompts: true }], note: ["STRING", {}] } } } };
const at = new Date(2026, 2, 5, 7, 8, 9);
const saving = (filename_prefix: string, class_type = "SaveImage"): Graph => ({
  "1": { class_type, inputs: { filename_prefix } },
  "2": { class_type: "KSampler", inputs: { seed: 42, sampler_name: "a/b", model: ["3", 0] }, _meta: { title: "Mine" } },
});
const prefix = (text: string, class_type?: string) => filledTexts(saving(text, class_type), catalogue, { at, draw: 1 })[0]?.text;
const prompt = (text: string, draw = 1, name = "text") =>
  filledTexts({ "1": { class_type: "Encode", inputs: { [name]: text } } }, catalogue, { at, draw })[0]?.text;

test("a file's name gets the date and the values of other nodes; what the server fills in is left to it", () => {
  expect(prefix("%date:yyyy-MM-dd%/%date:hhmmss%_%date:d.M%")).toBe("2026-03-05/070809_%date:d.M%");
  expect(prefix("%date:yy-M-d%")).toBe("26-3-5");
  expect(prefix("%KSampler.seed%-%Mine.sampler_name%")).toBe("42-a_b");
  for (const text of ["%width%x%height%", "%year%", "%Nobody.seed%", "%KSampler.model%", "plain"]) expect(prefix(text)).toBeUndefined();
  expect(prefix("%date:yyyy%", "PreviewImage")).toBeUndefined();
});

test("of words in braces one is taken, the same one for the same draw, and every one of them in time", () => {
  expect(prompt("a {red|blue} cat", 3)).toBe(prompt("a {red|blue} cat", 3));
  const seen = new Set(Array.from({ length: 40 }, (_, draw) => prompt("{red|{dark|light} blue}", draw)));
  expect([...seen].sort()).toEqual(["dark blue", "light blue", "red"]);
  expect(prompt("one /* not this */two // nor this\nthree")).toBe("one two \nthree");
  expect(prompt("a \\{b\\|c\\}")).toBe("a {b|c}");
  expect(prompt("a \\\\{b} \\(c\\) \\")).toBe("a \\\\b \\(c\\) \\");
  expect(prompt("{a|b}", 1, "note")).toBeUndefined();
});

test("what is sent is the graph with these texts and nothing else", () => {
  const graph = saving("%date:yyyy%");
  const texts = filledTexts(graph, catalogue, { at, draw: 1 });
  expect(withTexts(graph, texts)).toEqual({ ...graph, "1": { class_type: "SaveImage", inputs: { filename_prefix: "2026" } } });
  expect(withTexts(graph, [])).toBe(graph);
});

test("where there is a file of the editor its names count, and what is in the form", () => {
  const info = objectInfoSchema.parse({
    Sampler: { input: { required: { steps: ["INT", { default: 1 }] } }, output: [] },
    SaveImage: { input: { required: { filename_prefix: ["STRING", {}] } }, output: [] },
  });
  const sampler = (id: number, name: string, steps: number) => ({
    id,
    type: "Sampler",
    properties: { "Node name for S&R": name },
    widgets_values: [steps],
  });
  const text = "%Fine.steps%";
  const file = {
    nodes: [sampler(1, "Sampler", 5), sampler(2, "Fine", 6), { id: 3, type: "SaveImage", widgets_values: [text] }],
    links: [],
  };
  const graph = {
    "1": { class_type: "Sampler", inputs: { steps: 5 } },
    "2": { class_type: "Sampler", inputs: { steps: 7 } },
    "3": { class_type: "SaveImage", inputs: { filename_prefix: text } },
  };
  const { withValues } = writable(file, info);
  expect(filledTexts(graph, info, { at, draw: 1 }, (now) => withValues(now).widgetOf)).toEqual([
    { nodeId: "3", name: "filename_prefix", text: "7" },
  ]);
  expect(filledTexts(graph, info, { at, draw: 1 })).toEqual([]);
});
