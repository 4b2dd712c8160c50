// Classes that only runners have. The runner validates lists and ranges, and every loader accepts stored files.
import { afterEach, describe, expect, it } from "vitest";
import { parseLateValidation } from "@/lib/contract/failure";
import { createLibraries } from "@/lib/service/runners/libraries";
import { storeCheckedRunner } from "@/lib/service/runners/store";
import { query } from "@/lib/service/store/database";
import { createGpuClasses } from "@/tests/support/gpu-classes";
import { type RunnerOptions } from "@/tests/support/runner-server";
import { createTestServiceStore } from "@/tests/support/service-store";
import { createModelGraph, startRunnerService } from "./runner-service";
import { asRecord, asString, getRecord, type Json, listAssets, runGraph, submitGraph, waitForEnd, waitForStart } from "./support";

const createClass = (required: Json, optional: Json = {}) => ({
  input: { required, optional },
  output: ["LATENT"],
  output_name: ["LATENT"],
  output_node: true,
});

const objectInfo: Json = {
  ...createGpuClasses(["one.safetensors"]),
  CustomCombo: createClass({ choice: [[]], count: ["INT", { min: 0, max: 10 }] }, { index: ["INT", {}], option1: ["STRING", {}] }),
  LoadLatent: createClass({ latent: [["example.latent", `${"a".repeat(64)}.latent`], {}] }),
  LoadAudio: createClass({ audio: [["runner.wav"], { audio_upload: true }] }),
  Load3D: createClass({ model_file: ["COMBO", { options: ["3d/runner.glb"], file_upload: true }], image: ["LOAD_3D", {}] }),
  LoadPath: createClass({ path: ["STRING", {}], note: ["STRING", { multiline: true }] }),
  LoadImageOutput: createClass({ image: ["COMBO", { image_upload: true, image_folder: "output" }] }),
};
const createCombo = (choice: unknown, count: unknown = 99) => ({ class_type: "CustomCombo", inputs: { choice, count } });

describe("runner-only classes", async () => {
  let validateGraph: RunnerOptions["getNodeErrors"];
  const { client, service, addRunner, readRunner } = await startRunnerService();
  const server = await addRunner("GPU", {
    objectInfo,
    makeOutput: () => undefined,
    getNodeErrors: (graph) => validateGraph?.(graph) ?? {},
  });
  afterEach(() => (validateGraph = undefined));

  const getLastPrompt = () => asRecord(server.seen.submissions.at(-1)?.prompt);
  const getErrors = (body: unknown) => Object.values(asRecord(asRecord(body).node_errors)).flatMap((node) => (asRecord(node).errors as Json[]).map(({ type }) => type)); // prettier-ignore

  it("sends values outside lists and ranges to the runner unchanged", async () => {
    const graph = {
      "1": createCombo("any text"),
      "2": createCombo(7, -3),
      "3": { class_type: "LoadLatent", inputs: { latent: "runner.latent" } },
    };
    expect(await runGraph(client, graph)).toMatchObject({ status: "completed", runner: { label: "GPU" } });
    expect(getLastPrompt()).toEqual(graph);
  });

  it("fails a job with the runner's node errors without penalizing it", async () => {
    validateGraph = (graph) => Object.fromEntries(Object.entries(graph).map(([id, node]) => [id, { class_type: node.class_type, dependent_outputs: [id], errors: [{ type: "value_not_in_list", message: "Value not in list", details: `latent: '${asString(node.inputs.latent)}' not in []`, extra_info: { input_name: "latent", input_config: [["x".repeat(100_000)]] } }] }])); // prettier-ignore
    const graph = { "1": { class_type: "LoadLatent", inputs: { latent: "mine.latent" } } };
    for (const user of ["ada", "bob", "eve"]) {
      const ownClient = service.client(user);
      await ownClient.upload("latent", "mine.latent", { tags: '["input"]' });
      const job = await runGraph(ownClient, graph);
      expect(job).toMatchObject({ status: "failed", execution_error: { exception_type: "ValidationError" } });
      const message = asString(asRecord(job.execution_error).exception_message);
      expect(message.length).toBeLessThan(2000);
      expect(parseLateValidation(message)).toMatchObject({
        code: "prompt_outputs_failed_validation",
        nodeErrors: { "1": { class_type: "LoadLatent", errors: [{ type: "value_not_in_list", details: "latent: 'mine.latent' not in []", extra_info: { input_name: "latent" } }] } }, // prettier-ignore
      });
    }
    expect(await readRunner()).toMatchObject({ state: "ready", failed: 3 });
  });

  it("runs the accepted outputs and reports why others were rejected", async () => {
    const errors = [{ type: "value_not_in_list", message: "Value not in list", details: "", extra_info: { input_name: "choice" } }];
    validateGraph = () => ({ "2": { class_type: "CustomCombo", dependent_outputs: ["2"], errors } });
    const job = await runGraph(client, { "1": createCombo("a"), "2": createCombo("b") });
    expect(job).toMatchObject({ status: "completed" });
    expect(asRecord(job.execution_status).messages).toContainEqual([
      "note",
      expect.objectContaining({ code: "outputs_refused", runner: "GPU", nodeErrors: { "2": expect.objectContaining({ errors }) } }),
    ]);
  });

  it.each<[string, Json, string]>([
    ["a missing input", { class_type: "CustomCombo", inputs: { choice: "a" } }, "required_input_missing"],
    ["text instead of a number", createCombo("a", "many"), "invalid_input_type"],
    ["a link to an output of another type", { class_type: "LoadPath", inputs: { path: ["9", 0], note: "" } }, "return_type_mismatch"],
    ["a link to a missing node", { class_type: "LoadPath", inputs: { path: ["8", 0], note: "" } }, "bad_linked_input"],
    ["another user's content", { class_type: "LoadLatent", inputs: { latent: `${"a".repeat(64)}.latent` } }, "custom_validation_failed"],
    [
      "another user's content in a folder",
      { class_type: "LoadLatent", inputs: { latent: `3d/${"a".repeat(64)}.glb` } },
      "custom_validation_failed",
    ],
    ["another user's output", { class_type: "LoadAudio", inputs: { audio: "other.wav [output]" } }, "custom_validation_failed"],
  ])("rejects %s", async (_name, node, type) => {
    const before = server.seen.submissions.length;
    const prompt = { "1": node, "9": createCombo("a", 1) };
    const response = await client.post("/api/prompt", { prompt, partial_execution_targets: ["1"] });
    expect([response.status, getErrors(response.body)]).toEqual([400, [type]]);
    expect(server.seen.submissions).toHaveLength(before);
  });

  it.each<[string, string, (name: string) => Json, (name: string) => string]>([
    ["LoadLatent", "a.latent", (latent) => ({ latent }), (hash) => `${hash}.latent`],
    ["LoadLatent", "a.latent [output]", (latent) => ({ latent }), (hash) => `output:${hash}.latent`],
    ["LoadAudio", "a.wav", (audio) => ({ audio }), (hash) => `${hash}.txt`],
    ["LoadAudio", "a.wav [input]", (audio) => ({ audio }), (hash) => `${hash}.txt`],
    ["Load3D", "a.gltf", (model_file) => ({ model_file, image: {} }), (hash) => `3d/${hash}.gltf`],
    ["Load3D", "scene.bin [temp]", (image) => ({ model_file: "", image: { image, width: 1 } }), (hash) => `temp:${hash}.bin`],
    ["LoadPath", "clip.mp4", (path) => ({ path, note: "clip.mp4" }), (hash) => `${hash}.txt`],
    ["LoadImageOutput", "a.svg [output]", (image) => ({ image }), (hash) => `output:${hash}.txt`],
  ])("sends a stored file to %s by the name %s", async (class_type, name, inputs, expectedName) => {
    const [, baseName = "", suffix = ""] = /^(.*?)( \[\w+\])?$/.exec(name) ?? [];
    await client.upload(`bytes of ${name}`, baseName, { tags: '["input"]' });
    const [asset] = await listAssets(client, `name_contains=${baseName}`);
    const hash = asString(asset?.asset_hash).replace("blake3:", "").replace(/\..*/, "");
    expect(await runGraph(client, { "1": { class_type, inputs: inputs(name) } })).toMatchObject({ status: "completed" });
    const path = expectedName(hash);
    expect(server.seen.uploads.at(-1)).toBe(path);
    const { note, ...values } = inputs(path.replace(/^\w+:/, "") + suffix);
    expect(getLastPrompt()).toEqual({ "1": { class_type, inputs: { ...values, ...(note !== undefined && { note: name }) } } });
  });

  it("hides files sent to a runner from lists", async () => {
    const info = await getRecord(service.client("fred"), "/api/object_info");
    const { latent } = asRecord(asRecord(asRecord(info.LoadLatent).input).required);
    expect(latent).toEqual([["example.latent"], {}]);
  });
});

