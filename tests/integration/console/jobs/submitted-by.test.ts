// A job's details name the member who submitted it: members share a connection, and the service knows only one user.
import { expect, test } from "vitest";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { makeToken } from "@/tests/support/tokens";
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
const details = async (path: string) => (await harness.request(path, { as: "viewer" })).json();

test("names the submitting member by the current name", async () => {
  const id = await submit();
  expect(await details(`/api/jobs/${id}`)).toMatchObject({ id, submitted_by: "operator" });
  await harness.request("/api/console/account", { as: "operator", method: "PUT", json: { name: "Ana Ruiz" } });
  expect(await details(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect((await harness.console.store.audit.list({ action: "submitPrompt" }, 1))[0]).toMatchObject({ target: id, memberName: "operator" });
});

test("names members in all lists and exports, but not other clients", async () => {
  const id = await submit();
  const [jobs, searchResult] = await Promise.all(["/api/jobs", "/api/console/jobs/search?within=1"].map(details));
  const filter = { submitted_by: "Ana Ruiz" };
  expect(jobs.jobs).toContainEqual(expect.objectContaining({ id, ...filter }));
  expect(searchResult.jobs).toContainEqual(expect.objectContaining({ id, ...filter }));
  await until("the job is in the history", async () =>
    (await details("/api/history_v2")).history.some((entry: { prompt_id: string }) => entry.prompt_id === id),
  );
  expect((await details("/api/history_v2")).history).toContainEqual(expect.objectContaining({ prompt_id: id, ...filter }));
  const csv = await (await harness.request("/api/console/jobs/export?format=csv", { as: "viewer" })).text();
  const [head = "", ...lines] = csv.split("\r\n");
  const cell = (line: string) => line.split(",")[head.split(",").indexOf("submitted_by")];
  expect(cell(lines.find((line) => line.startsWith(id)) ?? "")).toBe("Ana Ruiz");
});

test("names a token and its member in lists, details, files and usage", async () => {
  const { token } = await makeToken(harness, "operator", { name: "nightly" });
  const response = await harness.request("/api/prompt", {
    method: "POST",
    json: { prompt: graph },
    headers: { authorization: `Bearer ${token}` },
  });
  const id: string = (await response.json()).prompt_id;
  const namedRow = { id, submitted_by: "Ana Ruiz", submitted_token: "nightly" };
  expect(await details(`/api/jobs/${id}`)).toMatchObject(namedRow);
  for (const path of ["/api/jobs", "/api/console/jobs/search?within=1"])
    expect((await details(path)).jobs).toContainEqual(expect.objectContaining(namedRow));
  const csv = await (await harness.request("/api/console/jobs/export?format=csv", { as: "viewer" })).text();
  expect(csv.split("\r\n").find((line) => line.startsWith(id))).toContain(",token nightly (Ana Ruiz),");
  const { rows } = await (await harness.request("/api/console/usage", { as: "operator" })).json();
  expect(rows).toContainEqual(
    expect.objectContaining({ member: expect.objectContaining({ name: "Ana Ruiz", token: "nightly" }), runs: 1 }),
  );
  const file = await (await harness.request("/api/console/usage/export", { as: "operator" })).text();
  expect(file).toContain(",token nightly (Ana Ruiz),");
});

test("shows the prompt for unnamed jobs and the matched words in hits", async () => {
  const texts = { "3": { class_type: "PreviewAny", inputs: { source: "A red  fox\nin the snow" } } };
  const response = await harness.request("/api/prompt", { as: "operator", method: "POST", json: { prompt: { ...graph, ...texts } } });
  const id: string = (await response.json()).prompt_id;
  await harness.console.jobIndex.settled();
  const { jobs } = await details("/api/jobs");
  expect(jobs).toContainEqual(expect.objectContaining({ id, prompt_excerpt: "A red fox" }));
  const searchResult = await details("/api/console/jobs/search?text=snow+FOX");
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
  expect((await details("/api/console/jobs/search?within=1")).jobs[0]).not.toHaveProperty("search_match");
});

test("includes the inputs chosen as columns in saved files", async () => {
  const id = await submit();
  const inputs = "input:*EmptyImage:width,input:9:none,bogus";
  const address = (format: string) => `/api/console/jobs/export?format=${format}&ids=${id}&inputs=${encodeURIComponent(inputs)}`;
  const csv = await (await harness.request(address("csv"), { as: "viewer" })).text();
  const [head = "", line = ""] = csv.split("\r\n");
  expect([head.endsWith(",EmptyImage.width,9.none"), line.endsWith(",8,")]).toEqual([true, true]);
  const json = await (await harness.request(address("json"), { as: "viewer" })).json();
  expect(json.jobs).toMatchObject([{ id, inputs: [{ name: "EmptyImage.width", value: "8" }] }]);
});

test("keeps a removed member's name, and finds jobs by it", async () => {
  const id = await submit();
  const { memberId } = harness.viewerOf("operator");
  await harness.console.store.members.remove(memberId);
  expect(await details(`/api/jobs/${id}`)).toMatchObject({ submitted_by: "Ana Ruiz" });
  expect(await details("/api/console/jobs/people")).toEqual({ people: [{ id: memberId, name: "Ana Ruiz" }] });
  for (const query of [`member=${memberId}`, "text=ruiz"]) {
    const { jobs } = await details(`/api/console/jobs/search?${query}`);
    expect(jobs).toContainEqual(expect.objectContaining({ id, submitted_by: "Ana Ruiz" }));
  }
});

test("names no member for a foreign job, regardless of the service's response", async () => {
  const claimed = { id: "j", status: "completed", submitted_by: "Olga Owner" };
  const service = await openTestServer(({ url = "" }, response) =>
    sendJsonResponse(response, url.includes("/jobs/j") ? claimed : { jobs: [claimed], pagination: { offset: 0, limit: 100, total: 1 } }),
  );
  const connection = await harness.connect(service.url, "sk-key");
  const job = await details(`/api/jobs/j?connection=${connection}`);
  expect(job).toMatchObject({ id: "j", status: "completed" });
  expect(job).not.toHaveProperty("submitted_by");
  const { jobs } = await details(`/api/jobs?connection=${connection}`);
  expect(jobs).toMatchObject([{ id: "j" }]);
  expect(jobs[0]).not.toHaveProperty("submitted_by");
});
