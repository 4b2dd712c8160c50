// A local server without /api/jobs. Its queue and history provide the job list, details and history pages.
import { afterEach, expect, test } from "vitest";
import { type JobReach } from "@/lib/contract/console";
import { connectLocalServer } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { startLocalServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

let now = Date.now();
const harness = await createHarness({ now: () => now });
const local = await startLocalServer(undefined, { isOld: true });
const { send, getJson, post } = await connectLocalServer(harness, local.url, "owner");
afterEach(() => local.restart());

const createGraph = (id: string) => ({ [id]: { class_type: "SaveImage", inputs: {} } });
const submit = async (prompt: object = createGraph("1"), extra_data = {}) => {
  now += 1000;
  return String((await (await post("/api/prompt", { prompt, extra_data })).json()).prompt_id);
};
const endJob = (outputs?: Parameters<typeof local.endJob>[0]) => {
  local.startJob();
  local.endJob(outputs);
};
const listIds = async (path: string) => (await getJson(path)).jobs.map(({ id }: { id: string }) => id);

test("lists waiting, running and ended jobs with states, times and previews", async () => {
  const endedId = await submit();
  const picture = { filename: "a_00001_.png", subfolder: "", type: "output" };
  endJob({ "1": { text: ["said"], images: [{ filename: "t.png", subfolder: "", type: "temp" }, picture] } });
  const stoppedId = await submit();
  local.startJob();
  local.interrupt("1");
  const runningId = await submit();
  local.startJob();
  const waitingId = await submit();
  const body = await getJson("/api/jobs");
  expect(body.jobs).toMatchObject([
    { id: waitingId, status: "pending", create_time: now },
    { id: runningId, status: "in_progress", create_time: now - 1000 },
    { id: stoppedId, status: "cancelled" },
    { id: endedId, status: "completed", outputs_count: 2, preview_output: { ...picture, nodeId: "1", mediaType: "images" } },
  ]);
  expect(body.pagination).toMatchObject({ total: 4, has_more: false });
  expect(body.jobs[3].execution_end_time - body.jobs[3].execution_start_time).toBe(1000);
});

test("filters by state and workflow, sorts both ways and pages", async () => {
  const ids: string[] = [];
  for (const id of ["w1", "w2", "w1", "w2"]) {
    ids.push(await submit(createGraph(id), { extra_pnginfo: { workflow: { id } } }));
    if (ids.length < 4) endJob();
  }
  const [first, second, third, last] = ids;
  expect(await listIds("/api/jobs?status=completed")).toEqual([third, second, first]);
  expect(await listIds("/api/jobs?status=pending,failed")).toEqual([last]);
  expect(await listIds("/api/jobs?workflow_id=w1&sort_order=asc")).toEqual([first, third]);
  expect(await getJson("/api/jobs?sort_order=asc&offset=1&limit=2")).toMatchObject({
    jobs: [{ id: second }, { id: third }],
    pagination: { offset: 1, limit: 2, total: 4, has_more: true },
  });
  expect(await listIds("/api/jobs?sort_by=execution_time&status=completed")).toHaveLength(3);
});

test("shows ended jobs immediately and removals by others within a minute", async () => {
  const ids = [];
  for (let count = 0; count < 3; count++) {
    ids.push(await submit(createGraph(String(count))));
    endJob();
    expect(await listIds("/api/jobs?status=completed")).toEqual([...ids].reverse());
  }
  const requestCount = local.requests.length;
  await send("/api/jobs?status=completed");
  // No job has ended since, so one entry is read and not the whole history.
  const urls = local.requests.slice(requestCount).map(({ url }) => url);
  expect(urls.filter((url) => url.startsWith("/api/history"))).toEqual(["/api/history?max_items=1"]);
  await post("/api/history", { delete: [ids[1]] });
  expect(await listIds("/api/jobs?status=completed")).toEqual([ids[2], ids[0]]);
  local.state.history.delete(ids[0] ?? "");
  now += 61_000;
  expect(await listIds("/api/jobs?status=completed")).toEqual([ids[2]]);
});

test("returns a job's graph in every state, and 404 for a removed job", async () => {
  const prompt = { "7": { class_type: "SaveImage", inputs: { filename_prefix: "whole" } } };
  const id = await submit(prompt);
  for (const [state, advance] of [
    ["pending", local.startJob],
    ["in_progress", () => local.endJob()],
    ["completed", () => undefined],
  ] as const) {
    expect(await getJson(`/api/jobs/${id}`)).toMatchObject({ id, status: state, workflow: { prompt } });
    advance();
  }
  expect(await getJson(`/api/job/${id}/status`)).toMatchObject({ id, status: "completed" });
  local.restart();
  expect((await send(`/api/jobs/${id}`)).status).toBe(404);
});

/** The reader pauses four times as long as each page took, so it is slow on a busy machine. */
const readerTimeout = { timeoutMs: 60_000 };

test("marks a truncated history without a total or full search", async () => {
  await submit();
  endJob();
  const [entry] = local.state.history.values();
  if (!entry) throw new Error("no job has ended");
  const addHistory = (first: number, end: number) => {
    for (let index = first; index < end; index += 1) {
      const [number, , graph, extra, outputs] = entry.prompt;
      const created = { ...extra, create_time: now - 5_000_000 + index * 1000 };
      local.state.history.set(`job-${index}`, { ...entry, prompt: [number + index, `job-${index}`, graph, created, outputs] });
    }
  };
  local.state.history.clear();
  const readList = () => getJson("/api/jobs?offset=900");
  const searchJobs = () => {
    // One page of the list is read every 5 s.
    now += 5000;
    return getJson("/api/console/jobs/search?text=job-10");
  };
  addHistory(0, 1000);
  now += 61_000;
  expect(await readList()).toMatchObject({ pagination: { total: 1000, has_more: false } });
  // These jobs are older than those already read, and are found the next day.
  now += 25 * 60 * 60_000;
  const oldestMs = local.state.history.get("job-0")?.prompt[3].create_time;
  const isRead = ({ extent, sinceMs }: JobReach) => extent === "all" && sinceMs === oldestMs;
  await until("all jobs are indexed", async () => isRead((await searchJobs()).reach), readerTimeout);
  addHistory(1000, 1300);
  now += 61_000;
  const { jobs, is_cut, pagination } = await readList();
  expect([jobs.length, is_cut, pagination]).toEqual([100, true, { offset: 900, limit: 100, has_more: false }]);
  expect(await getJson("/api/jobs?status=pending")).toMatchObject({ pagination: { total: 0 } });
  // The next day the list is read again.
  now += 25 * 60 * 60_000;
  const reported = new Set<number | undefined>();
  await until(
    "the search reports the truncated list",
    async () => {
      const { extent, sinceMs } = (await searchJobs()).reach;
      if (extent !== "reading") reported.add(sinceMs);
      return extent === "newest";
    },
    readerTimeout,
  );
  // Jobs that the server no longer lists stay searchable, even while the list is read again.
  expect([...reported]).toEqual([oldestMs]);
  expect(await listIds("/api/console/jobs/search?text=job-150")).toEqual(["job-150"]);
}, 150_000);

test("reports assets as unsupported, even for an unknown id", async () => {
  for (const path of ["/api/assets", `/api/assets/${crypto.randomUUID()}`, "/api/tags"]) {
    const response = await send(path);
    expect(response.status, path).toBe(501);
    expect(await response.json()).toMatchObject({ code: "NOT_IMPLEMENTED", message: expect.stringContaining("asset library") });
  }
});