it("reports no negative run time when the clock is set back", async () => {
  let behindMs = 0;
  const { client, addRunner, readRunner } = await startRunnerService({ now: () => Date.now() - behindMs });
  const server = await addRunner();
  server.setMode("hold");
  const id = await submitGraph(client, createModelGraph());
  await waitForStart(client, id);
  behindMs = 300_000;
  server.release();
  expect((await waitForEnd(client, id)).status).toBe("completed");
  expect(await readRunner()).toMatchObject({ done: 1, meanRunMs: 0 });
});

it("stores equal runner classes once and different ones separately", async () => {
  const database = await (await createTestServiceStore()).open();
  const facts = { version: null, devices: [], queue: null, classes: 5 };
  const storeClasses = (id: string, models: string[]) =>
    database.commit((tx) => storeCheckedRunner(tx, id, { facts, catalogue: createGpuClasses(models) }, Date.now()));
  for (const id of ["one", "two", "three"]) {
    const values = { id, label: id, address: `http://${id}`, tags: "[]", slots: 1, mode: "ready" as const, devices: "[]", created_at: 1 };
    await database.commit((tx) => tx.run(query.insertInto("runners").values(values)));
    await storeClasses(id, id === "three" ? ["b.safetensors"] : ["a.safetensors"]);
  }
  const libraries = createLibraries(database);
  await libraries.refresh();
  const getChoices = (library: ReturnType<typeof libraries.getLibrary>) => library.get("LoadModel")?.inputs[0]?.choices;
  expect(libraries.getLibrary("one")).toBe(libraries.getLibrary("two"));
  expect(getChoices(libraries.getLibrary("one"))).toEqual(["a.safetensors"]);
  expect(getChoices(libraries.getLibrary("three"))).toEqual(["b.safetensors"]);
  expect(getChoices(libraries.getMergedLibrary())).toEqual(["a.safetensors", "b.safetensors"]);

  await storeClasses("two", ["b.safetensors"]);
  await libraries.refresh();
  expect(libraries.getLibrary("two")).toBe(libraries.getLibrary("three"));
  expect(getChoices(libraries.getLibrary("one"))).toEqual(["a.safetensors"]);
  await database.close();
});
