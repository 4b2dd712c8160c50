// Job details name the submitting member, since a connection's members share one user of the service.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { createAccessToken } from "@/tests/support/tokens";
import { until } from "@/tests/support/until";

const harness = await createHarness();

const graph = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } },
};
async function submit(): Promise<string> {
  const response = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt: graph } });
  return (await response.json()).prompt_id;
}
const readJson = async (path: string) => (await harness.request(path, { as: "viewer" })).json();

test("names the submitting member by the current name", async () => {
  const id = await submit();
  expect(await readJson(`/api/jobs/${id}`)).toMatchObject({ id, submitted_by: "operator" });
  await harness.request("/api/console/account", { as: "operator", method: "PUT", json: { name: "Ana Ruiz" } });
  expect(await readJson(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect((await harness.console.store.audit.list({ action: "submitPrompt" }, 1))[0]).toMatchObject({ target: id, memberName: "operator" });
});

test("names members in all lists and exports, but not other clients", async () => {
  const id = await submit();
  const [jobs, searchResult] = await Promise.all(["/api/jobs", "/api/console/jobs/search?within=1"].map(readJson));
  const submitter = { submitted_by: "Ana Ruiz" };
  expect(jobs.jobs).toContainEqual(expect.objectContaining({ id, ...submitter }));
  expect(searchResult.jobs).toContainEqual(expect.objectContaining({ id, ...submitter }));
  await until("the job is in the history", async () =>
    (await readJson("/api/history_v2")).history.some((entry: { prompt_id: string }) => entry.prompt_id === id),
  );
  expect((await readJson("/api/history_v2")).history).toContainEqual(expect.objectContaining({ prompt_id: id, ...submitter }));
  const csv = await (await harness.request("/api/console/jobs/export?format=csv", { as: "viewer" })).text();
  const [header = "", ...lines] = csv.split("\r\n");
  const getSubmitter = (line: string) => line.split(",")[header.split(",").indexOf("submitted_by")];
  expect(getSubmitter(lines.find((line) => line.startsWith(id)) ?? "")).toBe("Ana Ruiz");
});

test("names a token and its member in lists, details, files and usage", async () => {
  const { token } = await createAccessToken(harness, "operator", { name: "nightly" });
  const response = await harness.request("/api/prompt", {
    method: "POST",
    json: { prompt: graph },
    headers: { authorization: `Bearer ${token}` },
  });
  const id: string = (await response.json()).prompt_id;
  const namedRow = { id, submitted_by: "Ana Ruiz", submitted_token: "nightly" };
  expect(await readJson(`/api/jobs/${id}`)).toMatchObject(namedRow);
  for (const path of ["/api/jobs", "/api/console/jobs/search?within=1"])
    expect((await readJson(path)).jobs).toContainEqual(expect.objectContaining(namedRow));
  const csv = await (await harness.request("/api/console/jobs/export?format=csv", { as: "viewer" })).text();
  expect(csv.split("\r\n").find((line) => line.startsWith(id))).toContain(",token nightly (Ana Ruiz),");
  const { rows } = await (await harness.request("/api/console/usage", { as: "operator" })).json();
  expect(rows).toContainEqual(
    expect.objectContaining({ member: expect.objectContaining({ name: "Ana Ruiz", token: "nightly" }), runs: 1 }),
  );
  const file = await (await harness.request("/api/console/usage/export", { as: "operator" })).text();
  expect(file).toContain(",token nightly (Ana Ruiz),");
});

test("shows the prompt of unnamed jobs and the matched words of search results", async () => {
  const texts = { "3": { class_type: "PreviewAny", inputs: { source: "A red  fox\nin the snow" } } };
  const response = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt: { ...graph, ...texts } } });
  const id: string = (await response.json()).prompt_id;
  await harness.console.jobIndex.flush();
  const { jobs } = await readJson("/api/jobs");
  expect(jobs).toContainEqual(expect.objectContaining({ id, prompt_excerpt: "A red fox" }));
  const searchResult = await readJson("/api/console/jobs/search?text=snow+FOX");
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
  expect((await readJson("/api/console/jobs/search?within=1")).jobs[0]).not.toHaveProperty("search_match");
});

test("includes the chosen input columns in exported files", async () => {
  const id = await submit();
  const inputs = "input:*EmptyImage:width,input:9:none,bogus";
  const getExportUrl = (format: string) => `/api/console/jobs/export?format=${format}&ids=${id}&inputs=${encodeURIComponent(inputs)}`;
  const csv = await (await harness.request(getExportUrl("csv"), { as: "viewer" })).text();
  const [header = "", line = ""] = csv.split("\r\n");
  expect([header.endsWith(",EmptyImage.width,9.none"), line.endsWith(",8,")]).toEqual([true, true]);
  const json = await (await harness.request(getExportUrl("json"), { as: "viewer" })).json();
  expect(json.jobs).toMatchObject([{ id, inputs: [{ name: "EmptyImage.width", value: "8" }] }]);
});

test("keeps a removed member's name, and finds jobs by it", async () => {
  const id = await submit();
  const { memberId } = harness.getViewer("operator");
  await harness.console.store.members.remove(memberId);
  expect(await readJson(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect(await readJson("/api/console/jobs/people")).toEqual({ people: [{ id: memberId, name: "Ana Ruiz" }] });
  for (const query of [`member=${memberId}`, "text=ruiz"]) {
    const { jobs } = await readJson(`/api/console/jobs/search?${query}`);
    expect(jobs).toContainEqual(expect.objectContaining({ id, submitted_by: "Ana Ruiz" }));
  }
});

test("ignores a submitter that the service reports for a job", async () => {
  const reportedJob = { id: "j", status: "completed", submitted_by: "Olga Owner" };
  const service = await openTestServer(({ url = "" }, response) =>
    sendJsonResponse(
      response,
      url.includes("/jobs/j") ? reportedJob : { jobs: [reportedJob], pagination: { offset: 0, limit: 100, total: 1 } },
    ),
  );
  const connection = await harness.connect(service.url, "sk-key");
  const job = await readJson(`/api/jobs/j?connection=${connection}`);
  expect(job).toMatchObject({ id: "j", status: "completed" });
  expect(job).not.toHaveProperty("submitted_by");
  const { jobs } = await readJson(`/api/jobs?connection=${connection}`);
  expect(jobs).toMatchObject([{ id: "j" }]);
  expect(jobs[0]).not.toHaveProperty("submitted_by");
});
