// Finds jobs by words, time and member in the console's job index.
import { expect, test } from "vitest";
import { type JobPeople, type JobSearchResponse } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/members/roles";
import { findConnectionWithJob } from "@/lib/server/jobs/job-search";
import { createHarness } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

const harness = await createHarness();

const createTextGraph = (...texts: string[]) => ({
  ...Object.fromEntries(texts.map((value, at) => [`t${at}`, { class_type: "PrimitiveString", inputs: { value } }])),
  ...Object.fromEntries(texts.map((_, at) => [`p${at}`, { class_type: "PreviewAny", inputs: { source: [`t${at}`, 0] } }])),
});
const createFailingGraph = (message: string) => ({
  i: { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  f: { class_type: "Fail", inputs: { message, anything: ["i", 0] } },
  s: { class_type: "PreviewImage", inputs: { images: ["f", 0] } },
});

async function submit(prompt: unknown, { as = "operator", workflow = {} }: { as?: Role; workflow?: object } = {}): Promise<string> {
  const json = { prompt, extra_data: { extra_pnginfo: { workflow } } };
  const response = await harness.request("/api/prompt", { as, method: "POST", json });
  expect(response.status).toBe(200);
  return (await response.json()).prompt_id;
}
async function searchJobs(query: string): Promise<JobSearchResponse> {
  const response = await harness.request(`/api/console/jobs/search?${query}`, { as: "viewer" });
  expect(response.status).toBe(200);
  return response.json();
}
const getIds = async (query: string) => (await searchJobs(query)).jobs.map((job) => job.id);
const findIds = (text: string) => getIds(`text=${encodeURIComponent(text)}`);
const waitForJob = (id: string) =>
  until(`job ${id} has ended`, async () => {
    const job = await (await harness.request(`/api/jobs/${id}`, { as: "viewer" })).json();
    return job.status === "completed" || job.status === "failed";
  });

test("finds a job by prompt words in any order, part and case", async () => {
  const id = await submit(createTextGraph("A Lighthouse at dusk, volumetric FOG", "unrelated"));
  for (const text of ["lighthouse", "fog dusk", "ighthous", '"at dusk, vol"']) expect(await findIds(text), text).toEqual([id]);
  for (const text of ["lighthouse rain", '"dusk at"', "at x"]) expect(await findIds(text), text).toEqual([]);
});

test("finds a job by its short id or a longer prefix within the filters", async () => {
  const id = await submit(createTextGraph("unrelated text"));
  await waitForJob(id);
  for (const text of [id.slice(0, 8), id.slice(0, 8).toUpperCase(), id.slice(0, 13), id]) expect(await findIds(text), text).toEqual([id]);
  expect(await getIds(`text=${id.slice(0, 8)}&status=completed`)).toEqual([id]);
  expect(await getIds(`text=${id.slice(0, 8)}&status=failed`)).toEqual([]);
  expect(await getIds(`text=${id.slice(1, 9)}`)).toEqual([]);
});

test("matches one and two letters in Chinese and whole words elsewhere", async () => {
  const id = await submit(createTextGraph("雪山下的木屋，4k 写实"));
  for (const text of ["木屋", "雪", "雪山下", "4k", "写实"]) expect(await findIds(text), text).toEqual([id]);
  expect(await findIds("木山")).toEqual([]);
});

test("finds a job by workflow name, also by a later one", async () => {
  const workflow = { id: "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10" };
  const id = await submit(createTextGraph("first"), { workflow });
  expect(await getIds("text=product-hero")).toEqual([]);
  const laterId = await submit(createTextGraph("second"), { workflow: { ...workflow, name: "Product-Hero v4" } });
  expect(await getIds("text=product-hero")).toEqual([laterId, id]);
});

test("finds a failed job by words of its error", async () => {
  const id = await submit(createFailingGraph("the quartz kiln exploded"));
  await waitForJob(id);
  expect(await getIds("text=kiln&status=failed")).toEqual([id]);
  expect(await getIds("text=kiln&status=completed")).toEqual([]);
});

test("finds jobs by member id and by member name", async () => {
  const id = await submit(createTextGraph("mine alone"), { as: "admin" });
  const { people }: JobPeople = await (await harness.request("/api/console/jobs/people", { as: "viewer" })).json();
  expect(people.map(({ name }) => name)).toEqual(["admin", "operator"]);
  const admin = people.find(({ name }) => name === "admin")?.id ?? "";
  expect(await getIds(`member=${admin}`)).toEqual([id]);
  expect(await getIds(`member=${admin}&text=mine`)).toEqual([id]);
  expect(await getIds("text=admin")).toEqual([id]);
});

test("excludes jobs outside a time range", async () => {
  const id = await submit(createTextGraph("rangefinder"));
  await until("the creation time is indexed", async () => (await searchJobs("text=rangefinder")).jobs[0]?.create_time !== undefined);
  const createdMs = Number((await searchJobs("text=rangefinder")).jobs[0]?.create_time);
  expect(await getIds(`text=rangefinder&from=${createdMs - 5000}&to=${createdMs + 5000}`)).toEqual([id]);
  expect(await getIds(`text=rangefinder&to=${createdMs - 5000}`)).toEqual([]);
  expect(await getIds(`text=rangefinder&from=${createdMs + 5000}`)).toEqual([]);
  expect(await getIds("text=rangefinder&within=1")).toEqual([id]);
});

test("pages, counts and sorts like the job list", async () => {
  const ids = [];
  for (let index = 0; index < 3; index += 1) ids.push(await submit(createTextGraph("paginated", String(index))));
  await until("all jobs have completed", async () => (await searchJobs("text=paginated")).jobs.every((job) => job.status === "completed"));
  const list = await searchJobs("text=paginated&limit=2");
  expect(list).toMatchObject({ pagination: { offset: 0, limit: 2, total: 3, has_more: true } });
  expect(list.jobs.map((job) => job.id)).toEqual([ids[2], ids[1]]);
  expect(await getIds("text=paginated&limit=2&offset=2")).toEqual([ids[0]]);
  expect(await getIds("text=paginated&sort_order=asc")).toEqual(ids);
  expect((await getIds("text=paginated&sort_by=execution_time")).length).toBe(3);
});

test("doesn't find a job removed from the history", async () => {
  const id = await submit(createTextGraph("ephemeral"));
  await waitForJob(id);
  expect(await getIds("text=ephemeral")).toEqual([id]);
  await harness.request("/api/history", { as: "operator", method: "POST", json: { delete: [id] } });
  expect(await getIds("text=ephemeral")).toEqual([]);
});

test("neither indexes nor stores a secret in an input", async () => {
  const secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
  const prompt = createTextGraph(`watercolour Bearer ${secret}`);
  const graph = { ...prompt, t0: { ...prompt.t0, inputs: { value: `watercolour ${secret}`, api_key: "hunter2hunter2hunter2" } } };
  const id = await submit(graph);
  await waitForJob(id);
  expect(await getIds("text=watercolour")).toEqual([id]);
  for (const word of ["abcdefghij", "hunter2", "sk-abc"]) expect(await getIds(`text=${word}`)).toEqual([]);
  const storedText = await harness.dumpStore();
  expect(storedText).toContain(id);
  for (const word of ["abcdefghijklmnop", "hunter2hunter2"]) expect(storedText).not.toContain(word);
});

test("refuses to search another member's own connection", async () => {
  const { store, now } = harness.console;
  const { memberId } = harness.getViewer("admin");
  const ownConnection = await store.connections.create({ name: "Own", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
  for (const path of ["search?text=a&", "people?", "export?text=a&"]) {
    const response = await harness.request(`/api/console/jobs/${path}connection=${ownConnection.id}`, { as: "owner" });
    expect([path, response.status]).toEqual([path, 404]);
  }
});

test("finds a job on the member's other connections only", async () => {
  const { store, now } = harness.console;
  const jobId = crypto.randomUUID();
  const connectionFields = { name: "Line", baseUrl: "http://127.0.0.1:1", createdAt: now() };
  const recordJob = (connectionId: string) =>
    store.jobIndexStore.recordJobs(connectionId, [{ jobId, createdMs: now(), item: { id: jobId, status: "completed" } }], 100);
  const { memberId } = harness.getViewer("admin");
  const otherConnection = await store.connections.create({ ...connectionFields, memberId });
  await store.members.setLastConnection(memberId, "embedded");
  await recordJob(otherConnection.id);
  expect(await findConnectionWithJob(harness.getContext("viewer"), jobId)).toBeUndefined();
  expect(await findConnectionWithJob(harness.getContext("admin"), jobId)).toBe(otherConnection.id);
  const shared = await store.connections.create(connectionFields);
  await recordJob(shared.id);
  expect(await findConnectionWithJob(harness.getContext("viewer"), jobId)).toBe(shared.id);
});
