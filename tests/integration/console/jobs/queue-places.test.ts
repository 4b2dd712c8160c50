// Places in the queue come from the service's whole queue, which holds every graph, so polls do not fetch it again and again.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type QueueView } from "@/lib/contract/console";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
let server: LittleServer;
let connection: string;
/** In order of execution. */
let waiting: string[];

beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
  server = await startLittleServer(({ url }, response) => {
    const pagination = { offset: 0, limit: 1000, total: waiting.length, has_more: false };
    const jobs = waiting.toSorted().map((id) => ({ id, status: "pending", create_time: 1 }));
    const queue = waiting.map((id, place) => [place, id, { "1": { class_type: "A", inputs: {} } }, [], { create_time: 1 }]);
    if (url.startsWith("/api/jobs?")) return answerJson(response, { jobs, pagination });
    if (url.startsWith("/api/queue")) return answerJson(response, { queue_running: [], queue_pending: queue });
    return answerJson(response, { code: "NOT_FOUND", message: "404" }, 404);
  });
  connection = await harness.connect(server.url, "k");
});
afterAll(async () => {
  await server.close();
  await harness.dispose();
});

async function poll(...now: string[]) {
  waiting = now;
  const answer = await harness.request(`/api/console/queue?connection=${connection}`, { as: "viewer" });
  const { pending, source }: QueueView = await answer.json();
  expect(source).toBe("queue");
  return pending.map(({ id, position }) => `${position} ${id}`);
}
const asked = () => server.seen.filter(({ url }) => url.startsWith("/api/queue")).length;

test("the queue is asked for when a job comes to wait, and not while the same ones wait or some have left", async () => {
  expect(await poll("c", "a", "b")).toEqual(["1 c", "2 a", "3 b"]);
  expect(await poll("c", "a", "b")).toEqual(["1 c", "2 a", "3 b"]);
  expect(await poll("a", "b")).toEqual(["1 a", "2 b"]);
  expect(asked()).toBe(1);
  // d is before the older ones, as in services with priorities; c has come back.
  expect(await poll("d", "a", "b", "c")).toEqual(["1 d", "2 a", "3 b", "4 c"]);
  expect(asked()).toBe(2);
  expect(await poll("b", "c")).toEqual(["1 b", "2 c"]);
  expect(asked()).toBe(2);
});
