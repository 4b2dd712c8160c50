// Large requests and responses of one client don't block others, and invalid ones are rejected early.
import { afterAll, describe, expect, it, vi } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { type Client, startService } from "@/tests/support/service";
import { asRecord, submitGraph, waitForEnd } from "./support";

const MIB = 1024 * 1024;
const createFields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, "x"]));
const createGraph = (title: string) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 }, _meta: { title } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
});
const createLargeGraph = (nodes: number) => ({
  ...createGraph("large"),
  ...Object.fromEntries(
    Array.from({ length: nodes - 2 }, (_, index) => [String(index + 3), createGraph(`node ${"long ".repeat(20)}`)["1"]]),
  ),
});

/** Counts the turns of the event loop until `stop`. */
function countEventLoopTurns() {
  let turns = 0;
  let isStopped = false;
  const countTurn = () => {
    turns += 1;
    if (!isStopped) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  return { getCount: () => turns, stop: () => void (isStopped = true) };
}

describe("large requests and responses", async () => {
  const service = await startService();
  const client = service.client();
  afterAll(async () => {
    expect(service.loggedErrors).toEqual([]);
    await service.dispose();
  });

  it("rejects a prompt with too many fields or exact numbers before parsing it", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const body = JSON.stringify({ prompt: createGraph("a"), extra_data: createFields(300_000) });
    const getLongestText = () => Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
    const rejection = await client.call("POST", "/api/prompt", body);
    expect(rejection).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_prompt", message: "The JSON has more than 250000 names." } },
    });
    const harness = await createHarness();
    const options = { as: "operator", method: "POST", body, headers: { "content-type": "application/json" } } as const;
    const response = await harness.request("/api/prompt", options);
    expect([response.status, await response.json()]).toMatchObject([400, { code: "INVALID_JSON" }]);
    await harness.dispose();
    const exactNumbers = `{"prompt":{},"extra_data":{"a":[${"12345678901234567890,".repeat(60_000)}1]}}`;
    expect(await client.call("POST", "/api/prompt", exactNumbers)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining("more than 50000 long or unusually written numbers") } },
    });
    expect(getLongestText()).toBeLessThan(MIB);
  });

  it("parses large graphs one at a time without blocking the event loop", async () => {
    const body = JSON.stringify({ prompt: createLargeGraph(5000) });
    const turns = countEventLoopTurns();
    const parseTurns: number[] = [];
    const parseJson = JSON.parse.bind(JSON);
    vi.spyOn(JSON, "parse").mockImplementation((text: string) => {
      if (text.length === body.length) parseTurns.push(turns.getCount());
      return parseJson(text) as unknown;
    });
    const responses = await Promise.all(Array.from({ length: 10 }, () => client.call("POST", "/api/prompt", body)));
    turns.stop();
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(parseTurns).toHaveLength(10);
    expect(new Set(parseTurns).size).toBe(10);
  });

  it("streams a long history and queue without blocking the event loop", async () => {
    const otherClient = service.client("bea");
    const ids: string[] = [];
    for (let count = 0; count < 5; count += 1) {
      const extra_data = { note: "y".repeat(MIB), count };
      ids.push(await submitGraph(otherClient, createGraph("x".repeat(2 * MIB)), { extra_data }));
    }
    const queue = await readChunks(otherClient, "/api/queue");
    expect(queue.maxChunkBytes).toBeLessThan(3 * MIB);
    expect(queue.turns).toBeGreaterThanOrEqual(queue.chunkCount);
    for (const id of ids) expect(await waitForEnd(otherClient, id)).toMatchObject({ status: "completed" });
    const fullHistory = await readChunks(otherClient, "/api/history");
    expect(Object.keys(asRecord(fullHistory.body)).sort()).toEqual([...ids].sort());
    expect(fullHistory.maxChunkBytes).toBeLessThan(4 * MIB);
    expect(fullHistory.chunkCount).toBeGreaterThanOrEqual(5);
    expect(fullHistory.turns).toBeGreaterThanOrEqual(5);
    // The list omits long fields, which the job's own entry contains.
    const historyList = await readChunks(otherClient, "/api/history_v2");
    const { history } = asRecord(historyList.body);
    expect((history as unknown[]).map((entry) => asRecord(asRecord(asRecord(entry).prompt).extra_data))).toEqual(ids.map(() => ({})));
    expect((await otherClient.get(`/api/history_v2/${ids[0]}`)).text).toContain("y".repeat(MIB));
  });
});

async function readChunks(client: Client, path: string) {
  const turns = countEventLoopTurns();
  const response = await client.raw("GET", path);
  let text = "";
  let maxChunkBytes = 0;
  let chunkCount = 0;
  for await (const chunk of response.body ?? []) {
    chunkCount += 1;
    maxChunkBytes = Math.max(maxChunkBytes, chunk.byteLength);
    text += Buffer.from(chunk).toString();
  }
  turns.stop();
  return { body: JSON.parse(text) as unknown, maxChunkBytes, chunkCount, turns: turns.getCount() };
}
