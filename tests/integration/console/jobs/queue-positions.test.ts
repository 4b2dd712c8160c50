// Queue positions require the service's whole queue with every graph, so polls don't refetch it.
import { expect, test } from "vitest";
import { type QueueView } from "@/lib/contract/console";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";

/** Ids of the waiting jobs in execution order. */
let waitingIds: string[];

const harness = await createHarness({ upstreamLimits: { firstRetryMs: 1 } });
const server = await openTestServer(({ url }, response) => {
  const pagination = { offset: 0, limit: 1000, total: waitingIds.length, has_more: false };
  const jobs = waitingIds.toSorted().map((id) => ({ id, status: "pending", create_time: 1 }));
  const queue = waitingIds.map((id, index) => [index, id, { "1": { class_type: "A", inputs: {} } }, [], { create_time: 1 }]);
  if (url.startsWith("/api/jobs?")) return sendJsonResponse(response, { jobs, pagination });
  if (url.startsWith("/api/queue")) return sendJsonResponse(response, { queue_running: [], queue_pending: queue });
  return sendJsonResponse(response, { code: "NOT_FOUND", message: "404" }, 404);
});
const connection = await harness.connect(server.url, "k");

async function poll(...ids: string[]) {
  waitingIds = ids;
  const response = await harness.request(`/api/console/queue?connection=${connection}`, { as: "viewer" });
  const { pending, source }: QueueView = await response.json();
  expect(source).toBe("queue");
  return pending.map(({ id, position }) => `${position} ${id}`);
}
const countRequests = () => server.requests.filter(({ url }) => url.startsWith("/api/queue")).length;

test("requests the queue only when another job starts waiting", async () => {
  expect(await poll("c", "a", "b")).toEqual(["1 c", "2 a", "3 b"]);
  expect(await poll("c", "a", "b")).toEqual(["1 c", "2 a", "3 b"]);
  expect(await poll("a", "b")).toEqual(["1 a", "2 b"]);
  expect(countRequests()).toBe(1);
  // d precedes older jobs, as on services with priorities. c was queued again.
  expect(await poll("d", "a", "b", "c")).toEqual(["1 d", "2 a", "3 b", "4 c"]);
  expect(countRequests()).toBe(2);
  expect(await poll("b", "c")).toEqual(["1 b", "2 c"]);
  expect(countRequests()).toBe(2);
});
