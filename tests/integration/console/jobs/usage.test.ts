// Members' usage, counted from jobs submitted here.
import { expect, test } from "vitest";
import { type UsageQuery } from "@/lib/contract/people/usage";
import { readUsage, usageCsv } from "@/lib/server/queries/usage";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

const NOW = Date.parse("2026-06-15T12:00:00Z");
const DAY_MS = 24 * 60 * 60_000;
const month: UsageQuery = { within: 24 * 30 };
let now = NOW;

type Reported = { status: string; outputs_count?: number; ranMs?: number };
/** The other service's responses about its jobs. */
let jobs = new Map<string, Reported & { createdMs: number }>();
let count = 0;
let hasSizes = false;

const harness = await createHarness({ now: () => now });
const service = await openTestServer(({ method, url }, response) => {
  if (method === "POST" && url.startsWith("/api/prompt")) {
    const id = `job-${(count += 1)}`;
    jobs.set(id, { status: "pending", createdMs: now });
    return sendJsonResponse(response, { prompt_id: id, number: 1, node_errors: {} });
  }
  const sized = /^\/api\/jobs\/(job-\d+)\/assets/.exec(url)?.[1];
  if (sized !== undefined)
    return hasSizes
      ? sendJsonResponse(response, { assets: [{ size: 1000 }, { size: 24 }] })
      : sendJsonResponse(response, { code: "NOT_FOUND", message: "404 page not found" }, 404);
  const list = [...jobs].map(([id, { createdMs, ranMs, ...fields }]) => ({
    id,
    ...fields,
    create_time: createdMs,
    ...(ranMs !== undefined && { execution_start_time: createdMs + 10, execution_end_time: createdMs + 10 + ranMs }),
  }));
  const value = /^\/api\/jobs\/(job-\d+)/.exec(url)?.[1];
  if (value !== undefined) return sendJsonResponse(response, { ...list.find(({ id }) => id === value), outputs: {} });
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
const all = await harness.console.store.connections.listFor(harness.viewerOf("owner").memberId);
const embedded = all.find(({ id }) => id !== otherConnection)?.id ?? "";

async function submit(as: "operator" | "admin" | "owner", connection = otherConnection): Promise<string> {
  const response = await harness.request(`/api/prompt?connection=${connection}`, {
    as,
    method: "POST",
    json: { prompt: { 1: { class_type: "A", inputs: {} } } },
  });
  expect(response.status).toBe(200);
  return (await response.json()).prompt_id;
}
async function ends(id: string, fields: Reported): Promise<void> {
  jobs.set(id, { createdMs: jobs.get(id)?.createdMs ?? now, ...fields });
  await harness.request(`/api/jobs?connection=${otherConnection}`, { as: "viewer" });
}
const usage = async (role: "owner" | "admin" | "operator" | "viewer", query = month) => {
  const { rows } = await readUsage(harness.contextOf(role), query);
  return rows.map(({ member, connection, ...figures }) => [member.name, connection.name ?? connection.kind, figures]);
};

test("sums runs, failures, time and outputs by member and connection", async () => {
  await ends(await submit("operator"), { status: "completed", ranMs: 2500, outputs_count: 2 });
  await ends(await submit("operator"), { status: "failed", ranMs: 500, outputs_count: 0 });
  await ends(await submit("admin"), { status: "completed", ranMs: 1000, outputs_count: 0 });
  jobs.set("job-99", { status: "completed", createdMs: now, ranMs: 9000, outputs_count: 9 });
  await harness.request(`/api/jobs?connection=${otherConnection}`, { as: "viewer" });
  expect(await usage("owner")).toEqual([
    ["admin", "Another service", { runs: 1, failed: { value: 0 }, seconds: { value: 1 }, outputs: { value: 0 }, bytes: { value: 0 } }],
    ["operator", "Another service", { runs: 2, failed: { value: 1 }, seconds: { value: 3 }, outputs: { value: 2 }, bytes: {} }],
  ]);
});

test("counts outputs as the list does when a service counts texts", async () => {
  const before = await usage("owner");
  expect((await harness.request(`/api/history_v2?connection=${otherConnection}`, { as: "viewer" })).status).toBe(200);
  expect(await usage("owner")).toEqual(before);
});

test("shows a member only their own usage", async () => {
  expect((await usage("operator")).map(([name]) => name)).toEqual(["operator"]);
  expect(await usage("viewer")).toEqual([]);
});

test("reports missing figures as a minimum or unknown, not as zero", async () => {
  await ends(await submit("owner"), { status: "completed" });
  const runsOfOwner = async () => (await usage("owner")).find(([name]) => name === "Olga Owner")?.[2];
  expect(await runsOfOwner()).toEqual({ runs: 1, failed: { value: 0 }, seconds: {}, outputs: {}, bytes: {} });
  await ends(await submit("owner"), { status: "completed", ranMs: 4000, outputs_count: 0 });
  expect(await runsOfOwner()).toEqual({
    runs: 2,
    failed: { value: 0 },
    seconds: { value: 4, isAtLeast: true },
    outputs: {},
    bytes: {},
  });
});

test("reads sizes while idle where the service has them", async () => {
  hasSizes = true;
  const { createSizeReader } = await import("@/lib/server/job-index/list-reader");
  const { openForJobs } = await import("@/lib/server/connections/access");
  const { operations } = await import("@/lib/contract/operations");
  const access = await openForJobs(harness.contextOf("owner"), otherConnection);
  if (!access.ok) throw new Error(access.failure.message);
  const { upstream } = access.value;
  const readSizes = createSizeReader(harness.console.store.jobUsage);
  const readUsage = () =>
    readSizes(otherConnection, (input) => upstream.call(operations.listJobAssets, input), AbortSignal.timeout(10_000));
  expect(await readUsage()).toBe("done");
  expect(await readUsage()).toBeUndefined();
  const row = (await usage("owner")).find(([name]) => name === "operator");
  expect(row?.[2]).toMatchObject({ bytes: { value: 1024 } });
  expect(row?.[2]).not.toMatchObject({ bytes: { isAtLeast: true } });
});

test("reads sizes of the embedded service directly", async () => {
  const graph = {
    "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
    "2": { class_type: "SaveImage", inputs: { images: ["1", 0], filename_prefix: "used" } },
  };
  const response = await harness.request(`/api/prompt?connection=${embedded}`, { as: "operator", method: "POST", json: { prompt: graph } });
  expect(response.status).toBe(200);
  const figures = async () => {
    await harness.request(`/api/jobs?connection=${embedded}`, { as: "operator" });
    const { rows } = await readUsage(harness.contextOf("operator"), month);
    return rows.find(({ connection }) => connection.id === embedded);
  };
  const sized = await until(
    "its size is known",
    async () => {
      const row = await figures();
      return row?.bytes.value !== undefined && row.bytes.value > 0 ? row : undefined;
    },
    { timeoutMs: 30_000 },
  );
  expect(sized).toMatchObject({ runs: 1, failed: { value: 0 }, outputs: { value: 1 } });
  expect(sized.bytes.isAtLeast).toBeUndefined();
});

test("keeps counting jobs removed from the history", async () => {
  const before = await usage("owner");
  await harness.request(`/api/history?connection=${otherConnection}`, { as: "operator", method: "POST", json: { clear: true } });
  jobs = new Map();
  await harness.request(`/api/jobs?connection=${otherConnection}`, { as: "viewer" });
  expect(await usage("owner")).toEqual(before);
});

test("claims nothing about a job removed before its end was seen", async () => {
  const id = await submit("admin");
  const row = async () => (await usage("owner")).find(([name]) => name === "admin")?.[2];
  expect(await row()).toMatchObject({ runs: 2, failed: { value: 0 }, seconds: { value: 1 } });
  await harness.console.store.jobIndexStore.forget(otherConnection, [id]);
  expect(await row()).toMatchObject({ runs: 2, failed: { value: 0, isAtLeast: true }, seconds: { value: 1, isAtLeast: true } });
});

test("limits usage to the range in the address", async () => {
  now = NOW + 10 * DAY_MS;
  expect(await usage("owner", { within: 24 * 7 })).toEqual([]);
  expect((await usage("owner", { within: 24 * 30 })).length).toBe(4);
  expect(await usage("owner", { within: 24, from: NOW - DAY_MS, to: NOW })).toEqual([]);
  expect((await usage("owner", { within: 24, from: NOW - DAY_MS, to: NOW + 1 })).length).toBe(4);
  const { fromMs, toMs } = await readUsage(harness.contextOf("owner"), { within: 24, from: 0, to: NOW });
  expect(toMs - fromMs).toBe(366 * DAY_MS);
  now = NOW;
  const path = `/api/console/usage/export?from=${NOW - DAY_MS}&to=${NOW}`;
  expect((await (await harness.request(path, { as: "owner" })).text()).trim().split("\r\n")).toHaveLength(1);
  expect((await harness.request("/api/console/usage/export?within=-1", { as: "owner" })).status).toBe(400);
});

test("names another member's own connection only to its owner and viewers", async () => {
  const { store } = harness.console;
  const { memberId } = harness.viewerOf("operator");
  const ownConnection = await store.connections.create({ name: "=My secret cloud", baseUrl: service.url, memberId, createdAt: now });
  const { storeApiKey } = await import("@/lib/server/keys/key-ring");
  await storeApiKey(store.keys, harness.console.ring, { connectionId: ownConnection.id, apiKey: "sk-own", now });
  await submit("operator", ownConnection.id);
  const names = async (role: "admin" | "operator") =>
    (await usage(role)).filter(([name]) => name === "operator").map(([, connection]) => connection);
  expect(await names("operator")).toContain("=My secret cloud");
  expect(await names("admin")).toContain("personal");
  expect(await names("admin")).not.toContain("=My secret cloud");
  const csv = async (role: "admin" | "operator") => (await harness.request("/api/console/usage/export", { as: role })).text();
  expect(await csv("admin")).not.toMatch(new RegExp(`secret|${ownConnection.id}`));
  expect(await csv("admin")).toContain("personal connection");
  // A spreadsheet reads it as text.
  expect(await csv("operator")).toContain("'=My secret cloud");
  await store.jobViewers.give(ownConnection.id, harness.viewerOf("admin").memberId, { givenBy: memberId, now });
  expect(await names("admin")).toContain("=My secret cloud");
  await store.connections.remove(ownConnection.id);
  expect(await names("operator")).toContain("removed");
});

test("keeps a removed member's name and exports every row", async () => {
  await harness.console.store.members.remove(harness.viewerOf("operator").memberId);
  const rows = await usage("owner");
  expect(rows.map(([name]) => name)).toContain("operator");
  let text = "";
  for await (const piece of usageCsv(harness.contextOf("owner"), month)) text += piece;
  const [head = "", ...lines] = text.trim().split("\r\n");
  expect(lines).toHaveLength(rows.length);
  const cells = (line: string) =>
    Object.fromEntries(
      head
        .replace("\uFEFF", "")
        .split(",")
        .map((name, at) => [name, line.split(",")[at]]),
    );
  const owners = lines.map(cells).find(({ member }) => member === "Olga Owner");
  expect(owners).toMatchObject({
    runs: "2",
    failed: "0",
    failed_is: "exact",
    seconds: "4",
    seconds_is: "at least",
    bytes: "",
    bytes_is: "unknown",
  });
});
