// Integers beyond the range of a double keep their digits from the request to every response.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type Client, startService } from "@/tests/support/service";
import { readPngText } from "../nodes/support";
import { startRunnerService } from "./runner-service";
import { asRecord, asRecords, asString, createWaitGraph, fetchBytes, getRecord, listAssets, waitForEnd, waitForStart } from "./support";

const SEED = "18446744073709551615";
const ADJACENT_SEED = "18446744073709551614";

/** Builds the body as text, since JavaScript numbers would lose digits. */
const createBody = (seed: string, count = "9007199254740993") => `{
  "prompt": {
    "1": { "class_type": "EmptyImage", "inputs": { "width": 8, "height": 8, "batch_size": 1, "color": 5, "seed": ${seed} } },
    "2": { "class_type": "SaveImage", "inputs": { "images": ["1", 0], "filename_prefix": "seeded" }, "_meta": { "title": "Save", "n": ${seed} } },
    "3": { "class_type": "PrimitiveInt", "inputs": { "value": ${count} } },
    "4": { "class_type": "PreviewAny", "inputs": { "source": ["3", 0] } }
  },
  "extra_data": { "client": ${seed}, "extra_pnginfo": { "workflow": { "nodes": [{ "widgets_values": [${seed}] }] } } }
}`;

const postPrompt = (client: Client, body: string) => client.call("POST", "/api/prompt", body, { "content-type": "application/json" });

/** Returns the texts in the PNG file of the job's first output. */
async function readOutputText(client: Client, jobId: string): Promise<Record<string, string>> {
  const [asset] = asRecords((await getRecord(client, `/api/jobs/${jobId}/assets`)).assets);
  return readPngText(await fetchBytes(client, `/api/assets/${asString(asset?.id)}/content`));
}

