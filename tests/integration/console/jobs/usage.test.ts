// Members' usage, counted from jobs submitted through the console.
import { expect, test } from "vitest";
import { type Role } from "@/lib/contract/members/roles";
import { type UsageQuery } from "@/lib/contract/members/usage";
import { readUsage, streamUsageCsv } from "@/lib/server/queries/usage";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const DAY_MS = 24 * 60 * 60_000;
const LAST_MONTH: UsageQuery = { within: 24 * 30 };
let now = NOW;

type ReportedJob = { status: string; outputs_count?: number; runMs?: number };
/** The jobs that the other service reports, by id. */
let jobs = new Map<string, ReportedJob & { createdMs: number }>();
let count = 0;
let isReportingSizes = false;

const harness = await createHarness({ now: () => now });
const service = await openTestServer(({ method, url }, response) => {
  if (method === "POST" && url.startsWith("/api/prompt")) {
    const id = `job-${(count += 1)}`;
    jobs.set(id, { status: "pending", createdMs: now });
    return sendJsonResponse(response, { prompt_id: id, number: 1, node_errors: {} });
  }
  const sizedJobId = /^\/api\/jobs\/(job-\d+)\/assets/.exec(url)?.[1];
  if (sizedJobId !== undefined)
    return isReportingSizes
      ? sendJsonResponse(response, { assets: [{ size: 1000 }, { size: 24 }] })
      : sendJsonResponse(response, { code: "NOT_FOUND", message: "404 page not found" }, 404);
  const list = [...jobs].map(([id, { createdMs, runMs, ...fields }]) => ({
    id,
    ...fields,
    create_time: createdMs,
    ...(runMs !== undefined && { execution_start_time: createdMs + 10, execution_end_time: createdMs + 10 + runMs }),
  }));
  const jobId = /^\/api\/jobs\/(job-\d+)/.exec(url)?.[1];
  if (jobId !== undefined) return sendJsonResponse(response, { ...list.find(({ id }) => id === jobId), outputs: {} });
  if (method === "POST") return response.writeHead(200).end();
  if (url.startsWith("/api/history_v2")) {
    const outputs = { "1": { images: [{ filename: "a.png", subfolder: "", type: "output" }], text: ["said"] } };
    const ended = list.filter(({ status }) => status === "completed");
    const history = ended.map(({ id: prompt_id, create_time }) => ({
      prompt_id,
      create_time,
      outputs,
      status: { status_str: "success", completed: true, messages: [] },
    }));
    return sendJsonResponse(response, { history });
  }
  return sendJsonResponse(response, { jobs: list.reverse(), pagination: { offset: 0, limit: 100, total: list.length, has_more: false } });
});
const otherConnection = await harness.connect(service.url, "sk-other");
const connections = await harness.console.store.connections.listFor(harness.getViewer("owner").memberId);
const embeddedId = connections.find(({ id }) => id !== otherConnection)?.id ?? "";

async function submit(as: Role, connection = otherConnection, prompt: object = { 1: { class_type: "A", inputs: {} } }): Promise<string> {
  const response = await harness.request(`/api/prompt?connection=${connection}`, { as, method: "POST", json: { prompt } });
  expect(response.status).toBe(200);
  return (await response.json()).prompt_id;
}
async function endJob(id: string, fields: ReportedJob): Promise<void> {
  jobs.set(id, { createdMs: jobs.get(id)?.createdMs ?? now, ...fields });
  await harness.request(`/api/jobs?connection=${otherConnection}`, { as: "viewer" });
}
const listUsage = async (role: Role, query = LAST_MONTH) => {
  const { rows } = await readUsage(harness.getContext(role), query);
  return rows.map(({ member, connection, ...metrics }) => [member.name, connection.name ?? connection.kind, metrics]);
};

