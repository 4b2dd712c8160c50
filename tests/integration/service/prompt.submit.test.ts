import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createLoadGraph,
  createPng,
  getRecord,
  listAssets,
  listJobs,
  loadSampleGraph,
  readJob,
  runGraph,
  submitGraph,
  uploadImage,
  waitForEnd,
} from "./support";

describe("POST /api/prompt", async () => {
  const service = await startService();
  const client = service.client();

  it("returns the job's id, an increasing number, and no node errors", async () => {
    const first = await client.post("/api/prompt", { prompt: createColorGraph(1), number: -5, front: true });
    const second = await client.post("/api/prompt", { prompt: createColorGraph(2) });
    expect(first.status).toBe(200);
    expect(asRecord(first.body).node_errors).toEqual({});
    expect(asRecord(second.body).number).toBe(Number(asRecord(first.body).number) + 1);
    expect(asString(asRecord(first.body).prompt_id)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("uses an uploaded image for LoadImage and pins it at submission", async () => {
    const name = await uploadImage(client, createPng(40, 30), "mine.png");
    expect((await runGraph(client, createLoadGraph(name))).status).toBe("completed");
    const byNameId = await submitGraph(client, createLoadGraph("mine.png"));
    const [asset] = await listAssets(client, "name_contains=mine.png&include_public=false");
    await client.call("DELETE", `/api/assets/${asString(asset?.id)}`);
    expect((await waitForEnd(client, byNameId)).status).toBe("completed");
  });

  it("accepts image names up to 2,000 bytes and rejects longer ones", async () => {
    await uploadImage(client, createPng(8, 8), "far.png");
    // Random text, since repeated text compresses well in an index.
    const createLetter = () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000));
    const createLongName = (bytes: number) => {
      const folderBytes = bytes - "/far.png".length;
      return `${Array.from({ length: Math.floor(folderBytes / 3) }, createLetter).join("")}${"x".repeat(folderBytes % 3)}/far.png`;
    };
    expect((await runGraph(client, createLoadGraph(createLongName(2000)))).status).toBe("completed");
    expect(await client.post("/api/prompt", { prompt: createLoadGraph(createLongName(2001)) })).toMatchObject({
      status: 400,
      body: { node_errors: { "1": { class_type: "LoadImage" } } },
    });
  });

  it("accepts only images for LoadImage that upload/image accepts", async () => {
    const names = ["drawn.svg", "drawn.png", "notes.txt", "old.bmp"];
    const svg = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>";
    const bmp = new Uint8Array(100).fill(0);
    bmp.set([0x42, 0x4d, 100, 0, 0, 0]);
    const files = [svg, `${svg} `, "plain text", bmp];
    const hashes = [];
    for (const [index, file] of files.entries())
      hashes.push(asString(asRecord((await client.upload(file, names[index] ?? "", { tags: "input" })).body).asset_hash));
    await client.upload(createPng(9, 9), "offered.png", { tags: "input" });
    const specs = asRecord(asRecord(asRecord((await getRecord(client, "/api/object_info")).LoadImage).input).required).image;
    const choices: unknown = Array.isArray(specs) ? specs[0] : undefined;
    expect(choices).toContain("offered.png");
    for (const name of names) expect(choices).not.toContain(name);
    for (const image of [...names, ...hashes])
      for (const class_type of ["LoadImage", "LoadImageMask"]) {
        const inputs = { image, ...(class_type === "LoadImageMask" && { channel: "red" }) };
        const prompt = { "1": { class_type, inputs }, "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } } };
        const errors = [{ type: "custom_validation_failed", details: expect.stringContaining("Invalid image file") }];
        const response = await client.post("/api/prompt", { prompt });
        expect(response, image).toMatchObject({ status: 400, body: { node_errors: { "1": { errors } } } });
      }
  });

  it("groups runs of one graph by workflow_id when literals differ", async () => {
    const [first, second] = [await submitGraph(client, createColorGraph(3)), await submitGraph(client, createColorGraph(4))];
    const workflowId = "1F3B7F7C-55A0-4F0A-8E53-7A2C0D9C4E22";
    const namedJob = await submitGraph(client, createColorGraph(5), { extra_data: { extra_pnginfo: { workflow: { id: workflowId } } } });
    const id = (await readJob(client, first)).workflow_id;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
    expect((await readJob(client, second)).workflow_id).toBe(id);
    expect((await readJob(client, namedJob)).workflow_id).toBe(workflowId.toLowerCase());
    for (const filter of [workflowId, workflowId.toLowerCase()])
      expect(await listJobs(client, `workflow_id=${filter}`)).toMatchObject([{ id: namedJob }]);
  });
});

describe("POST /api/prompt with invalid bodies", async () => {
  const service = await startService();
  const client = service.client();

  it.each([
    ["no body", undefined, "invalid_prompt"],
    ["invalid JSON", "{", "invalid_prompt"],
    ["no prompt", { extra_data: {} }, "no_prompt"],
    ["a prompt that is a string", { prompt: "x" }, "no_prompt"],
    [
      "a graph without outputs",
      { prompt: { "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } } } },
      "prompt_no_outputs",
    ],
  ])("reports %s as a prompt error", async (_, body, type) => {
    const response = await client.post("/api/prompt", body);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      error: { type, message: expect.any(String), details: expect.any(String), extra_info: expect.any(Object) },
      node_errors: {},
    });
  });

  it("reports every invalid node of a graph and queues nothing", async () => {
    const response = await client.post("/api/prompt", { prompt: loadSampleGraph("07-bad-graph") });
    expect(response.status).toBe(400);
    expect(Object.keys(asRecord(asRecord(response.body).node_errors)).sort()).toEqual(["1", "2", "4"]);
    expect(asRecord(asRecord((await client.get("/api/jobs")).body).pagination).total).toBe(0);
  });

  it("uses the newest file of a name even if it isn't an image", async () => {
    const graph = createLoadGraph("holiday.png");
    await client.upload(createPng(8, 8), "holiday.png", { tags: "input" });
    expect((await client.post("/api/prompt", { prompt: graph })).status).toBe(200);
    await client.upload("remember the milk", "holiday.png", { tags: "input" });
    expect((await client.get("/api/view?filename=holiday.png")).text).toBe("remember the milk");
    const response = await client.post("/api/prompt", { prompt: graph });
    expect(response.status).toBe(400);
    const [error] = asRecords(asRecord(asRecord(asRecord(response.body).node_errors)["1"]).errors);
    expect(error).toMatchObject({
      type: "custom_validation_failed",
      details: expect.stringMatching(/^image - Invalid image file: holiday\.png \(.*text\/plain.*not an image/),
      extra_info: { input_name: "image", received_value: "holiday.png", found_type: "text/plain" },
    });
  });
});