describe("a twenty-digit seed", async () => {
  const service = await startService({ concurrency: 1 });
  const client = service.client();

  async function runJob(body: string) {
    const response = await postPrompt(client, body);
    expect(response.text).toContain("prompt_id");
    return waitForEnd(client, asString(asRecord(response.body).prompt_id));
  }
  const countOccurrences = (text: string, digits: string) => text.split(digits).length - 1;

  it("is returned exactly in details, history and image metadata", async () => {
    const id = asString((await runJob(createBody(SEED))).id);
    const details = await client.get(`/api/jobs/${id}`);
    expect(countOccurrences(details.text, `"seed":${SEED}`)).toBe(1);
    expect(countOccurrences(details.text, SEED)).toBe(4);
    const entry = await client.get(`/api/history_v2/${id}`);
    expect(countOccurrences(entry.text, SEED)).toBe(4);
    const listResponse = await client.get("/api/history_v2?max_items=10");
    expect(listResponse.text).toContain(`"client":${SEED}`);
    expect(listResponse.text).not.toContain("widgets_values");

    const texts = await readOutputText(client, id);
    expect(countOccurrences(texts.prompt ?? "", SEED)).toBe(2);
    expect(texts.workflow).toBe(`{"nodes": [{"widgets_values": [${SEED}]}]}`.replaceAll(" ", ""));
  });

  it("is returned exactly in the queue and in a pending job's details", async () => {
    const blockingId = asString(asRecord((await client.post("/api/prompt", { prompt: createWaitGraph(3600) })).body).prompt_id);
    const id = asString(asRecord((await postPrompt(client, createBody(SEED))).body).prompt_id);
    await waitForStart(client, blockingId);
    const queue = await client.get("/api/queue");
    expect(queue.text).toContain(blockingId);
    expect(countOccurrences(queue.text, `"seed":${SEED}`)).toBe(1);
    expect(countOccurrences((await client.get(`/api/jobs/${id}`)).text, SEED)).toBe(4);
    await client.post("/api/interrupt");
  });

  it("is computed exactly and distinguished from adjacent values", async () => {
    const texts: unknown[] = [];
    for (const value of ["9223372036854775807", "9223372036854775806", "-9223372036854775807", '"9007199254740993"', "3.9"]) {
      const job = await runJob(createBody("1", value));
      expect(job.status, value).toBe("completed");
      texts.push(asRecord(asRecord(job.outputs)["4"]).text);
    }
    expect(texts).toEqual([["9223372036854775807"], ["9223372036854775806"], ["-9223372036854775807"], ["9007199254740993"], ["3"]]);
  });

  it("is validated to the last digit", async () => {
    for (const [value, type, limit] of [
      ["9223372036854775808", "value_bigger_than_max", "9223372036854775807"],
      ["-9223372036854775808", "value_smaller_than_min", "-9223372036854775807"],
      [`"${SEED}"`, "value_bigger_than_max", "9223372036854775807"],
    ] as const) {
      const response = await postPrompt(client, createBody("1", value));
      // The prompt is accepted, because its other output is valid.
      expect(response.status, value).toBe(200);
      expect(response.text).toContain(`"type":"${type}"`);
      expect(response.text).toContain(`Value ${value.replaceAll('"', "")} `);
      expect(response.text).toContain(` of ${limit}"`);
      expect(response.text).toContain(`"received_value":${value.replaceAll('"', "")}`);
      expect(response.text).toContain('"min":-9223372036854775807,"max":9223372036854775807');
    }
  });

  it("creates a different cache entry than an adjacent seed", async () => {
    const runAndGetCached = async (seed: string) => {
      const messages = asRecord((await runJob(createBody(seed, seed.slice(1)))).execution_status).messages;
      return Array.isArray(messages) ? messages.find(([name]) => name === "execution_cached")?.[1].nodes : undefined;
    };
    await runAndGetCached(SEED);
    expect(await runAndGetCached(ADJACENT_SEED)).toEqual(["1"]);
    expect(await runAndGetCached(ADJACENT_SEED)).toEqual(["1", "2", "3", "4"]);
  });

  it("is exact in the bounds of the node catalog", async () => {
    const response = await client.get("/api/object_info");
    const recorded = readFileSync("tests/fixtures/golden/object-info.json", "utf8");
    const findLongNumbers = (text: string) => (text.match(/-?\d{16,}/g) ?? []).sort();
    // The seed of ImageAddNoise is extra, since the recorded server didn't have that node.
    expect(findLongNumbers(response.text)).toEqual([...findLongNumbers(recorded), "18446744073709551615"].sort());
    expect(findLongNumbers(response.text)).toContain("9223372036854775807");
  });

  it("is stored exactly in metadata and found only by its exact value", async () => {
    for (const [name, seed] of [
      ["a.txt", SEED],
      ["b.txt", ADJACENT_SEED],
    ] as const) {
      const response = await client.upload(`content ${seed}`, name, { tags: '["seeds"]', user_metadata: `{"run":{"seeds":[1,${seed}]}}` });
      expect(response.text).toContain(`{"run":{"seeds":[1,${seed}]}}`);
    }
    for (const tags of ["", "&include_tags=seeds", "&name_contains=txt"]) {
      const filter = encodeURIComponent(`{"run":{"seeds":${SEED}}}`);
      const assets = await listAssets(client, `metadata_filter=${filter}${tags}`);
      expect(assets.map((asset) => asset.name)).toEqual(["a.txt"]);
    }
    const path = `/api/assets/${asString((await listAssets(client, "name_contains=a.txt"))[0]?.id)}`;
    const edit = `{"user_metadata":{"seed":${ADJACENT_SEED}}}`;
    const editResponse = await client.call("PUT", path, edit, { "content-type": "application/json" });
    expect(editResponse.text).toContain(`{"seed":${ADJACENT_SEED}}`);
    expect((await client.get(path)).text).toContain(`{"seed":${ADJACENT_SEED}}`);
  });
});

/** Number literals that JavaScript would serialize differently. */
const NUMBER_LITERALS = "5.0,1e3,-0,-0.0,0.10,1E-05,12345678901234567890.0,18446744073709551615";
const fieldsJson = `"list":[${NUMBER_LITERALS}],"float":5.0,"exponent":1e3,"zero":-0,"digits":0.10,"nested":{"one":1.0}`;

