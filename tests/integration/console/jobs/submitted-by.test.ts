// Names of members, workflows and prompts in job details and lists. A connection's members share one user of the service.
import { expect, test } from "vitest";
import { connectService, createConnectionClient, createJobPage } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";

const harness = await createHarness();
const { send, getJson, post } = createConnectionClient(harness, "embedded");

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } },
};
async function submit({ nodes = {}, workflow = {} }: { nodes?: object; workflow?: object } = {}): Promise<string> {
  const json = { prompt: { ...graph, ...nodes }, extra_data: { extra_pnginfo: { workflow } } };
  return (await (await post("/api/prompt", json, { as: "operator" })).json()).prompt_id;
}
const readCsv = async (path: string) => {
  const [header = "", ...lines] = (await (await send(path)).text()).split("\r\n");
  return { header, lines };
};

test("names the submitting member by the current name", async () => {
  const id = await submit();
  expect(await getJson(`/api/jobs/${id}`)).toMatchObject({ id, submitted_by: "operator" });
  await harness.request("/api/console/account", { as: "operator", method: "PUT", json: { name: "Ana Ruiz" } });
  expect(await getJson(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect((await harness.console.store.audit.list({ action: "submitPrompt" }, 1))[0]).toMatchObject({ target: id, memberName: "operator" });
});

test("names members in all lists and exports, but not other clients", async () => {
  const id = await submit();
  const [jobs, searchResult] = await Promise.all(["/api/jobs", "/api/console/jobs/search?within=1"].map((path) => getJson(path)));
  const submitter = { submitted_by: "Ana Ruiz" };
  expect(jobs.jobs).toContainEqual(expect.objectContaining({ id, ...submitter }));
  expect(searchResult.jobs).toContainEqual(expect.objectContaining({ id, ...submitter }));
  await until("the job is in the history", async () =>
    (await getJson("/api/history_v2")).history.some((entry: { prompt_id: string }) => entry.prompt_id === id),
  );
  expect((await getJson("/api/history_v2")).history).toContainEqual(expect.objectContaining({ prompt_id: id, ...submitter }));
  const { header, lines } = await readCsv("/api/console/jobs/export?format=csv");
  const getSubmitter = (line: string) => line.split(",")[header.split(",").indexOf("submitted_by")];
  expect(getSubmitter(lines.find((line) => line.startsWith(id)) ?? "")).toBe("Ana Ruiz");
});

test("names a token and its member in lists, details, files and usage", async () => {
  const { token } = await createAccessToken(harness, "operator", { name: "nightly" });
  const response = await post("/api/prompt", { prompt: graph }, { as: undefined, headers: { authorization: `Bearer ${token}` } });
  const id: string = (await response.json()).prompt_id;
  const namedRow = { id, submitted_by: "Ana Ruiz", submitted_token: "nightly" };
  expect(await getJson(`/api/jobs/${id}`)).toMatchObject(namedRow);
  for (const path of ["/api/jobs", "/api/console/jobs/search?within=1"])
    expect((await getJson(path)).jobs).toContainEqual(expect.objectContaining(namedRow));
  const { lines } = await readCsv("/api/console/jobs/export?format=csv");
  expect(lines.find((line) => line.startsWith(id))).toContain(",token nightly (Ana Ruiz),");
  const { rows } = await (await harness.request("/api/console/usage", { as: "operator" })).json();
  expect(rows).toContainEqual(
    expect.objectContaining({ member: expect.objectContaining({ name: "Ana Ruiz", token: "nightly" }), runs: 1 }),
  );
  const file = await (await harness.request("/api/console/usage/export", { as: "operator" })).text();
  expect(file).toContain(",token nightly (Ana Ruiz),");
});

test("shows the prompt of unnamed jobs and the matched words of search results", async () => {
  const id = await submit({ nodes: { "3": { class_type: "PreviewAny", inputs: { source: "A red  fox\nin the snow" } } } });
  await harness.console.jobIndex.flush();
  const { jobs } = await getJson("/api/jobs");
  expect(jobs).toContainEqual(expect.objectContaining({ id, prompt_excerpt: "A red fox" }));
  const searchResult = await getJson("/api/console/jobs/search?text=snow+FOX");
  expect(searchResult.jobs).toMatchObject([
    {
      id,
      search_match: {
        text: "A red fox in the snow",
        marks: [
          [6, 9],
          [17, 21],
        ],
      },
    },
  ]);
  expect((await getJson("/api/console/jobs/search?within=1")).jobs[0]).not.toHaveProperty("search_match");
});

test("includes the chosen input columns in exported files", async () => {
  const id = await submit();
  const inputs = "input:*EmptyImage:width,input:9:none,bogus";
  const getExportPath = (format: string) => `/api/console/jobs/export?format=${format}&ids=${id}&inputs=${encodeURIComponent(inputs)}`;
  const { header, lines } = await readCsv(getExportPath("csv"));
  expect([header.endsWith(",EmptyImage.width,9.none"), lines[0]?.endsWith(",8,")]).toEqual([true, true]);
  const json = await getJson(getExportPath("json"));
  expect(json.jobs).toMatchObject([{ id, inputs: [{ name: "EmptyImage.width", value: "8" }] }]);
});

test("ignores a submitter that the service reports for a job", async () => {
  const reportedJob = { id: "j", status: "completed", submitted_by: "Olga Owner" };
  const service = await connectService(harness, ({ url = "" }, response) =>
    sendJsonResponse(response, url.includes("/jobs/j") ? reportedJob : createJobPage([reportedJob])),
  );
  for (const job of [await service.getJson("/api/jobs/j"), (await service.getJson("/api/jobs")).jobs[0]]) {
    expect(job).toMatchObject({ id: "j", status: "completed" });
    expect(job).not.toHaveProperty("submitted_by");
  }
});

const findListedJob = async (id: string) => (await getJson("/api/jobs")).jobs.find((job: { id: string }) => job.id === id);

test("shows a workflow's latest name for all its jobs, but no name if unnamed", async () => {
  const id = "3d1f2a54-8f6f-4a86-9b7c-0c2a5d1e9f10";
  const jobId = await submit({ workflow: { id, name: "product-hero-v4" } });
  expect(await findListedJob(jobId)).toMatchObject({ workflow_id: id, workflow_name: "product-hero-v4" });
  await submit({ workflow: { id, name: "product-hero-v5" } });
  expect(await findListedJob(jobId)).toMatchObject({ workflow_name: "product-hero-v5" });
  const unnamedJob = await findListedJob(await submit());
  expect(unnamedJob.workflow_id).toBeTypeOf("string");
  expect(unnamedJob).not.toHaveProperty("workflow_name");
});

test("adds workflow names to a long job list while streaming it", async () => {
  const namedJob = { id: "named", status: "completed", create_time: 1, workflow_id: "w-1" };
  const jobs = Array.from({ length: 2_500 }, (_, index) => ({ ...namedJob, id: `job-${index}`, note: "x".repeat(500) }));
  const service = await connectService(harness, ({ method }, response) =>
    sendJsonResponse(
      response,
      method === "POST" ? { prompt_id: "named", number: 1, node_errors: {} } : { jobs: [...jobs, namedJob], pagination: {} },
    ),
  );
  const json = { prompt: graph, extra_data: { extra_pnginfo: { workflow: { id: "w-1", name: "Lighthouse" } } } };
  expect((await service.post("/api/prompt", json, { as: "operator" })).status).toBe(200);
  const list: { workflow_name?: string }[] = (await service.getJson("/api/jobs")).jobs;
  expect(list).toHaveLength(2_501);
  expect(list.every(({ workflow_name }) => workflow_name === "Lighthouse")).toBe(true);
});

test("keeps a removed member's name and finds jobs by it", async () => {
  const id = await submit();
  const { memberId } = harness.getViewer("operator");
  await harness.console.store.members.remove(memberId);
  expect(await getJson(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect(await getJson("/api/console/jobs/people")).toEqual({ people: [{ id: memberId, name: "Ana Ruiz" }] });
  for (const query of [`member=${memberId}`, "text=ruiz"]) {
    const { jobs } = await getJson(`/api/console/jobs/search?${query}`);
    expect(jobs).toContainEqual(expect.objectContaining({ id, submitted_by: "Ana Ruiz" }));
  }
});
