// A service that sends single jobs in an unknown shape: the others are shown, with a note of how many are missing.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createHarness, type Harness } from "@/tests/support/harness";
import { answerJson, type LittleServer, startLittleServer } from "@/tests/support/little-server";

let harness: Harness;
const servers: LittleServer[] = [];
beforeAll(async () => {
  harness = await createHarness({ upstreamLimits: { attempts: 1 } });
});
afterAll(() => harness.dispose());
afterEach(async () => void (await Promise.all(servers.splice(0).map((server) => server.close()))));

async function connect(lists: { jobs?: unknown; history?: unknown; pagination?: unknown }) {
  const server = await startLittleServer((seen, response) => {
    if (/^\/api\/(jobs|history_v2)/.test(seen.url)) answerJson(response, lists);
    else answerJson(response, { error: "not here" }, 404);
  });
  servers.push(server);
  const connection = await harness.connect(server.url, "comfyui-0123456789abcdef0123456789abcdef");
  return (path: string) => harness.request(`${path}${path.includes("?") ? "&" : "?"}connection=${connection}`, { as: "viewer" });
}

const good = { id: "job-1", status: "pending", create_time: 1_767_225_600_000 };
const strange = [{ id: 7, status: "pending" }, { status: "completed" }, null, "job-2"];
const pagination = { offset: 0, limit: 100, total: 5, has_more: false };

test("the list, the queue and the history show what can be read and count what cannot", async () => {
  const get = await connect({
    jobs: [strange[0], good, ...strange.slice(1)],
    pagination,
    history: [{ prompt_id: "job-1" }, { prompt_id: 3 }],
  });
  const list = await (await get("/api/jobs")).json();
  expect(list).toMatchObject({ jobs: [{ id: "job-1" }], unreadable: 4, pagination: { total: 5 } });
  expect(await (await get("/api/console/queue")).json()).toMatchObject({ pending: [{ id: "job-1" }], running: [], unreadable: 4 });
  expect(await (await get("/api/history_v2?max_items=10")).json()).toMatchObject({ history: [{ prompt_id: "job-1" }], unreadable: 1 });
});

test("a list whose only entry cannot be read says so", async () => {
  const get = await connect({ jobs: strange, pagination });
  expect(await (await get("/api/jobs")).json()).toMatchObject({ jobs: [], unreadable: 4 });
});

test("assets show what can be read and count what cannot", async () => {
  const server = await startLittleServer((_, response) => {
    const asset = { id: "5f0c7a5e-0000-4000-8000-000000000001", name: "a.png", tags: [], created_at: "2026-01-01T00:00:00Z" };
    answerJson(response, { assets: [{ ...asset, id: 7 }, asset], total: 2, has_more: false });
  });
  servers.push(server);
  const connection = await harness.connect(server.url, "comfyui-0123456789abcdef0123456789abcdef");
  const answer = await harness.request(`/api/assets?connection=${connection}`, { as: "viewer" });
  expect(await answer.json()).toMatchObject({ assets: [{ name: "a.png" }], unreadable: 1 });
});

test("a file of them ends with what is missing", async () => {
  const get = await connect({ jobs: [good, strange[1]], pagination });
  const lines = (await (await get("/api/console/jobs/export?format=csv")).text()).trim().split("\r\n");
  expect(lines[1]).toMatch(/^job-1,/);
  expect(lines.at(-1)).toMatch(/^INCOMPLETE: 1 of 5 jobs\. UNPROCESSABLE: 1 jobs of the list could not be read/);
});

test.each([
  ["another fault beside", { jobs: [good, strange[0]], pagination: "none" }],
  ["no list", { jobs: { "job-1": good }, pagination }],
])("an answer with %s is no list of jobs", async (_, answer) => {
  const get = await connect(answer);
  const response = await get("/api/jobs");
  expect(response.status).toBe(502);
});
