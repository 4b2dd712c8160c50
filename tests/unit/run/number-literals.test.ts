// Number literals stay unchanged from an opened file to the submission.
import { expect, it } from "vitest";
import { buildResubmission } from "@/components/jobs/actions/resubmission";
import { withInput } from "@/components/run/form/form-model";
import { toSubmission } from "@/components/run/submit/submission";
import { openAnyWorkflow, openWorkflow } from "@/components/run/workflow/open-workflow";
import { withSamplePictures } from "@/components/run/workflow/run-sources";
import { removeSecrets } from "@/components/run/workflow/workflow-contents";
import { mergeFields } from "@/components/transfers/uploads/asset-fields-form";
import { toApiWorkflow } from "@/lib/contract/editor-workflow/index";
import { createEditableFile } from "@/lib/contract/editor-workflow/write-file";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type JsonObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { selectChoice } from "@/lib/contract/nodes/dynamic-inputs";
import { replaceTexts } from "@/lib/contract/nodes/fill-texts";
import { type Graph } from "@/lib/contract/schemas/graph";
import { objectInfoSchema } from "@/lib/contract/schemas/object-info";
import { readWorkflow } from "@/lib/contract/workflow/read-workflow";
import { ok } from "@/lib/shared/result";

const info = objectInfoSchema.parse({
  Mix: { input: { required: { cfg: ["FLOAT", {}], steps: ["INT", {}], denoise: ["FLOAT", {}] } }, output: [], output_node: true },
});

it("submits a file's number literals unchanged except for an edited value", () => {
  const graph = '{"1":{"class_type":"Mix","inputs":{"cfg":8.0,"steps":20,"denoise":1e0,"any":{"list":[0.10,-0]}}}}';
  const workflowResult = readWorkflow(
    `{"prompt":${graph},"extra_data":{"k":5.0,"extra_pnginfo":{"n":1.0,"workflow":{"z":2.0,"nodes":[{"pos":[3.0,4]}]}}}}`,
  );
  if (!workflowResult.ok) throw new Error(workflowResult.failure.code);
  const edited = withInput(workflowResult.value.graph, "1", "steps", 25);
  const openedWorkflow = { graph: edited, extraData: workflowResult.value.extraData, name: "x", workflowId: "y" };
  const exactJson = writeExactJson(toSubmission(openedWorkflow));
  expect(exactJson).toContain('"cfg":8.0,"steps":25,"denoise":1e0,"any":{"list":[0.10,-0]}');
  expect(exactJson).toContain('"k":5.0,"extra_pnginfo":{"n":1.0,"workflow":{"z":2.0,"nodes":[{"pos":[3.0,4]}]');
});

it("keeps other inputs' number literals when a dynamic choice changes", () => {
  const createOption = (key: string) => ({ key, inputs: { required: { scale: ["FLOAT", {}] } } });
  const resizeInfo = { input: { required: { type: ["COMFY_DYNAMICCOMBO_V3", { options: [createOption("a"), createOption("b")] }] } } };
  const graph = parseExactJson<Graph>('{"1":{"class_type":"Resize","inputs":{"type":"a","type.scale":2.0,"any":5.0}}}');
  const changedGraph = selectChoice(graph, "1", { name: "type", value: "b" }, objectInfoSchema.parse({ Resize: resizeInfo }));
  expect(writeExactJson(changedGraph)).toContain('"inputs":{"type":"b","type.scale":2.0,"any":5.0}');
});

it("submits and saves an editor file's number literals unchanged", () => {
  const text = '{"nodes":[{"id":1,"type":"Mix","widgets_values":[8.0,20,1e0]}],"links":[]}';
  const file = parseExactJson<{ nodes: unknown[] }>(text);
  const { graph } = toApiWorkflow(file, info);
  expect(writeExactJson(graph)).toContain('"inputs":{"cfg":8.0,"steps":20,"denoise":1e0}');
  const savedFile = createEditableFile(file, info).applyValues(withInput(graph, "1", "steps", 25)).file;
  expect(writeExactJson(savedFile)).toBe(text.replace("20", "25"));
});

/** Number literals that JSON.stringify would change. */
const fieldsJson = '"k":5.0,"e":1e3,"zero":-0,"list":[0.10,2.0]';
const parseFields = (extra: string) => parseExactJson<JsonObject>(`{${fieldsJson},${extra}}`);
const files = { readCatalogue: () => Promise.resolve(ok(info)) };