test("sums runs, failures, time and outputs by member and connection", async () => {
  await endJob(await submit("operator"), { status: "completed", runMs: 2500, outputs_count: 2 });
  await endJob(await submit("operator"), { status: "failed", runMs: 500, outputs_count: 0 });
  await endJob(await submit("admin"), { status: "completed", runMs: 1000, outputs_count: 0 });
  jobs.set("job-99", { status: "completed", createdMs: now, runMs: 9000, outputs_count: 9 });
  await harness.request(`/api/jobs?connection=${otherConnection}`, { as: "viewer" });
  expect(await listUsage("owner")).toEqual([
    ["admin", "Another service", { runs: 1, failed: { value: 0 }, seconds: { value: 1 }, outputs: { value: 0 }, bytes: { value: 0 } }],
    ["operator", "Another service", { runs: 2, failed: { value: 1 }, seconds: { value: 3 }, outputs: { value: 2 }, bytes: {} }],
  ]);
  // Text results in the history don't count as outputs.
  const before = await listUsage("owner");
  expect((await harness.request(`/api/history_v2?connection=${otherConnection}`, { as: "viewer" })).status).toBe(200);
  expect(await listUsage("owner")).toEqual(before);
  // Members see only their own usage.
  expect((await listUsage("operator")).map(([name]) => name)).toEqual(["operator"]);
  expect(await listUsage("viewer")).toEqual([]);
});

test("reports missing metrics as a minimum or unknown, not as zero", async () => {
  await endJob(await submit("owner"), { status: "completed" });
  const getOwnerUsage = async () => (await listUsage("owner")).find(([name]) => name === "Olga Owner")?.[2];
  expect(await getOwnerUsage()).toEqual({ runs: 1, failed: { value: 0 }, seconds: {}, outputs: {}, bytes: {} });
  await endJob(await submit("owner"), { status: "completed", runMs: 4000, outputs_count: 0 });
  const seconds = { value: 4, isAtLeast: true };
  expect(await getOwnerUsage()).toEqual({ runs: 2, failed: { value: 0 }, seconds, outputs: {}, bytes: {} });
});

test("reads output sizes from a service that provides them", async () => {
  isReportingSizes = true;
  const { createSizeReader } = await import("@/lib/server/job-index/list-reader");
  const { openForJobs } = await import("@/lib/server/connections/access");
  const { operations } = await import("@/lib/contract/operations");
  const access = await openForJobs(harness.getContext("owner"), otherConnection);
  if (!access.ok) throw new Error(access.failure.message);
  const { upstream } = access.value;
  const readSizes = createSizeReader(harness.console.store.jobUsage);
  const readNextSizes = () =>
    readSizes(otherConnection, (input) => upstream.call(operations.listJobAssets, input), AbortSignal.timeout(10_000));
  expect(await readNextSizes()).toBe("done");
  expect(await readNextSizes()).toBeUndefined();
  const row = (await listUsage("owner")).find(([name]) => name === "operator");
  expect(row?.[2]).toMatchObject({ bytes: { value: 1024 } });
  expect(row?.[2]).not.toMatchObject({ bytes: { isAtLeast: true } });
});

test("reads sizes of the embedded service directly", async () => {
  const graph = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "used" } },
  };
  await submit("operator", embeddedId, graph);
  const getEmbeddedUsage = async () => {
    await harness.request(`/api/jobs?connection=${embeddedId}`, { as: "operator" });
    const { rows } = await readUsage(harness.getContext("operator"), LAST_MONTH);
    return rows.find(({ connection }) => connection.id === embeddedId);
  };
  const embeddedUsage = await until("the output's size is read", async () => {
    const row = await getEmbeddedUsage();
    return row?.bytes.value !== undefined && row.bytes.value > 0 ? row : undefined;
  });
  expect(embeddedUsage).toMatchObject({ runs: 1, failed: { value: 0 }, outputs: { value: 1 } });
  expect(embeddedUsage.bytes.isAtLeast).toBeUndefined();
});

test("keeps counting jobs removed from the history", async () => {
  const before = await listUsage("owner");
  await harness.request(`/api/history?connection=${otherConnection}`, { as: "operator", method: "POST", json: { clear: true } });
  jobs = new Map();
  await harness.request(`/api/jobs?connection=${otherConnection}`, { as: "viewer" });
  expect(await listUsage("owner")).toEqual(before);
});

