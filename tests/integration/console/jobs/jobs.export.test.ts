// Exports of the filtered job list, from services that page or fail midway, or for a browser that disconnects.
import { expect, test } from "vitest";
import { API_KEY, connectService } from "@/tests/support/connection-client";
import { createHarness } from "@/tests/support/harness";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const harness = await createHarness({ now: () => Date.parse("2026-03-01T12:00:00Z"), upstreamLimits: { attempts: 1 } });

const createJob = (index: number, overrides: object = {}) => ({
  id: `job-${index}`,
  status: "completed",
  create_time: 1_767_225_600_000 + index,
  ...overrides,
});

const WORKFLOW = "w1";
type Page = { limit: number; offset: number };
type ServiceResponse = Parameters<typeof sendJsonResponse>[0];

async function connect(respond: (page: Page, response: ServiceResponse) => void) {
  const { server, send, post } = await connectService(harness, ({ url }, response) => {
    const { searchParams } = new URL(url, "http://service.test");
    respond({ limit: Number(searchParams.get("limit")), offset: Number(searchParams.get("offset")) }, response);
  });
  return {
    post,
    get: (query: string, signal?: AbortSignal) => send(`/api/console/jobs/export?workflow_id=${WORKFLOW}&${query}`, { signal }),
    /** Returns only the requests of exports. The console also reads the list in the background, without a filter. */
    listRequests: () => server.requests.filter(({ url }) => url.includes(`workflow_id=${WORKFLOW}`)),
  };
}

function getPage(jobs: readonly object[], { limit, offset }: Page, maxRows = limit) {
  const page = jobs.slice(offset, offset + Math.min(limit, maxRows));
  return { jobs: page, pagination: { offset, limit, total: jobs.length, has_more: offset + page.length < jobs.length } };
}
const manyJobs = Array.from({ length: 2500 }, (_, index) => createJob(index));
const connectJobs = (jobs: readonly object[]) => connect((page, response) => sendJsonResponse(response, getPage(jobs, page)));
const getIds = (csv: string) =>
  csv
    .trim()
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(",")[0]);

test("exports 2,500 jobs in list order as CSV or JSON, named by date", async () => {
  const { get, listRequests } = await connectJobs(manyJobs);
  const csv = await get("format=csv");
  expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8");
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="jobs-2026-03-01.csv"');
  expect(csv.headers.get("x-total-count")).toBe("2500");
  const bytes = new Uint8Array(await csv.arrayBuffer());
  expect([...bytes.slice(0, 3)]).toEqual([0xef, 0xbb, 0xbf]);
  expect(getIds(new TextDecoder().decode(bytes))).toEqual(manyJobs.map(({ id }) => id));
  expect(listRequests()).toHaveLength(3);
  const json = await (await get("format=json")).json();
  expect(json).toMatchObject({ exported_at: "2026-03-01T12:00:00.000Z", total: 2500, count: 2500, complete: true });
  expect(json.jobs).toHaveLength(2500);
  expect(json.jobs[7]).toMatchObject({ id: "job-7", status: "completed" });
});

test("exports all readable jobs when a service returns small or unreadable pages", async () => {
  const jobs = [...manyJobs.slice(0, 20), ...Array.from({ length: 20 }, () => ({ id: "unreadable" })), ...manyJobs.slice(20, 45)];
  const { get } = await connect((page, response) => sendJsonResponse(response, getPage(jobs, page, 20)));
  expect(await (await get("format=json")).json()).toMatchObject({ count: 45, failure: { code: "UNPROCESSABLE" } });
});

test("writes each job once when new jobs shift the pages", async () => {
  let addedRows: object[] = [];
  const { get } = await connect((page, response) => {
    sendJsonResponse(response, getPage([...addedRows, ...manyJobs], page));
    addedRows = [createJob(-1), createJob(-2)];
  });
  const ids = getIds(await (await get("format=csv")).text());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(manyJobs.map(({ id }) => id));
});

test("forwards filters to the service and rejects invalid ones", async () => {
  const { get, listRequests } = await connectJobs([]);
  const file = await (await get("format=json&status=failed,cancelled&sort_order=asc&offset=300&limit=25")).json();
  expect(file).toMatchObject({ total: 0, count: 0, complete: true, jobs: [] });
  const listParams = new URL(listRequests()[0]?.url ?? "", "http://service.test").searchParams;
  expect(Object.fromEntries(listParams)).toMatchObject({ workflow_id: WORKFLOW, sort_order: "asc", offset: "0", limit: "1000" });
  expect(listParams.get("status")).toBe("failed,cancelled");
  expect(getIds(await (await get("format=csv")).text())).toEqual([]);
  for (const query of ["format=xml", "status=asleep"]) expect((await get(query)).status).toBe(400);
});

