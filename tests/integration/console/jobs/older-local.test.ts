// A local server older than /api/jobs: its queue and its history provide the list, the details and the pages of the history.
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
const at = (path: string) => `${path}${path.includes("?") ? "&" : "?"}connection=${connection}`;
const get = (path: string) => call("GET", at(path));
const submit = async (prompt: object = { "1": { class_type: "SaveImage", inputs: {} } }, extra_data = {}) => {
  now += 1000;
  const { body } = await call("POST", at("/api/prompt"), { prompt, extra_data });
  return String(body.prompt_id);
};
const getIds = (response: { body: { jobs: { id: string }[] } }) => response.body.jobs.map(({ id }) => id);

test("lists waiting, running and ended jobs with states, times and pictures", async () => {
  const ended = await submit();
  local.begin();
  const picture = { filename: "a_00001_.png", subfolder: "", type: "output" };
  local.end({ "1": { text: ["said"], images: [{ filename: "t.png", subfolder: "", type: "temp" }, picture] } });
  const stopped = await submit();
  local.begin();
  local.interrupt("1");
  const running = await submit();
  local.begin();
  const waiting = await submit();
  const { status, body } = await get("/api/jobs");
  expect(status).toBe(200);
  expect(body.jobs).toMatchObject([
    { id: waiting, status: "pending", create_time: now },
    { id: running, status: "in_progress", create_time: now - 1000 },
    { id: stopped, status: "cancelled" },
    { id: ended, status: "completed", outputs_count: 2, preview_output: { ...picture, nodeId: "1", mediaType: "images" } },
  ]);
  expect(body.pagination).toMatchObject({ total: 4, has_more: false });
  expect(body.jobs[3].execution_end_time - body.jobs[3].execution_start_time).toBe(1000);
});

test("filters by state and workflow, sorts both ways and pages", async () => {
  const ids: string[] = [];
  for (const id of ["w1", "w2", "w1", "w2"]) {
    ids.push(await submit({ [id]: { class_type: "SaveImage", inputs: {} } }, { extra_pnginfo: { workflow: { id } } }));
    if (ids.length < 4) local.begin();
    if (ids.length < 4) local.end();
  }
  const [first, second, third, last] = ids;
  expect(getIds(await get("/api/jobs?status=completed"))).toEqual([third, second, first]);
  expect(getIds(await get("/api/jobs?status=pending,failed"))).toEqual([last]);
  expect(getIds(await get("/api/jobs?workflow_id=w1&sort_order=asc"))).toEqual([first, third]);
  const page = await get("/api/jobs?sort_order=asc&offset=1&limit=2");
  expect([getIds(page), page.body.pagination]).toEqual([[second, third], { offset: 1, limit: 2, total: 4, has_more: true }]);
  expect((await get("/api/jobs?sort_by=execution_time&status=completed")).body.jobs).toHaveLength(3);
});

test("lists ended jobs immediately and removals by others within a minute", async () => {
  const ids = [];
  for (let count = 0; count < 3; count++) {
    ids.push(await submit({ [count]: { class_type: "SaveImage", inputs: {} } }));
    local.begin();
    local.end();
    expect(getIds(await get("/api/jobs?status=completed"))).toEqual([...ids].reverse());
  }
  const before = local.requests.length;
  await get("/api/jobs?status=completed");
  // No job has ended since, so one entry is read and not the whole history.
  expect(
    local.requests
      .slice(before)
      .filter(({ url }) => url.startsWith("/api/history"))
      .map(({ url }) => url),
  ).toEqual(["/api/history?max_items=1"]);
  await call("POST", at("/api/history"), { delete: [ids[1]] });
  expect(getIds(await get("/api/jobs?status=completed"))).toEqual([ids[2], ids[0]]);
  local.place.history.delete(ids[0] ?? "");
  now += 61_000;
  expect(getIds(await get("/api/jobs?status=completed"))).toEqual([ids[2]]);
});

test("returns a job's graph in every state, and 404 for a removed job", async () => {
  const prompt = { "7": { class_type: "SaveImage", inputs: { filename_prefix: "whole" } } };
  const id = await submit(prompt);
  for (const [state, move] of [
    ["pending", local.begin],
    ["in_progress", () => local.end()],
    ["completed", () => undefined],
  ] as const) {
    expect((await get(`/api/jobs/${id}`)).body).toMatchObject({ id, status: state, workflow: { prompt } });
    move();
  }
  expect((await get(`/api/job/${id}/status`)).body).toMatchObject({ id, status: "completed" });
  local.restart();
  expect((await get(`/api/jobs/${id}`)).status).toBe(404);
});

/** The reader pauses four times as long as each page took, so it is slow on a busy machine. */
const patience = { timeoutMs: 60_000 };

test("marks a truncated history without a total or full search", async () => {
  await submit();
  local.begin();
  local.end();
  const [entry] = local.place.history.values();
  if (!entry) throw new Error("nothing has ended");
  const add = (from: number, to: number) => {
    for (let index = from; index < to; index += 1) {
      const [number, , graph, extra, outputs] = entry.prompt;
      const created = { ...extra, create_time: now - 5_000_000 + index * 1000 };
      local.place.history.set(`job-${index}`, { ...entry, prompt: [number + index, `job-${index}`, graph, created, outputs] });
    }
  };
  local.place.history.clear();
  const list = async () => (await get("/api/jobs?offset=900")).body;
  const search = async () => {
    // One page of the list is read every 5 s.
    now += 5000;
    return (await get("/api/console/jobs/search?text=job-10")).body;
  };
  add(0, 1000);
  now += 61_000;
  expect(await list()).toMatchObject({ pagination: { total: 1000, has_more: false } });
  // These jobs are older than those already read, and are found the next day.
  now += 25 * 60 * 60_000;
  const oldestMs = local.place.history.get("job-0")?.prompt[3].create_time;
  const isRead = ({ extent, sinceMs }: JobReach) => extent === "all" && sinceMs === oldestMs;
  await until("all of them are read", async () => isRead((await search()).reach), patience);
  add(1000, 1300);
  now += 61_000;
  const cut = await list();
  expect([cut.jobs.length, cut.is_cut, cut.pagination]).toEqual([100, true, { offset: 900, limit: 100, has_more: false }]);
  expect((await get("/api/jobs?status=pending")).body).toMatchObject({ pagination: { total: 0 } });
  // The next day the list is read again.
  now += 25 * 60 * 60_000;
  const reported = new Set<number | undefined>();
  await until(
    "it is said",
    async () => {
      const { extent, sinceMs } = (await search()).reach;
      if (extent !== "reading") reported.add(sinceMs);
      return extent === "newest";
    },
    patience,
  );
  // Jobs no longer listed by the server were read before; they stay searchable, also while the list is read again.
  expect([...reported]).toEqual([oldestMs]);
  expect(getIds(await get("/api/console/jobs/search?text=job-150"))).toEqual(["job-150"]);
}, 150_000);

test("has no assets, and 404 for ids without calling them deleted", async () => {
  for (const path of ["/api/assets", `/api/assets/${crypto.randomUUID()}`, "/api/tags"]) {
    const { status, body } = await get(path);
    expect([status, body.code], path).toEqual([501, "NOT_IMPLEMENTED"]);
    expect(body.message).toContain("asset library");
  }
});
