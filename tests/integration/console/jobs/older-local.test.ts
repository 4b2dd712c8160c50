// A local server without /api/jobs. Its queue and history provide the job list, details and history pages.
import { afterEach, expect, test } from "vitest";
import { type JobReach } from "@/lib/contract/console";
import { createHarness } from "@/tests/support/harness";
import { startLocalServer } from "@/tests/support/servers";
import { until } from "@/tests/support/until";

let now = Date.now();
const harness = await createHarness({ now: () => now });
const local = await startLocalServer(undefined, { isOld: true });
const saveResponse = await call("POST", "/api/console/connections", { name: "Old", baseUrl: local.url, shared: true });
const connection = saveResponse.body.connection.id;
afterEach(() => local.restart());

async function call(method: string, path: string, json?: unknown) {
  const response = await harness.request(path, { as: "owner", method, json });
  return { status: response.status, body: await response.json() };
}
const withConnection = (path: string) => `${path}${path.includes("?") ? "&" : "?"}connection=${connection}`;
const get = (path: string) => call("GET", withConnection(path));
const submit = async (prompt: object = { "1": { class_type: "SaveImage", inputs: {} } }, extra_data = {}) => {
  now += 1000;
  const { body } = await call("POST", withConnection("/api/prompt"), { prompt, extra_data });
  return String(body.prompt_id);
};
const getIds = (response: { body: { jobs: { id: string }[] } }) => response.body.jobs.map(({ id }) => id);

test("lists waiting, running and ended jobs with states, times and previews", async () => {
  const endedId = await submit();
  local.startJob();
  const picture = { filename: "a_00001_.png", subfolder: "", type: "output" };
  local.endJob({ "1": { text: ["said"], images: [{ filename: "t.png", subfolder: "", type: "temp" }, picture] } });
  const stoppedId = await submit();
  local.startJob();
  local.interrupt("1");
  const runningId = await submit();
  local.startJob();
  const waitingId = await submit();
  const { status, body } = await get("/api/jobs");
  expect(status).toBe(200);
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
    ids.push(await submit({ [id]: { class_type: "SaveImage", inputs: {} } }, { extra_pnginfo: { workflow: { id } } }));
    if (ids.length < 4) local.startJob();
    if (ids.length < 4) local.endJob();
  }
  const [first, second, third, last] = ids;
  expect(getIds(await get("/api/jobs?status=completed"))).toEqual([third, second, first]);
  expect(getIds(await get("/api/jobs?status=pending,failed"))).toEqual([last]);
  expect(getIds(await get("/api/jobs?workflow_id=w1&sort_order=asc"))).toEqual([first, third]);
  const page = await get("/api/jobs?sort_order=asc&offset=1&limit=2");
  expect([getIds(page), page.body.pagination]).toEqual([[second, third], { offset: 1, limit: 2, total: 4, has_more: true }]);
  expect((await get("/api/jobs?sort_by=execution_time&status=completed")).body.jobs).toHaveLength(3);
});

test("shows ended jobs immediately and removals by others within a minute", async () => {
  const ids = [];
  for (let count = 0; count < 3; count++) {
    ids.push(await submit({ [count]: { class_type: "SaveImage", inputs: {} } }));
    local.startJob();
    local.endJob();
    expect(getIds(await get("/api/jobs?status=completed"))).toEqual([...ids].reverse());
  }
  const requestCount = local.requests.length;
  await get("/api/jobs?status=completed");
  // No job has ended since, so one entry is read and not the whole history.
  expect(
    local.requests
      .slice(requestCount)
      .filter(({ url }) => url.startsWith("/api/history"))
      .map(({ url }) => url),
  ).toEqual(["/api/history?max_items=1"]);
  await call("POST", withConnection("/api/history"), { delete: [ids[1]] });
  expect(getIds(await get("/api/jobs?status=completed"))).toEqual([ids[2], ids[0]]);
  local.state.history.delete(ids[0] ?? "");
  now += 61_000;
  expect(getIds(await get("/api/jobs?status=completed"))).toEqual([ids[2]]);
});

test("returns a job's graph in every state, and 404 for a removed job", async () => {
  const prompt = { "7": { class_type: "SaveImage", inputs: { filename_prefix: "whole" } } };
  const id = await submit(prompt);
  for (const [state, advance] of [
    ["pending", local.startJob],
    ["in_progress", () => local.endJob()],
    ["completed", () => undefined],
  ] as const) {
    expect((await get(`/api/jobs/${id}`)).body).toMatchObject({ id, status: state, workflow: { prompt } });
    advance();
  }
  expect((await get(`/api/job/${id}/status`)).body).toMatchObject({ id, status: "completed" });
  local.restart();
  expect((await get(`/api/jobs/${id}`)).status).toBe(404);
});

/** The reader pauses four times as long as each page took, so it is slow on a busy machine. */
const readerTimeout = { timeoutMs: 60_000 };

test("marks a truncated history without a total or full search", async () => {
  await submit();
  local.startJob();
  local.endJob();
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
  const readList = async () => (await get("/api/jobs?offset=900")).body;
  const searchJobs = async () => {
    // One page of the list is read every 5 s.
    now += 5000;
    return (await get("/api/console/jobs/search?text=job-10")).body;
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
  const truncatedList = await readList();
  expect([truncatedList.jobs.length, truncatedList.is_cut, truncatedList.pagination]).toEqual([
    100,
    true,
    { offset: 900, limit: 100, has_more: false },
  ]);
  expect((await get("/api/jobs?status=pending")).body).toMatchObject({ pagination: { total: 0 } });
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
  expect(getIds(await get("/api/console/jobs/search?text=job-150"))).toEqual(["job-150"]);
}, 150_000);

test("reports assets as unsupported, even for an unknown id", async () => {
  for (const path of ["/api/assets", `/api/assets/${crypto.randomUUID()}`, "/api/tags"]) {
    const { status, body } = await get(path);
    expect([status, body.code], path).toEqual([501, "NOT_IMPLEMENTED"]);
    expect(body.message).toContain("asset library");
  }
});