test("marks the file as incomplete when the service fails on the second page", async () => {
  const { get } = await connect((page, response) =>
    page.offset === 0
      ? sendJsonResponse(response, getPage(manyJobs, page))
      : sendJsonResponse(response, { code: "DATABASE_DOWN", message: "no pages today" }, 500),
  );
  const csv = await get("format=csv");
  expect([csv.status, csv.headers.get("x-total-count")]).toEqual([200, "2500"]);
  const lines = (await csv.text()).trim().split("\r\n");
  expect(lines).toHaveLength(1 + 1000 + 1);
  expect(lines.at(-1)).toMatch(/^INCOMPLETE: 1000 of 2500 jobs\. .*: no pages today,{17}$/);
  const json = await (await get("format=json")).json();
  expect(json).toMatchObject({ total: 2500, count: 1000, complete: false, failure: { message: "no pages today" } });
});

test("returns an error instead of a file when the service fails immediately", async () => {
  const { get } = await connect((_, response) => sendJsonResponse(response, { code: "DATABASE_DOWN", message: "no" }, 500));
  const response = await get("format=csv");
  expect([response.status, response.headers.get("content-disposition")]).toEqual([502, null]);
});

test("stops reading when the browser disconnects", async () => {
  const { get, listRequests } = await connectJobs(manyJobs);
  const reader = (await get("format=csv")).body?.getReader();
  await reader?.read();
  await reader?.read();
  expect(listRequests()).toHaveLength(1);
  await reader?.cancel();
  expect(listRequests()).toHaveLength(1);
});

test("aborts the pending page when the request ends", async () => {
  let isClosed = false;
  const { get, listRequests } = await connect((page, response) => {
    if (page.offset === 0) return sendJsonResponse(response, getPage(manyJobs, page));
    response.on("close", () => void (isClosed = true));
  });
  const controller = new AbortController();
  const reader = (await get("format=json", controller.signal)).body?.getReader();
  await reader?.read();
  await reader?.read();
  const pendingRead = reader?.read();
  await until("the second page is requested", () => listRequests().length === 2);
  controller.abort();
  await until("the service's response is closed", () => isClosed);
  await pendingRead;
});

test("escapes formulas, commas, quotes and line ends and masks secrets", async () => {
  const formula = '=HYPERLINK("http://evil.example","x")';
  const { get } = await connectJobs([
    createJob(1, {
      status: "failed",
      workflow_id: "@SUM(A1)",
      execution_error: { exception_message: `${formula}\nline two`, exception_type: "+1", node_type: "-2" },
    }),
    createJob(2, { status: "failed", execution_error: { exception_message: `key ${API_KEY}`, exception_type: "\tT" } }),
  ]);
  const csv = await (await get("format=csv")).text();
  expect(csv).toContain(`"'=HYPERLINK(""http://evil.example"",""x"")\nline two"`);
  expect(csv).toContain("'@SUM(A1)");
  expect(csv).toContain(",'-2,'+1,");
  expect(csv).not.toMatch(/(^|,|\n)"?[=+@-]/m);
  for (const format of ["csv", "json"]) {
    const file = await (await get(`format=${format}`)).text();
    expect(file).toContain("[REDACTED]");
    expect(file).not.toContain("0123456789abcdef");
  }
});

test("exports selected jobs only and stops reading at the last", async () => {
  const { get, listRequests } = await connectJobs(manyJobs);
  expect(getIds(await (await get("format=csv&ids=job-1200,job-3")).text())).toEqual(["job-3", "job-1200"]);
  expect(listRequests()).toHaveLength(2);
  const exportBody = await (await get("format=json&ids=job-3,nobody")).json();
  expect(exportBody).toMatchObject({ total: 2, count: 1, complete: false, failure: { code: "NOT_FOUND" } });
});

test("accepts a thousand job ids in a body and rejects more", async () => {
  const { post } = await connectJobs(manyJobs);
  const exportIds = (ids: readonly string[]) => post("/api/console/jobs/export", { ids, format: "csv" });
  const ids = manyJobs.slice(700, 1700).map(({ id }) => id);
  const exportResponse = await exportIds(ids);
  expect(exportResponse.headers.get("content-disposition")).toBe('attachment; filename="jobs-2026-03-01.csv"');
  expect(getIds(new TextDecoder().decode(await exportResponse.arrayBuffer()))).toEqual(ids);
  for (const invalidIds of [[...ids, "one-more"], []]) expect((await exportIds(invalidIds)).status).toBe(400);
});
