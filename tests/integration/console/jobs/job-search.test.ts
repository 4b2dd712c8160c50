// Finds jobs by words, time and member in the console's job index.
import { expect, test } from "vitest";
import { type JobPeople, type JobSearchAnswer } from "@/lib/contract/console";
import { type Role } from "@/lib/contract/people/roles";
import { findJobElsewhere } from "@/lib/server/jobs/job-search";
import { createHarness } from "@/tests/support/harness";
import { until } from "@/tests/support/until";

const harness = await createHarness();

const withTexts = (...texts: string[]) => ({
  ...Object.fromEntries(texts.map((value, at) => [`t${at}`, { class_type: "PrimitiveString", inputs: { value } }])),
  ...Object.fromEntries(texts.map((_, at) => [`p${at}`, { class_type: "PreviewAny", inputs: { source: [`t${at}`, 0] } }])),
});
const failing = (message: string) => ({
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
async function find(query: string, as: Role = "viewer"): Promise<JobSearchAnswer> {
  const response = await harness.request(`/api/console/jobs/search?${query}`, { as });
  expect(response.status).toBe(200);
  return response.json();
}
const getIds = async (query: string) => (await find(query)).jobs.map((job) => job.id);
const ended = (id: string) =>
  until(`job ${id} has ended`, async () => {
    const job = await (await harness.request(`/api/jobs/${id}`, { as: "viewer" })).json();
    return job.status === "completed" || job.status === "failed";
  });

test("finds a job by prompt words in any order, part and case", async () => {
  const id = await submit(withTexts("A Lighthouse at dusk, volumetric FOG", "unrelated"));
  for (const text of ["lighthouse", "fog dusk", "ighthous", '"at dusk, vol"']) {
    expect(await getIds(`text=${encodeURIComponent(text)}`), text).toEqual([id]);
  }
  for (const text of ["lighthouse rain", '"dusk at"', "at x"]) expect(await getIds(`text=${encodeURIComponent(text)}`), text).toEqual([]);
});

test("finds a job by its short id or a longer prefix within the filters", async () => {
  const id = await submit(withTexts("nothing that tells it"));
  await ended(id);
  for (const text of [id.slice(0, 8), id.slice(0, 8).toUpperCase(), id.slice(0, 13), id])
    expect(await getIds(`text=${encodeURIComponent(text)}`), text).toEqual([id]);
  expect(await getIds(`text=${id.slice(0, 8)}&status=completed`)).toEqual([id]);
  expect(await getIds(`text=${id.slice(0, 8)}&status=failed`)).toEqual([]);
  expect(await getIds(`text=${id.slice(1, 9)}`)).toEqual([]);
});

test("matches one and two letters in Chinese and whole words elsewhere", async () => {
  const id = await submit(withTexts("雪山下的木屋，4k 写实"));
  for (const text of ["木屋", "雪", "雪山下", "4k", "写实"]) expect(await getIds(`text=${encodeURIComponent(text)}`), text).toEqual([id]);
  expect(await getIds(`text=${encodeURIComponent("木山")}`)).toEqual([]);
});

test("finds a job by workflow name, also by a later one", async () => {
  const workflow = { id: "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10" };
  const id = await submit(withTexts("first"), { workflow });
  expect(await getIds("text=product-hero")).toEqual([]);
  const later = await submit(withTexts("second"), { workflow: { ...workflow, name: "Product-Hero v4" } });
  expect(await getIds("text=product-hero")).toEqual([later, id]);
});

test("finds a failed job by words of its error once seen", async () => {
  const id = await submit(failing("the quartz kiln exploded"));
  await ended(id);
  expect(await getIds("text=kiln&status=failed")).toEqual([id]);
  expect(await getIds("text=kiln&status=completed")).toEqual([]);
});

test("finds jobs by member, by name and by choice", async () => {
  const id = await submit(withTexts("mine alone"), { as: "admin" });
  const { people }: JobPeople = await (await harness.request("/api/console/jobs/people", { as: "viewer" })).json();
  expect(people.map(({ name }) => name)).toEqual(["admin", "operator"]);
  const admin = people.find(({ name }) => name === "admin")?.id ?? "";
  expect(await getIds(`member=${admin}`)).toEqual([id]);
  expect(await getIds(`member=${admin}&text=mine`)).toEqual([id]);
  expect(await getIds("text=admin")).toEqual([id]);
});

test("excludes jobs outside a range of time", async () => {
  const id = await submit(withTexts("rangefinder"));
  await until("its own time is known", async () => (await find("text=rangefinder")).jobs[0]?.create_time !== undefined);
  const at = Number((await find("text=rangefinder")).jobs[0]?.create_time);
  expect(await getIds(`text=rangefinder&from=${at - 5000}&to=${at + 5000}`)).toEqual([id]);
  expect(await getIds(`text=rangefinder&to=${at - 5000}`)).toEqual([]);
  expect(await getIds(`text=rangefinder&from=${at + 5000}`)).toEqual([]);
  expect(await getIds("text=rangefinder&within=1")).toEqual([id]);
});

test("pages, totals and orders are those of the list", async () => {
  const ids = [];
  for (let at = 0; at < 3; at += 1) ids.push(await submit(withTexts("paginated", String(at))));
  await until("all are listed by their time", async () => (await find("text=paginated")).jobs.every((job) => job.status === "completed"));
  const list = await find("text=paginated&limit=2");
  expect(list).toMatchObject({ pagination: { offset: 0, limit: 2, total: 3, has_more: true } });
  expect(list.jobs.map((job) => job.id)).toEqual([ids[2], ids[1]]);
  expect(await getIds("text=paginated&limit=2&offset=2")).toEqual([ids[0]]);
  expect(await getIds("text=paginated&sort_order=asc")).toEqual(ids);
  expect((await getIds("text=paginated&sort_by=execution_time")).length).toBe(3);
});

test("doesn't find a job removed from the history", async () => {
  const id = await submit(withTexts("ephemeral"));
  await ended(id);
  expect(await getIds("text=ephemeral")).toEqual([id]);
  await harness.request("/api/history", { as: "operator", method: "POST", json: { delete: [id] } });
  expect(await getIds("text=ephemeral")).toEqual([]);
});

test("neither indexes nor stores a secret in an input", async () => {
  const secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
  const prompt = withTexts(`watercolour Bearer ${secret}`);
  const graph = { ...prompt, t0: { ...prompt.t0, inputs: { value: `watercolour ${secret}`, api_key: "hunter2hunter2hunter2" } } };
  const id = await submit(graph);
  await ended(id);
  expect(await getIds("text=watercolour")).toEqual([id]);
  for (const word of ["abcdefghij", "hunter2", "sk-abc"]) expect(await getIds(`text=${word}`)).toEqual([]);
  const storedText = await harness.stored();
  expect(storedText).toContain(id);
  for (const word of ["abcdefghijklmnop", "hunter2hunter2"]) expect(storedText).not.toContain(word);
});

test("refuses to search another member's own connection", async () => {
  const { store, now } = harness.console;
  const { memberId } = harness.viewerOf("admin");
  const ownConnection = await store.connections.create({ name: "Own", baseUrl: "http://127.0.0.1:9", memberId, createdAt: now() });
  for (const path of ["search?text=a&", "people?"]) {
    const response = await harness.request(`/api/console/jobs/${path}connection=${ownConnection.id}`, { as: "owner" });
    expect(response.status).toBe(404);
  }
  const file = await harness.request(`/api/console/jobs/export?text=a&connection=${ownConnection.id}`, { as: "owner" });
  expect(file.status).toBe(404);
});

test("names the parameter of an invalid query", async () => {
  const response = await harness.request("/api/console/jobs/search?from=yesterday", { as: "viewer" });
  expect(response.status).toBe(400);
  expect((await response.json()).message).toContain("from");
});

test("finds a job on the member's other connections only", async () => {
  const { store, now } = harness.console;
  const jobId = crypto.randomUUID();
  const connectionFields = { name: "Line", baseUrl: "http://127.0.0.1:1", createdAt: now() };
  const { memberId } = harness.viewerOf("admin");
  const otherConnection = await store.connections.create({ ...connectionFields, memberId });
  await store.members.setLastConnection(memberId, "embedded");
  await store.jobIndexStore.note(otherConnection.id, [{ jobId, createdMs: now(), item: { id: jobId, status: "completed" } }], 100);
  expect(await findJobElsewhere(harness.contextOf("viewer"), jobId)).toBeUndefined();
  expect(await findJobElsewhere(harness.contextOf("admin"), jobId)).toBe(otherConnection.id);
  const shared = await store.connections.create(connectionFields);
  await store.jobIndexStore.note(shared.id, [{ jobId, createdMs: now(), item: { id: jobId, status: "completed" } }], 100);
  expect(await findJobElsewhere(harness.contextOf("viewer"), jobId)).toBe(shared.id);
});
