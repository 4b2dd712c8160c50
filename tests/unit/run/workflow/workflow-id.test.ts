import { describe, expect, it } from "vitest";
import { withInput } from "@/components/run/form/form-model";
import { workflowIdOf } from "@/components/run/workflow/opened";
import { sampleGraph } from "../files";

const names = [
  "01-invert",
  "02-poster-from-photo",
  "03-composite-with-mask",
  "04-four-variants",
  "05-slow",
  "06-fails-half-way",
  "08-production-sdxl",
];

describe("the id of a workflow", () => {
  const graph = sampleGraph("02-poster-from-photo");

  it("is a UUID that every reader of UUIDs takes", () => {
    expect(workflowIdOf(graph)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it("stays when texts, numbers and pictures change", () => {
    expect(workflowIdOf(withInput(withInput(graph, "1", "image", "mine.png"), "5", "blend_factor", 0.5))).toBe(workflowIdOf(graph));
  });

  it("stays when the nodes stand in another order in the file", () => {
    expect(workflowIdOf(Object.fromEntries(Object.entries(graph).toReversed()))).toBe(workflowIdOf(graph));
  });

  it("changes with a link, a class or a node", () => {
    const id = workflowIdOf(graph);
    expect(workflowIdOf(withInput(graph, "6", "images", ["3", 0]))).not.toBe(id);
    expect(workflowIdOf(withInput(graph, "6", "images", ["5", 1]))).not.toBe(id);
    expect(workflowIdOf({ ...graph, "7": { class_type: "PreviewImage", inputs: { images: ["5", 0] } } })).not.toBe(id);
    expect(workflowIdOf({ ...graph, "3": { class_type: "ImageBlur", inputs: graph["3"]?.inputs ?? {} } })).not.toBe(id);
  });

  it("differs between all samples, and between many graphs of one shape", () => {
    expect(new Set(names.map((name) => workflowIdOf(sampleGraph(name)))).size).toBe(names.length);
    const many = Array.from({ length: 5000 }, (_, index) => workflowIdOf({ [String(index)]: { class_type: "A", inputs: {} } }));
    expect(new Set(many).size).toBe(5000);
    // Each of the four words alone distinguishes them: every lane of the mix is in use.
    for (const at of [0, 9, 19, 28]) expect(new Set(many.map((id) => id.slice(at, at + 8))).size).toBeGreaterThan(4900);
  });
});
