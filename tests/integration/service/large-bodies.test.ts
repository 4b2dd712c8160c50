// Large requests and answers of one client: others get their turns in between, and useless ones are refused.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { type Client, type ServiceBench, startService } from "@/tests/support/service";
import { until } from "@/tests/support/until";
import { record, string } from "./support";

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

describe("what is large at the service", () => {
  let bench: ServiceBench;
  let client: Client;
  beforeAll(async () => {
    bench = await startService();
    client = bench.client();
  });
  afterAll(async () => {
    expect(bench.complaints).toEqual([]);
    await bench.dispose();
  });

  it("refuses a prompt with 900,000 fields before anything is made of it, at the service and at the console", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const body = JSON.stringify({ prompt: picture("a"), extra_data: fields(900_000) });
    const longest = () => Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
    const refused = await client.call("POST", "/api/prompt", body);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { type: "invalid_prompt", message: "The JSON has more than 250000 names." } },
    });
    const harness = await createHarness();
    const asked = { as: "operator", method: "POST", body, headers: { "content-type": "application/json" } } as const;
    const answer = await harness.request("/api/prompt", asked);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: "INVALID_JSON" }]);
    await harness.dispose();
    expect(longest()).toBeLessThan(MIB);
  });

  it("refuses a prompt with too many exact numbers before it is parsed", async () => {
    const parse = vi.spyOn(JSON, "parse");
    const body = `{"prompt":{},"extra_data":{"a":[${"12345678901234567890,".repeat(450_000)}1]}}`;
    const { status, body: refusal } = await client.call("POST", "/api/prompt", body);
    expect([status, refusal]).toMatchObject([400, { error: { message: expect.stringContaining("more than 50000 long or unusually") } }]);
    expect(Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length))).toBeLessThan(MIB);
  });

  it("reads graphs of five thousand nodes that come at once in turns of their own", async () => {
    const body = JSON.stringify({ prompt: largeGraph(5000) });
    const turns = countTurns();
    const parsedIn: number[] = [];
    const parseJson = JSON.parse.bind(JSON);
    vi.spyOn(JSON, "parse").mockImplementation((text: string) => {
      if (text.length === body.length) parsedIn.push(turns.now());
      return parseJson(text) as unknown;
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => client.call("POST", "/api/prompt", body)));
    turns.stop();
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(parsedIn).toHaveLength(20);
    expect(new Set(parsedIn).size).toBe(20);
  });

  it("answers a long history and a long queue piece by piece, and others get their turns in between", async () => {
    const other = bench.client("bea");
    const ids: string[] = [];
    for (let count = 0; count < 8; count += 1) {
      const answer = await other.post("/api/prompt", {
        prompt: picture("x".repeat(2 * MIB)),
        extra_data: { note: "y".repeat(MIB), count },
      });
      ids.push(string(record(answer.body).prompt_id));
    }
    const queue = await readPieces(other, "/api/queue");
    expect(queue.longest).toBeLessThan(3 * MIB);
    expect(queue.turns).toBeGreaterThanOrEqual(queue.pieces);
    await until("all have run", async () => {
      const { body } = await other.get("/api/jobs?status=completed&limit=1");
      return record(record(body).pagination).total === 8;
    });
    const older = await readPieces(other, "/api/history");
    expect(Object.keys(record(older.body)).sort()).toEqual([...ids].sort());
    expect(older.longest).toBeLessThan(4 * MIB);
    expect(older.pieces).toBeGreaterThanOrEqual(8);
    expect(older.turns).toBeGreaterThanOrEqual(8);
    // The list leaves out long fields; the job's own entry has them.
    const listed = await readPieces(other, "/api/history_v2");
    const { history } = record(listed.body);
    expect((history as unknown[]).map((entry) => record(record(record(entry).prompt).extra_data))).toEqual(ids.map(() => ({})));
    expect((await other.get(`/api/history_v2/${ids[0]}`)).text).toContain("y".repeat(MIB));
  });
});

async function readPieces(client: Client, path: string) {
  const turns = countTurns();
  const answer = await client.raw("GET", path);
  let text = "";
  let longest = 0;
  let pieces = 0;
  for await (const piece of answer.body ?? []) {
    pieces += 1;
    longest = Math.max(longest, piece.byteLength);
    text += Buffer.from(piece).toString();
  }
  turns.stop();
  return { body: JSON.parse(text) as unknown, longest, pieces, turns: turns.now() };
}
