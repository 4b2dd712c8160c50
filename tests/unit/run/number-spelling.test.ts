// From a file that was opened to what is submitted, numbers keep their spelling.
import { expect, it } from "vitest";
import { withInput } from "@/components/run/form/form-model";
import { toSubmission } from "@/components/run/submit/submission";
import { toApiWorkflow } from "@/lib/contract/editor-workflow/index";
import { writable } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { withChoice } from "@/lib/contract/nodes/dynamic-inputs";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { readWorkflow } from "@/lib/contract/workflow/read-workflow";

const info = objectInfoSchema.parse({
  Mix: { input: { required: { cfg: ["FLOAT", {}], steps: ["INT", {}], denoise: ["FLOAT", {}] } }, output: [], output_node: true },
});

it("submits a graph with the spelling of its file, but for an edited value", () => {
  const graph = '{"1":{"class_type":"Mix","inputs":{"cfg":8.0,"steps":20,"denoise":1e0,"any":{"list":[0.10,-0]}}}}';
  const read = readWorkflow(
    `{"prompt":${graph},"extra_data":{"k":5.0,"extra_pnginfo":{"n":1.0,"workflow":{"z":2.0,"nodes":[{"pos":[3.0,4]}]}}}}`,
  );
  if (!read.ok) throw new Error(read.failure.code);
  const edited = withInput(read.value.graph, "1", "steps", 25);
  const opened = { graph: edited, extraData: read.value.extraData, name: "x", workflowId: "y" };
  const written = writeExactJson(toSubmission(opened));
  expect(written).toContain('"cfg":8.0,"steps":25,"denoise":1e0,"any":{"list":[0.10,-0]}');
  expect(written).toContain('"k":5.0,"extra_pnginfo":{"n":1.0,"workflow":{"z":2.0,"nodes":[{"pos":[3.0,4]}]');
});

it("keeps the spelling of a node's other inputs when a choice with inputs of its own changes", () => {
  const option = (key: string) => ({ key, inputs: { required: { scale: ["FLOAT", {}] } } });
  const resize = { input: { required: { type: ["COMFY_DYNAMICCOMBO_V3", { options: [option("a"), option("b")] }] } } };
  const graph = parseExactJson<Graph>('{"1":{"class_type":"Resize","inputs":{"type":"a","type.scale":2.0,"any":5.0}}}');
  const changed = withChoice(graph, "1", { name: "type", value: "b" }, objectInfoSchema.parse({ Resize: resize }));
  expect(writeExactJson(changed)).toContain('"inputs":{"type":"b","type.scale":2.0,"any":5.0}');
});

it("sends and saves values of the editor's file with their spelling", () => {
  const text = '{"nodes":[{"id":1,"type":"Mix","widgets_values":[8.0,20,1e0]}],"links":[]}';
  const file = parseExactJson<{ nodes: unknown[] }>(text);
  const { graph } = toApiWorkflow(file, info);
  expect(writeExactJson(graph)).toContain('"inputs":{"cfg":8.0,"steps":20,"denoise":1e0}');
  const saved = writable(file, info).withValues(withInput(graph, "1", "steps", 25)).file;
  expect(writeExactJson(saved)).toBe(text.replace("20", "25"));
});
