// Large requests and responses of one client don't block others, and useless ones are refused.
import { afterAll, describe, expect, it, vi } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { type Client, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { asRecord, asString } from "./support";

const MIB = 1024 * 1024;
const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, "x"]));
const picture = (title: string) => ({
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 }, _meta: { title } },
  "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "x" } },
});
const largeGraph = (nodes: number) => ({
  ...picture("large"),
  ...Object.fromEntries(Array.from({ length: nodes - 2 }, (_, index) => [String(index + 3), picture(`node ${"long ".repeat(20)}`)["1"]])),
});

/** Counts the turns of the event loop until `stop`. */
function countTurns() {
  let turns = 0;
  let isOver = false;
  const next = () => {
    turns += 1;
    if (!isOver) setImmediate(next);
  };
  setImmediate(next);
  return { now: () => turns, stop: () => void (isOver = true) };
}

describe("large requests and responses", async () => {
  const service = await startService();
  const client = service.client();
  afterAll(async () => {
    expect(service.complaints).toEqual([]);
    await service.dispose();
  });

  it("refuses a prompt with 900,000 fields before processing it", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const body = JSON.stringify({ prompt: picture("a"), extra_data: fields(900_000) });
    const longestText = () => Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
    const refused = await client.call("POST", "/api/prompt", body);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_prompt", message: "The JSON has more than 250000 names." } },
    });
    const harness = await createHarness();
    const options = { as: "operator", method: "POST", body, headers: { "content-type": "application/json" } } as const;
    const response = await harness.request("/api/prompt", options);
    expect([response.status, await response.json()]).toMatchObject([400, { code: "INVALID_JSON" }]);
    await harness.dispose();
    expect(longestText()).toBeLessThan(MIB);
  });

  it("refuses a prompt with too many exact numbers before it is parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const body = `{"prompt":{},"extra_data":{"a":[${"12345678901234567890,".repeat(450_000)}1]}}`;
    const { status, body: refusal } = await client.call("POST", "/api/prompt", body);
    expect([status, refusal]).toMatchObject([400, { error: { message: expect.stringContaining("more than 50000 long or unusually") } }]);
    expect(Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length))).toBeLessThan(MIB);
  });

  it("reads large graphs one at a time while others get turns", async () => {
    const body = JSON.stringify({ prompt: largeGraph(5000) });
    const turns = countTurns();
    const parsedIn: number[] = [];
    const parseJson = JSON.parse.bind(JSON);
    vi.spyOn(JSON, "parse").mockImplementation((text: string) => {
      if (text.length === body.length) parsedIn.push(turns.now());
      return parseJson(text) as unknown;
    });
    const responses = await Promise.all(Array.from({ length: 20 }, () => client.call("POST", "/api/prompt", body)));
    turns.stop();
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(parsedIn).toHaveLength(20);
    expect(new Set(parsedIn).size).toBe(20);
  });

  it("streams a long history and queue while others get turns", async () => {
    const otherClient = service.client("bea");
    const ids: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      const response = await otherClient.post("/api/prompt", {
        prompt: picture("x".repeat(2 * MIB)),
        extra_data: { note: "y".repeat(MIB), count },
      });
      ids.push(asString(asRecord(response.body).prompt_id));
    }
    const queue = await readPieces(otherClient, "/api/queue");
    expect(queue.longestTurn).toBeLessThan(3 * MIB);
    expect(queue.turns).toBeGreaterThanOrEqual(queue.pieces);
    await until("all have run", async () => {
      const { body } = await otherClient.get("/api/jobs?status=completed&limit=1");
      return asRecord(asRecord(body).pagination).total === 8;
    });
    const older = await readPieces(otherClient, "/api/history");
    expect(Object.keys(asRecord(older.body)).sort()).toEqual([...ids].sort());
    expect(older.longestTurn).toBeLessThan(4 * MIB);
    expect(older.pieces).toBeGreaterThanOrEqual(8);
    expect(older.turns).toBeGreaterThanOrEqual(8);
    // The list leaves out long fields; the job's own entry has them.
    const listing = await readPieces(otherClient, "/api/history_v2");
    const { history } = asRecord(listing.body);
    expect((history as unknown[]).map((entry) => asRecord(asRecord(asRecord(entry).prompt).extra_data))).toEqual(ids.map(() => ({})));
    expect((await otherClient.get(`/api/history_v2/${ids[0]}`)).text).toContain("y".repeat(MIB));
  });
});

async function readPieces(client: Client, path: string) {
  const turns = countTurns();
  const response = await client.raw("GET", path);
  let text = "";
  let longestTurn = 0;
  let pieces = 0;
  for await (const piece of response.body ?? []) {
    pieces += 1;
    longestTurn = Math.max(longestTurn, piece.byteLength);
    text += Buffer.from(piece).toString();
  }
  turns.stop();
  return { body: JSON.parse(text) as unknown, longestTurn, pieces, turns: turns.now() };
}
