// Queue positions require the service's whole queue with every graph, so polls don't refetch it.
import { expect, test } from "vitest";
import { type QueueView } from "@/lib/contract/console";
import { connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";

const harness = await createHarness({ upstreamLimits: { attempts: 1 } });

/** Connects a service with waiting jobs. `poll` sets their ids in execution order and returns the first 1,000 as the console shows them. */
async function connect(text = "") {
  let waitingIds: string[] = [];
  const { server, getJson } = await connectService(harness, ({ url }, response) => {
    const jobs = waitingIds
      .slice(0, 1000)
      .toSorted()
      .map((id) => ({ id, status: "pending", create_time: 1 }));
    const pagination = { offset: 0, limit: 1000, total: waitingIds.length, has_more: false };
    const graph = { "1": { class_type: "A", inputs: { text } } };
    const queue_pending = waitingIds.map((id, index) => [index, id, graph, [], { create_time: 1 }]);
    if (url.startsWith("/api/jobs?")) return sendJsonResponse(response, { jobs, pagination });
    if (url.startsWith("/api/queue")) return sendJsonResponse(response, { queue_running: [], queue_pending });
    return sendJsonResponse(response, { code: "NOT_FOUND", message: "404" }, 404);
  });
  return {
    async poll(...ids: string[]) {
      waitingIds = ids;
      const { pending, source }: QueueView = await getJson("/api/console/queue");
      expect(source).toBe("queue");
      return pending.map(({ id, position }) => `${position} ${id}`);
    },
    countReads: () => server.requests.filter(({ url }) => url.startsWith("/api/queue")).length,
  };
}

test("requests the queue only when another job starts waiting", async () => {
  const { poll, countReads } = await connect();
  expect(await poll("c", "a", "b")).toEqual(["1 c", "2 a", "3 b"]);
  expect(await poll("c", "a", "b")).toEqual(["1 c", "2 a", "3 b"]);
  expect(await poll("a", "b")).toEqual(["1 a", "2 b"]);
  expect(countReads()).toBe(1);
  // d precedes older jobs, as on services with priorities. c was queued again.
  expect(await poll("d", "a", "b", "c")).toEqual(["1 d", "2 a", "3 b", "4 c"]);
  expect(countReads()).toBe(2);
  expect(await poll("b", "c")).toEqual(["1 b", "2 c"]);
  expect(countReads()).toBe(2);
});

test("returns the position of each of thousands of waiting jobs", async () => {
  const { poll } = await connect("a lighthouse ".repeat(50));
  const ids = Array.from({ length: 2_500 }, (_, index) => `job-${10_000 + index}`);
  expect(await poll(...ids)).toEqual(ids.slice(0, 1000).map((id, index) => `${index + 1} ${id}`));
});

test("requests the running count only when the list of open jobs is incomplete", async () => {
  const jobs = ["completed", "in_progress", "pending", "pending"].map((status, index) => ({ id: `job-${index}`, status, create_time: 1 }));
  let maxRows = 1000;
  const { server, getJson } = await connectService(harness, ({ url }, response) => {
    const query = new URLSearchParams(url.split("?")[1]);
    const matches = jobs.filter(({ status }) => query.get("status")?.split(",").includes(status) !== false);
    const rows = matches.slice(0, Math.min(maxRows, Number(query.get("limit"))));
    sendJsonResponse(response, { jobs: rows, pagination: { offset: 0, limit: rows.length, total: matches.length } });
  });
  const takeQueries = () =>
    server.requests.splice(0).flatMap(({ url }) => {
      const query = new URLSearchParams(url.split("?")[1]);
      return url.startsWith("/api/jobs?") ? `${query.get("status")} ${query.get("limit")}` : [];
    });
  expect(await getJson("/api/console/counts")).toEqual({ jobs: 4, running: 1, pending: 2 });
  expect(takeQueries().sort()).toEqual(["in_progress,pending 50", "null 1"]);
  maxRows = 1;
  harness.console.jobResponses.invalidate();
  expect(await getJson("/api/console/counts")).toEqual({ jobs: 4, running: 1, pending: 2 });
  expect(takeQueries()).toContain("in_progress 1");
});