it.each<[string, (graph: Graph) => unknown]>([
  ["a filled-in text", (graph) => replaceTexts(graph, [{ nodeId: "1", name: "text", text: "x" }])],
  ["a new random seed", (graph) => buildResubmission({ prompt: graph }, () => 7)],
  ["a removed secret", (graph) => removeSecrets({ graph }, [{ kind: "input", node_id: "1", node: "Mix", input: "text" }])],
  ["a sample's picture", (graph) => withSamplePictures({ graph, name: "", workflowId: "", order: [] }, () => ok("sent.png"))],
])("keeps number literals with %s", async (_, change) => {
  const inputs = parseFields('"text":"a key","seed":1,"image":"photo.png"');
  const changedText = writeExactJson(await change({ "1": { class_type: "Mix", inputs } }));
  expect(changedText).not.toContain('"text":"a key","seed":1,"image":"photo.png"');
  expect(changedText).toContain(`"inputs":{${fieldsJson},`);
});

it("keeps the number literals of extra data entered in Run", () => {
  const workflow = { graph: {}, extraData: parseFields('"a":1'), name: "x", workflowId: "y", advanced: { extra: '{"w":3.0,"a":2.0}' } };
  expect(writeExactJson(toSubmission(workflow))).toContain(`"extra_data":{${fieldsJson},"a":2.0,"w":3.0`);
});

it("keeps number literals next to masked text", () => {
  const workflow = `{"prompt":{"1":{"class_type":"Mix","inputs":{"cfg":8.0}}},"extra_data":{${fieldsJson},"extra_pnginfo":{${fieldsJson},"note":"[REDACTED]","list2":["[REDACTED]",1.0]}}}`;
  const resubmission = buildResubmission(parseExactJson(workflow));
  const text = writeExactJson(resubmission.kind === "ready" ? resubmission.submission : resubmission);
  expect(text).toContain(`"extra_data":{${fieldsJson},"extra_pnginfo":{${fieldsJson},"list2":["",1.0]}`);
  expect(text).toContain('"cfg":8.0');
});

it("keeps number literals when a secret is removed", () => {
  const extraData = parseFields(`"token":"t","deep":{${fieldsJson},"secret":"s","inner":{"key":"[REDACTED]","n":3.0}}`);
  const expectedPlaces = [["token"], ["deep", "secret"], ["deep", "inner"]].map((path) => ({ kind: "extra" as const, path }));
  expect(writeExactJson(removeSecrets({ graph: {}, extraData }, expectedPlaces).extraData)).toBe(
    `{${fieldsJson},"deep":{${fieldsJson},"inner":{"n":3.0}}}`,
  );
});

it("keeps number literals when the editor workflow is a different one", async () => {
  const graph = '{"1":{"class_type":"Mix","inputs":{"cfg":8.0},"_meta":{"title":"Mix","n":1.0}}}';
  const otherEditorWorkflow = '{"nodes":[{"id":7,"type":"Other","widgets_values":[1]}],"links":[]}';
  const result = await openAnyWorkflow(
    `{"prompt":${graph},"extra_data":{${fieldsJson},"extra_pnginfo":{${fieldsJson},"workflow":${otherEditorWorkflow}}}}`,
    files,
  );
  expect(writeExactJson(result.ok ? result.value.extraData : result)).toBe(`{${fieldsJson},"extra_pnginfo":{${fieldsJson}}}`);
  expect(writeExactJson(result.ok ? result.value.graph : result)).toBe(graph);
});

it("keeps number literals in an editor workflow with filename placeholders", () => {
  const createGraph = (name: string) => parseExactJson<Graph>(`{"1":{"class_type":"SaveImage","inputs":{"filename_prefix":"${name}"}}}`);
  const extraData = parseFields(`"extra_pnginfo":{${fieldsJson},"workflow":{${fieldsJson},"extra":{${fieldsJson}}}}`);
  const workflow = { graph: createGraph("2026"), extraData, name: "x", workflowId: "y" };
  const exactJson = writeExactJson(toSubmission(workflow, createGraph("%date%")));
  expect(exactJson.split(fieldsJson)).toHaveLength(5);
  const workflowResult = openWorkflow(exactJson);
  const text = writeExactJson(workflowResult.ok ? workflowResult.value : workflowResult);
  expect([text.includes("%date%"), text.split(fieldsJson).length]).toEqual([true, 5]);
});

it("keeps number literals in a saved file and in upload metadata", () => {
  const subgraphs = `{${fieldsJson},"subgraphs":[]}`;
  const text = `{${fieldsJson},"nodes":[{"id":1,${fieldsJson},"type":"Mix","widgets_values":[8.0,20,1e0]}],"links":[],"definitions":${subgraphs}}`;
  const file = parseExactJson<JsonObject & { nodes: unknown[] }>(text);
  const { graph } = toApiWorkflow(file, info);
  const savedFile = createEditableFile(file, info).applyValues(withInput(graph, "1", "steps", 25)).file;
  expect(writeExactJson(savedFile).split(fieldsJson)).toHaveLength(4);
  const createFields = (metadata: JsonObject) => ({ name: "a", tags: [], metadata });
  expect(writeExactJson(mergeFields(createFields(parseFields('"a":1.0')), createFields(parseFields('"b":2.0'))).metadata)).toBe(
    `{${fieldsJson},"a":1.0,"b":2.0}`,
  );
});
