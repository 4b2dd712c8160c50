// What a service sends is large: it is parsed, searched and checked elsewhere, and whoever asks for something else meanwhile is answered.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { type LittleServer, startLittleServer } from "@/tests/support/little-server";

vi.setConfig({ testTimeout: 60_000 });

const KEY = "comfyui-0123456789abcdef0123456789abcdef";
const MIB = 1024 * 1024;

let harness: Harness;
const servers: LittleServer[] = [];
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { attempts: 1 } });
});
afterAll(() => harness.dispose());
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** A service that says this of every job; `sent` settles when its last byte has left. */
async function connect(text: string) {
  let tell: () => void;
  const sent = new Promise<void>((resolve) => (tell = resolve));
  const server = await startLittleServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(text, () => tell());
  });
  servers.push(server);
  const connection = await harness.connect(server.url, KEY);
  return { sent, open: () => harness.request(`/api/jobs/job-1?connection=${connection}`, { as: "viewer" }) };
}

/** The longest text that was parsed on this thread. */
function watchParsing(): () => number {
  const parse = vi.spyOn(JSON, "parse");
  return () => Math.max(0, ...parse.mock.calls.map(([text]) => String(text).length));
}

const jobWith = (extraData: object) =>
  JSON.stringify({ id: "job-1", status: "completed", create_time: 1, workflow: { prompt: {}, extra_data: extraData } });
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`name-${index}`, "a value"]));

test.each([
  ["of one long text", { note: "comfyui-".repeat((15 * MIB) / 8) }],
  ["of many fields", entries(100_000)],
  ["of many texts", { list: Array.from({ length: 1_000_000 }, (_, index) => `text ${index % 1000}`) }],
])("a job %s is read elsewhere, and others are answered before it is", async (_, extraData) => {
  const { sent, open } = await connect(jobWith(extraData));
  const longest = watchParsing();
  const order: string[] = [];
  const large = open().then((answer) => (order.push("large"), answer));
  await sent;
  const small = await harness.request("/api/console/audit", { as: "owner" });
  order.push("small");
  const answer = await large;
  expect([small.status, answer.status]).toEqual([200, 200]);
  expect(order).toEqual(["small", "large"]);
  expect(longest()).toBeLessThan(MIB);
  expect((await answer.text()).length).toBeGreaterThan(MIB);
});

test("what is read elsewhere is as clean as what is not, and keeps its digits", async () => {
  const { open } = await connect(
    jobWith({ seed: 0, api_key: "hidden-by-its-name", told: `the key ${KEY} said back`, fill: "x".repeat(2 * MIB) }).replace(
      '"seed":0',
      '"seed":18446744073709551615',
    ),
  );
  const longest = watchParsing();
  const text = await (await open()).text();
  expect(longest()).toBeLessThan(MIB);
  expect(text).toContain('"seed":18446744073709551615');
  expect(text).toContain("the key [REDACTED] said back");
  expect(text).not.toContain("hidden-by-its-name");
  expect(text).not.toContain(KEY);
});

test.each([
  ["is no JSON", `{"id":"job-1","fill":"${"x".repeat(2 * MIB)}"`, "is no JSON"],
  ["has another shape", JSON.stringify({ id: 7, fill: "x".repeat(2 * MIB) }), "has another shape at id"],
  [
    "has more values than anybody can look through",
    `{"id":"job-1","status":"completed","list":[${"[],".repeat(1_100_000)}[]]}`,
    "too large",
  ],
  ["has more names than anybody can look through", jobWith(entries(130_000)), "too large"],
])("a large answer that %s is told as such, and the next one is read", async (_, text, why) => {
  const { open } = await connect(text);
  const answer = await open();
  expect(answer.status).toBe(502);
  expect(await answer.text()).toContain(why);
  const next = await connect(jobWith({ fill: "x".repeat(2 * MIB) }));
  expect((await next.open()).status).toBe(200);
});

test("whoever gives up a large answer ends the work on it, and the next one is read", async () => {
  const { sent, open } = await connect(jobWith(entries(100_000)));
  const leaving = new AbortController();
  const connection = await harness.connect(servers[0]?.url ?? "", KEY);
  const left = harness.request(`/api/jobs/job-1?connection=${connection}`, { as: "viewer", signal: leaving.signal });
  await sent;
  leaving.abort();
  expect((await left).status).toBe(499);
  expect((await open()).status).toBe(200);
});
