import { describe, expect, it } from "vitest";
import { startService } from "@/tests/support/service";
import { asRecord, asRecords, asString, canvas, png, readJob, sample, submit, waitForEnd } from "./support";

describe("POST /api/prompt", async () => {
  const service = await startService();
  const client = service.client();

  it("returns the job's id, an increasing number, and no node errors", async () => {
    const first = await client.post("/api/prompt", { prompt: canvas(1), number: -5, front: true });
    const second = await client.post("/api/prompt", { prompt: canvas(2) });
    expect(first.status).toBe(200);
    expect(asRecord(first.body).node_errors).toEqual({});
    expect(asRecord(second.body).number).toBe(Number(asRecord(first.body).number) + 1);
    expect(asString(asRecord(first.body).prompt_id)).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("uses a picture that was uploaded for a LoadImage node, and pins it at acceptance", async () => {
    const uploaded = await client.upload(png(40, 30), "mine.png", { type: "input" }, "image", "/api/upload/image");
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: asString(asRecord(uploaded.body).name) } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const job = await waitForEnd(client, await submit(client, graph));
    expect(job.status).toBe("completed");
    const byName = await submit(client, { ...graph, "1": { class_type: "LoadImage", inputs: { image: "mine.png" } } });
    const [asset] = asRecords(asRecord((await client.get("/api/assets?name_contains=mine.png&include_public=false")).body).assets);
    await client.call("DELETE", `/api/assets/${asString(asset?.id)}`);
    expect((await waitForEnd(client, byName)).status).toBe("completed");
  });

  it("accepts names behind 2,000 bytes of folders and rejects longer ones", async () => {
    await client.upload(png(8, 8), "far.png", { type: "input" }, "image", "/api/upload/image");
    // Random, because repeated text takes little space in an index.
    const letter = () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000));
    const graphOfBytes = (bytes: number) => {
      const rest = bytes - "/far.png".length;
      return `${Array.from({ length: Math.floor(rest / 3) }, letter).join("")}${"x".repeat(rest % 3)}/far.png`;
    };
    const graph = (image: string) => ({
      "1": { class_type: "LoadImage", inputs: { image } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "far" } },
    });
    expect((await waitForEnd(client, await submit(client, graph(graphOfBytes(2000))))).status).toBe("completed");
    for (const bytes of [2001, 8000]) {
      const refusal = await client.post("/api/prompt", { prompt: graph(graphOfBytes(bytes)) });
      expect([refusal.status, asRecord(refusal.body).node_errors]).toMatchObject([400, { "1": { class_type: "LoadImage" } }]);
    }
  });

  it("accepts for LoadImage only what upload/image accepts", async () => {
    const names = ["drawn.svg", "drawn.png", "notes.txt", "old.bmp"];
    const svg = "<svg xmlns='http://www.w3.org/2000/svg' width='8' height='8'/>";
    const bmp = new Uint8Array(100).fill(0);
    bmp.set([0x42, 0x4d, 100, 0, 0, 0]);
    const files = [svg, `${svg} `, "plain words", bmp];
    const hashes = [];
    for (const [index, file] of files.entries())
      hashes.push(asString(asRecord((await client.upload(file, names[index] ?? "", { tags: "input" })).body).asset_hash));
    await client.upload(png(9, 9), "offered.png", { tags: "input" });
    const specs = asRecord(asRecord(asRecord(asRecord((await client.get("/api/object_info")).body).LoadImage).input).required).image;
    const choices: unknown = Array.isArray(specs) ? specs[0] : undefined;
    expect(choices).toContain("offered.png");
    for (const name of names) expect(choices).not.toContain(name);
    for (const image of [...names, ...hashes])
      for (const class_type of ["LoadImage", "LoadImageMask"]) {
        const inputs = { image, ...(class_type === "LoadImageMask" && { channel: "red" }) };
        const refused = await client.post("/api/prompt", {
          prompt: {
            "1": { class_type, inputs },
            "2": { class_type: "PreviewAny", inputs: { source: ["1", 0] } },
          },
        });
        expect(refused, image).toMatchObject({
          status: 400,
          body: {
            node_errors: {
              "1": { errors: [{ type: "custom_validation_failed", details: expect.stringContaining("Invalid image file") }] },
            },
          },
        });
      }
  });

  it("groups runs of one graph by workflow_id, regardless of their literals", async () => {
    const [first, two] = [await submit(client, canvas(3)), await submit(client, canvas(4))];
    const namedJob = await submit(client, canvas(5), {
      extra_data: { extra_pnginfo: { workflow: { id: "1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22" } } },
    });
    const id = (await readJob(client, first)).workflow_id;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
    expect((await readJob(client, two)).workflow_id).toBe(id);
    expect((await readJob(client, namedJob)).workflow_id).toBe("1f3b7f7c-55a0-4f0a-8e53-7a2c0d9c4e22");
  });
});

describe("POST /api/prompt, refused", async () => {
  const service = await startService();
  const client = service.client();

  it.each([
    ["no body", undefined, "invalid_prompt"],
    ["no JSON", "{", "invalid_prompt"],
    ["no prompt", { extra_data: {} }, "no_prompt"],
    ["a prompt that is a text", { prompt: "x" }, "no_prompt"],
    [
      "a graph without outputs",
      { prompt: { "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } } } },
      "prompt_no_outputs",
    ],
  ])("reports %s in the prompt's own format", async (_, body, type) => {
    const response = await client.post("/api/prompt", body);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      error: { type, message: expect.any(String), details: expect.any(String), extra_info: expect.any(Object) },
      node_errors: {},
    });
  });

  it("names every broken node of a bad graph and queues nothing", async () => {
    const response = await client.post("/api/prompt", { prompt: sample("07-bad-graph") });
    expect(response.status).toBe(400);
    expect(Object.keys(asRecord(asRecord(response.body).node_errors)).sort()).toEqual(["1", "2", "4"]);
    expect(asRecord(asRecord((await client.get("/api/jobs")).body).pagination).total).toBe(0);
  });

  it("refuses a graph whose picture does not exist", async () => {
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "nobody.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const response = await client.post("/api/prompt", { prompt: graph });
    expect(response.status).toBe(400);
    expect(Object.keys(asRecord(asRecord(response.body).node_errors))).toEqual(["1"]);
  });

  it("uses a name's newest file even if it is no picture", async () => {
    const load = {
      "1": { class_type: "LoadImage", inputs: { image: "holiday.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    await client.upload(png(8, 8), "holiday.png", { tags: "input" });
    expect((await client.post("/api/prompt", { prompt: load })).status).toBe(200);
    await client.upload("remember the milk", "holiday.png", { tags: "input" });
    expect((await client.get("/api/view?filename=holiday.png")).text).toBe("remember the milk");
    const response = await client.post("/api/prompt", { prompt: load });
    expect(response.status).toBe(400);
    const [error] = asRecords(asRecord(asRecord(asRecord(response.body).node_errors)["1"]).errors);
    expect(error).toMatchObject({
      type: "custom_validation_failed",
      details: expect.stringMatching(/^image - Invalid image file: holiday\.png \(.*text\/plain.*not an image/),
      extra_info: { input_name: "image", received_value: "holiday.png", found_type: "text/plain" },
    });
  });
});