describe("the notation of a number", () => {
  it("is preserved in details, history, image and metadata", async () => {
    const service = await startService({ concurrency: 1 });
    const client = service.client();
    const canvas = `"1":{"class_type":"EmptyImage","inputs":{"width":8,"height":8,"batch_size":1,"color":5,${fieldsJson}}}`;
    const save = `"2":{"class_type":"SaveImage","inputs":{"images":["1",0],"filename_prefix":"x"},"_meta":{"n":1.0}}`;
    const body = `{"prompt":{${canvas},${save}},"extra_data":{"api_key_comfy_org":"a-partner-key-0123456789",${fieldsJson},"extra_pnginfo":{"workflow":{${fieldsJson}},"size":2.0}}}`;
    const response = await postPrompt(client, body);
    const id = asString(asRecord(response.body).prompt_id);
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    for (const path of [`/api/jobs/${id}`, `/api/history_v2/${id}`])
      expect((await client.get(path)).text.split(fieldsJson)).toHaveLength(4);
    const texts = await readOutputText(client, id);
    expect(texts).toEqual({ prompt: `{${canvas},${save}}`, workflow: `{${fieldsJson}}`, size: "2.0" });
    const createResponse = await client.upload("some bytes", "a.txt", { user_metadata: `{${fieldsJson}}` });
    expect(createResponse.text).toContain(`{${fieldsJson}}`);
    const path = `/api/assets/${asString(asRecord(createResponse.body).id)}`;
    const edit = await client.call("PUT", path, `{"user_metadata":{"a":7.0,${fieldsJson}}}`, { "content-type": "application/json" });
    expect(edit.text).toContain(`{"a":7.0,${fieldsJson}}`);
  });

  it("reaches a runner and returns unchanged in objects, lists and links", async () => {
    const { client, addRunner } = await startRunnerService();
    const required = { any: ["*", {}], other: ["*", {}], number: ["FLOAT", {}] };
    const anyClass = { input: { required }, output: ["*"], output_name: ["*"], output_node: true };
    const server = await addRunner("GPU", { objectInfo: { Any: anyClass }, makeOutput: () => ({ other: { text: ["x"] } }) });
    const outputsJson = `"values":[${NUMBER_LITERALS}],"objects":[{${fieldsJson}}]`;
    server.faults.set("GET /history/*", ({ url }, response) => {
      const status = '{"status_str":"success","completed":true,"messages":[]}';
      response.end(`{"${url?.split("/").at(-1) ?? ""}":{"status":${status},"outputs":{"4":{${outputsJson}}}}}`);
    });
    const firstNode = `"3":{"class_type":"Any","inputs":{"any":{${fieldsJson}},"other":{"__value__":[${NUMBER_LITERALS}]},"number":5}}`;
    await client.upload("bytes", "clip.mp4", { tags: '["input"]' });
    const secondNode = `"4":{"class_type":"Any","inputs":{"any":["3",0],"other":{"file":"clip.mp4",${fieldsJson},"files":["clip.mp4",0.10]},"more":5.0,"number":"0.50"}}`;
    const body = `{"prompt":{${firstNode},${secondNode}},"extra_data":{"k":5.0,"extra_pnginfo":{"workflow":{${fieldsJson}}}}}`;
    const response = await postPrompt(client, body);
    expect(response.text).toContain("prompt_id");
    const id = asString(asRecord(response.body).prompt_id);
    expect(await waitForEnd(client, id)).toMatchObject({ status: "completed" });
    expect((await client.get(`/api/jobs/${id}`)).text).toContain(outputsJson);
    expect(server.seen.submittedTexts).toHaveLength(1);
    const [sentName] = server.seen.uploads;
    expect(server.seen.submittedTexts[0]).toContain(`"prompt":{${firstNode},${secondNode.replaceAll("clip.mp4", sentName ?? "")}}`);
    expect(server.seen.submittedTexts[0]).toContain(`"extra_data":{"k":5.0,"extra_pnginfo":{"workflow":{${fieldsJson}}}`);
  });
});
