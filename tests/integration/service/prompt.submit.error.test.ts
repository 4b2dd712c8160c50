import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { canvas, list, png, record, sample } from "./support";

describe("POST /api/prompt, refused", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(() => bench.dispose());

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
  ])("answers %s in the prompt's own shape", async (_, body, type) => {
    const answer = await client.post("/api/prompt", body);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      error: { type, message: expect.any(String), details: expect.any(String), extra_info: expect.any(Object) },
      node_errors: {},
    });
  });

  it("names every broken node of a bad graph, and queues nothing", async () => {
    const answer = await client.post("/api/prompt", { prompt: sample("07-bad-graph") });
    expect(answer.status).toBe(400);
    expect(Object.keys(record(record(answer.body).node_errors)).sort()).toEqual(["1", "2", "4"]);
    expect(record(record((await client.get("/api/jobs")).body).pagination).total).toBe(0);
  });

  it("answers each recorded refusal with the same type of error on the same nodes", async () => {
    const golden = record(JSON.parse(readFileSync("tests/fixtures/golden/refusals.json", "utf8")));
    for (const [name, value] of Object.entries(golden)) {
      const { prompt, answer } = record(value);
      const got = await client.post("/api/prompt", { prompt });
      const recorded = record(answer);
      const expected = recorded.prompt_id === undefined ? record(recorded.error) : recorded;
      expect([name, got.status]).toEqual([name, recorded.prompt_id === undefined ? 400 : 200]);
      if (expected.error) expect(record(record(got.body).error).type, name).toBe(record(expected.error).type);
      expect(Object.keys(record(record(got.body).node_errors)), name).toEqual(Object.keys(record(expected.node_errors)));
    }
  });

  it("refuses a graph whose picture does not exist", async () => {
    const graph = {
      "1": { class_type: "LoadImage", inputs: { image: "nobody.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    const answer = await client.post("/api/prompt", { prompt: graph });
    expect(answer.status).toBe(400);
    expect(Object.keys(record(record(answer.body).node_errors))).toEqual(["1"]);
  });

  it("says what a name means now, where a newer file that is no picture hides an older one", async () => {
    const load = {
      "1": { class_type: "LoadImage", inputs: { image: "holiday.png" } },
      "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
    };
    await client.upload(png(8, 8), "holiday.png", { tags: "input" });
    expect((await client.post("/api/prompt", { prompt: load })).status).toBe(200);
    await client.upload("remember the milk", "holiday.png", { tags: "input" });
    expect((await client.get("/api/view?filename=holiday.png")).text).toBe("remember the milk");
    const answer = await client.post("/api/prompt", { prompt: load });
    expect(answer.status).toBe(400);
    const [error] = list(record(record(record(answer.body).node_errors)["1"]).errors);
    expect(error).toMatchObject({
      type: "custom_validation_failed",
      details: expect.stringMatching(/^image - Invalid image file: holiday\.png \(.*text\/plain.*not an image/),
      extra_info: { input_name: "image", received_value: "holiday.png", found_type: "text/plain" },
    });
  });

  it("lets a waitlisted user read and not submit", async () => {
    const waiting = bench.client("wanda");
    await bench.service.keys.setUserStatus("wanda", "waitlisted");
    expect((await waiting.get("/api/jobs")).status).toBe(200);
    expect((await waiting.get("/api/user")).body).toMatchObject({ status: "waitlisted" });
    const answer = await waiting.post("/api/prompt", { prompt: canvas() });
    expect(answer).toMatchObject({ status: 403, body: { code: "FORBIDDEN", message: expect.stringContaining("waiting list") } });
  });

  it("refuses JSON that is nested too deeply", async () => {
    const answer = await client.call("POST", "/api/prompt", `{"prompt":{},"extra_data":${'{"a":'.repeat(150)}1${"}".repeat(150)}}`);
    expect(answer.status).toBe(400);
    expect(record(record(answer.body).error).message).toContain("100 levels");
  });
});