test("reports a minimum when a job was removed before its end was recorded", async () => {
  const id = await submit("admin");
  const getAdminUsage = async () => (await listUsage("owner")).find(([name]) => name === "admin")?.[2];
  expect(await getAdminUsage()).toMatchObject({ runs: 2, failed: { value: 0 }, seconds: { value: 1 } });
  await harness.console.store.jobIndexStore.remove(otherConnection, [id]);
  expect(await getAdminUsage()).toMatchObject({ runs: 2, failed: { value: 0, isAtLeast: true }, seconds: { value: 1, isAtLeast: true } });
});

test("limits usage to the range in the URL", async () => {
  now = NOW + 10 * DAY_MS;
  expect(await listUsage("owner", { within: 24 * 7 })).toEqual([]);
  expect((await listUsage("owner", { within: 24 * 30 })).length).toBe(4);
  expect(await listUsage("owner", { within: 24, from: NOW - DAY_MS, to: NOW })).toEqual([]);
  expect((await listUsage("owner", { within: 24, from: NOW - DAY_MS, to: NOW + 1 })).length).toBe(4);
  const { fromMs, toMs } = await readUsage(harness.getContext("owner"), { within: 24, from: 0, to: NOW });
  expect(toMs - fromMs).toBe(366 * DAY_MS);
  now = NOW;
  const path = `/api/console/usage/export?from=${NOW - DAY_MS}&to=${NOW}`;
  expect((await (await harness.request(path, { as: "owner" })).text()).trim().split("\r\n")).toHaveLength(1);
  expect((await harness.request("/api/console/usage/export?within=-1", { as: "owner" })).status).toBe(400);
});

test("shows a personal connection's name only to its owner and viewers", async () => {
  const { store } = harness.console;
  const { memberId } = harness.getViewer("operator");
  const ownConnection = await store.connections.create({ name: "=My secret cloud", baseUrl: service.url, memberId, createdAt: now });
  const { storeApiKey } = await import("@/lib/server/keys/key-ring");
  await storeApiKey(store.keys, harness.console.keyRing, { connectionId: ownConnection.id, apiKey: "sk-own", now });
  await submit("operator", ownConnection.id);
  const listConnectionNames = async (role: Role) =>
    (await listUsage(role)).filter(([name]) => name === "operator").map(([, connection]) => connection);
  expect(await listConnectionNames("operator")).toContain("=My secret cloud");
  expect(await listConnectionNames("admin")).toContain("personal");
  expect(await listConnectionNames("admin")).not.toContain("=My secret cloud");
  const readCsv = async (role: Role) => (await harness.request("/api/console/usage/export", { as: role })).text();
  expect(await readCsv("admin")).not.toMatch(new RegExp(`secret|${ownConnection.id}`));
  expect(await readCsv("admin")).toContain("personal connection");
  // The apostrophe makes a spreadsheet treat it as text.
  expect(await readCsv("operator")).toContain("'=My secret cloud");
  await store.jobViewers.grant(ownConnection.id, harness.getViewer("admin").memberId, { givenBy: memberId, now });
  expect(await listConnectionNames("admin")).toContain("=My secret cloud");
  await store.connections.remove(ownConnection.id);
  expect(await listConnectionNames("operator")).toContain("removed");
});

test("keeps a removed member's name and exports every row", async () => {
  await harness.console.store.members.remove(harness.getViewer("operator").memberId);
  const rows = await listUsage("owner");
  expect(rows.map(([name]) => name)).toContain("operator");
  let text = "";
  for await (const chunk of streamUsageCsv(harness.getContext("owner"), LAST_MONTH)) text += chunk;
  const [header = "", ...lines] = text.trim().split("\r\n");
  expect(lines).toHaveLength(rows.length);
  const names = header.replace("\uFEFF", "").split(",");
  const toRecord = (line: string) => Object.fromEntries(names.map((name, index) => [name, line.split(",")[index]]));
  const ownerRow = lines.map(toRecord).find(({ member }) => member === "Olga Owner");
  expect(ownerRow).toMatchObject({
    runs: "2",
    failed: "0",
    failed_is: "exact",
    seconds: "4",
    seconds_is: "at least",
    bytes: "",
    bytes_is: "unknown",
  });
});
