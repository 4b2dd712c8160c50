// An action on many items is one row of the audit log, which expands to the items' names.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { type AuditItem, type AuditPage } from "@/lib/contract/audit/audit";
import { IDEMPOTENCY_HEADER, LABEL_HEADER } from "@/lib/contract/workflow/submission";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { ACTION_HEADER } from "@/lib/shared/headers";
import { createHarness } from "@/tests/support/harness";
import { openTestServer } from "@/tests/support/servers";
import { sendJsonResponse } from "@/tests/support/test-server";
import { until } from "@/tests/support/until";

let now = 1_800_000_000_000;
const harness = await createHarness({ now: () => now });

const prompt = {
  "1": { class_type: "EmptyImage", inputs: { width: 8, height: 8, batch_size: 1, color: 0 } },
  "2": { class_type: "PreviewImage", inputs: { images: ["1", 0] } },
};
const submit = (workflow: object, headers: Record<string, string> = {}) => {
  const json = { prompt, extra_data: { extra_pnginfo: { workflow } } };
  return harness.request("/api/prompt", { as: "operator", method: "POST", json, headers });
};
const clear = (path: string) => harness.request(path, { as: "operator", method: "POST", json: { clear: true } });
const exportLog = async (query: string) => (await harness.request(`/api/console/audit/export?${query}`, { as: "admin" })).text();
const createActionHeaders = (action: string) => ({ [ACTION_HEADER]: action });

async function uploadAsset(name: string, headers: Record<string, string>): Promise<string> {
  const body = new FormData();
  body.set("tags", "input");
  body.set("file", new File([name], name));
  const response = await harness.request("/api/assets", { as: "operator", method: "POST", body, headers });
  expect(response.status).toBeLessThan(300);
  return (await response.json()).id;
}
async function getPage(query: string): Promise<AuditPage> {
  return (await harness.request(`/api/console/audit?${query}`, { as: "admin" })).json();
}
const listRows = async (query = ""): Promise<AuditItem[]> => (await getPage(`limit=50${query}`)).entries;

test("groups an action's uploads in one audit row with their names", async () => {
  const action = createActionHeaders("drop-of-three-files");
  const ids: string[] = [];
  for (const [index, name] of ["one.txt", "two words.txt", "three.txt"].entries()) {
    const json = { hash: `blake3:${String(index + 1).repeat(64)}`, tags: ["input"], name };
    await harness.request("/api/console/known-content", { as: "operator", method: "POST", json, headers: action });
    ids.unshift(await uploadAsset(name, action));
    // The same action id used by another member is another action.
    await harness.request(`/api/assets/${ids[0]}/tags`, { as: "owner", method: "POST", json: { tags: ["seen"] }, headers: action });
    now += 45_000;
  }
  const filterByRole = (all: AuditItem[], role: "operator" | "owner") =>
    all.filter(({ member }) => member?.id === harness.getViewer(role).memberId);
  const entries = await listRows();
  expect(filterByRole(entries, "operator")).toMatchObject([
    { action: "uploadAsset", parts: ["three.txt", "two words.txt", "one.txt"].map((name, at) => ({ id: ids[at], name })) },
  ]);
  expect(filterByRole(entries, "owner")).toMatchObject([{ action: "addTags", parts: ids.map((id) => ({ id })) }]);
  // With a filter, a part of an action is a row too, in the list and in the file.
  expect((await listRows("&action=createAssetFromHash"))[0]?.parts).toEqual([]);
  expect(await listRows("&action=uploadAsset")).toHaveLength(1);
  const file = await exportLog("action=uploadAsset");
  expect(file.trimEnd().split("\r\n")).toHaveLength(2);
  expect(file).toContain("two words.txt");
});

test("marks the refused parts of an action in its row", async () => {
  const ids = [await uploadAsset("first.txt", {}), await uploadAsset("last.txt", {})];
  const unknownId = randomUUID();
  for (const id of [ids[0], unknownId, ids[1]])
    await harness.request(`/api/assets/${id}`, { as: "operator", method: "DELETE", headers: createActionHeaders("delete-two-of-three") });
  const [row, next] = await listRows();
  expect(row).toMatchObject({ action: "deleteAsset", status: 204, refused: 1 });
  expect(row?.parts).toMatchObject([
    { id: ids[1], name: "last.txt" },
    { id: unknownId, isRefused: true },
    { id: ids[0], name: "first.txt" },
  ]);
  expect(next?.action).not.toBe("deleteAsset");
});

test("records the copies of one run as one row, and two runs as two", async () => {
  const workflow = { id: randomUUID(), name: "Poster" };
  for (const [action, label] of [
    ["copies-of-a-poster-1", "1/2 · width 64"],
    ["copies-of-a-poster-1", "2/2 · width 128"],
    ["copies-of-a-poster-2", "1/1 · width 8"],
  ] as const) {
    const labelHeaders = { [LABEL_HEADER]: encodeURIComponent(label), [IDEMPOTENCY_HEADER]: randomUUID() };
    expect((await submit(workflow, { ...createActionHeaders(action), ...labelHeaders })).status).toBe(200);
  }
  const submitted = await listRows("&action=submitPrompt");
  expect(submitted.map(({ parts }) => parts?.map(({ name }) => name))).toEqual([
    ["Poster · 1/1 · width 8"],
    ["Poster · 2/2 · width 128", "Poster · 1/2 · width 64"],
  ]);
});

const createJobs = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    id: `job-${String(index).padStart(4, "0")}`,
    status: "pending",
    workflow_id: "of-posters",
  }));

test("names the jobs of a cleared history like the job lists", async () => {
  const listSubmitted = async () => (await (await harness.request("/api/jobs?status=completed", { as: "operator" })).json()).jobs;
  await until("the copies have ended", async () => (await listSubmitted()).length >= 3);
  expect((await clear("/api/history")).status).toBe(200);
  const [row] = await listRows("&action=manageHistory");
  const names = row?.parts?.map(({ name }) => name).sort();
  expect(names).toEqual(["Poster · 1/1 · width 8", "Poster · 1/2 · width 64", "Poster · 2/2 · width 128"]);
});

test("submits a job for its member even if its workflow name is unreadable", async () => {
  const { workflowNames } = harness.console.store;
  const listSpy = vi.spyOn(workflowNames, "list").mockRejectedValue(new Error("disk unavailable"));
  const response = await submit({ id: randomUUID() });
  listSpy.mockRestore();
  expect(response.status).toBe(200);
  const { prompt_id } = await response.json();
  const job = await (await harness.request(`/api/jobs/${prompt_id}`, { as: "operator" })).json();
  expect(job.submitted_by).toBe("operator");
  expect(harness.getLog()).toContain("workflow name read failed");
});

test("records how many jobs a cleared queue had and names the newest", async () => {
  let isRefused = false;
  const server = await openTestServer(({ url, method }, response) => {
    if (method === "POST") return sendJsonResponse(response, isRefused ? { message: "not now" } : {}, isRefused ? 409 : 200);
    const { searchParams } = new URL(url, "http://local");
    const jobs = createJobs(130).slice(0, Number(searchParams.get("limit")));
    return sendJsonResponse(response, { jobs, pagination: { offset: 0, limit: jobs.length, total: 130, has_more: true } });
  });
  const connection = await harness.connect(server.url, "key-of-the-service");
  await harness.console.store.workflowNames.record(connection, "of-posters", "Poster");
  expect((await clear(`/api/queue?connection=${connection}`)).status).toBe(200);
  isRefused = true;
  expect((await clear(`/api/queue?connection=${connection}`)).status).toBe(409);
  const cleared = await listRows(`&on=${connection}`);
  expect(cleared.map(({ status, parts, moreParts }) => [status, parts?.length, parts?.[0]?.id, parts?.[0]?.name, moreParts])).toEqual([
    [409, 100, "job-0000", "Poster", 30],
    [200, 100, "job-0000", "Poster", 30],
  ]);
  expect((await exportLog(`on=${connection}`)).split("\r\n")[2]).toContain(",130,Poster (job-0000); Poster (job-0001)");
});

test("counts the cleared jobs that a service reports and names the first 100", async () => {
  const waiting = createJobs(130);
  const responses = [{ deleted: waiting.map(({ id }) => id).reverse() }, {}];
  const server = await openTestServer(({ url, method }, response) => {
    if (method === "POST") return sendJsonResponse(response, responses.shift() ?? {});
    const { searchParams } = new URL(url, "http://local");
    // The service reports more rows, but not how many.
    return sendJsonResponse(response, { jobs: waiting.slice(0, Number(searchParams.get("limit"))), pagination: { has_more: true } });
  });
  const connection = await harness.connect(server.url, "key-of-the-service");
  await harness.console.store.workflowNames.record(connection, "of-posters", "Poster");
  for (let count = 0; count < 2; count += 1) {
    await clear(`/api/queue?connection=${connection}`);
    now += 60_000;
  }
  const [rowWithoutCount, rowWithCount] = await listRows(`&on=${connection}`);
  expect(rowWithCount?.parts?.map(({ id, name }) => [id, name])).toEqual(waiting.slice(0, 100).map(({ id }) => [id, "Poster"]));
  expect([rowWithCount?.moreParts, rowWithCount?.isAtLeast]).toEqual([30, undefined]);
  expect([rowWithoutCount?.parts?.length, rowWithoutCount?.moreParts, rowWithoutCount?.isAtLeast]).toEqual([100, undefined, true]);
  const file = await exportLog(`on=${connection}`);
  expect(file).toContain(",100+,Poster (job-0000); ");
  expect(file).toContain(",130,Poster (job-0000); ");
});

test("names URL downloads by file and drops the query string", async () => {
  const server = await openTestServer((_, response) => sendJsonResponse(response, { task_id: "task-1", status: "created" }, 202));
  const connection = await harness.connect(server.url, "key-of-the-service");
  const headers = createActionHeaders("two-files-from-urls-1");
  for (const name of ["first.safetensors", "second%20one.png"]) {
    const json = { source_url: `https://files.example/models/${name}?token=hidden`, tags: ["input"] };
    await harness.request(`/api/assets/download?connection=${connection}`, { as: "operator", method: "POST", json, headers });
  }
  const [row, ...otherRows] = await listRows(`&on=${connection}`);
  expect(otherRows).toEqual([]);
  expect(row?.parts?.map(({ name }) => name)).toEqual(["second one.png", "first.safetensors"]);
  expect(JSON.stringify(row)).not.toContain("hidden");
});

test("names runs of an untitled workflow like the job lists", async () => {
  const workflow = { id: "01234567-89ab-4cde-8f01-23456789abcd" };
  for (const label of ["1/2", "2/2"]) {
    const headers = { ...createActionHeaders("copies-without-a-name"), [LABEL_HEADER]: encodeURIComponent(label) };
    expect((await submit(workflow, headers)).status).toBe(200);
  }
  expect((await listRows("&action=submitPrompt"))[0]?.parts?.map(({ name }) => name)).toEqual(["#01234567 · 2/2", "#01234567 · 1/2"]);
});

test("starts a second row after a long pause and keeps paging and the chain intact", async () => {
  const ids = [];
  for (let index = 0; index < 6; index += 1) {
    ids.push(await uploadAsset(`pause ${index}.txt`, createActionHeaders(`long-running-action-${index % 2}`)));
    now += index === 3 ? 3_600_000 : 1_000;
  }
  const all = await listRows("&action=uploadAsset");
  expect(all.slice(0, 4).map(({ parts }) => parts?.map(({ id }) => id))).toEqual([[ids[5]], [ids[4]], [ids[3], ids[1]], [ids[2], ids[0]]]);
  const paged: AuditItem[] = [];
  for (let before = ""; paged.length < all.length; before = `&before=${paged.at(-1)?.id}`) {
    const response = await harness.request(`/api/console/audit?limit=1&action=uploadAsset${before}`, { as: "admin" });
    paged.push(...(await response.json()).entries);
  }
  expect(paged).toEqual(all);
  expect(await harness.console.store.audit.verify()).toHaveProperty("last");
});

/** Inserts rows with these values, in which `number` counts up. */
function insertRows(count: number, values: string): void {
  const database = new SqliteConnection(join(harness.console.env.dataDir, "console.sqlite"));
  database.exec(`
    WITH RECURSIVE entry (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM entry WHERE number < ${count - 1})
    INSERT INTO audit (at, request_id, member_id, member_name, action, connection_id, target, status, act_id, hash)
      SELECT ${values}, '' FROM entry;
    UPDATE audit_end SET id = (SELECT max(id) FROM audit)`);
  database.close();
}

test("reads large actions in bounded chunks and counts each in one row", async () => {
  const { audit } = harness.console.store;
  // Too many to write one by one; no test here reads the chain of hashes.
  insertRows(7200, `${now}, 'r', 'm', 'M', 'deleteAsset', 'large', (number / 900) || '-' || (number % 900), 204, 'act ' || (number / 900)`);
  const listSpy = vi.spyOn(audit, "listGroups");
  const page = (before = "") => getPage(`limit=200&on=large${before}`);
  const first = await page();
  const second = await page(`&before=${first.entries.at(-1)?.id}`);
  expect([first.entries.length, first.hasMore, second.entries.length, second.hasMore]).toEqual([5, true, 3, false]);
  for (const { parts, moreParts } of [...first.entries, ...second.entries]) expect([parts?.length, moreParts]).toEqual([100, 800]);
  const lines = (await exportLog("on=large")).trimEnd().split("\r\n");
  expect(lines).toHaveLength(9);
  for (const line of lines.slice(1)) expect(line).toMatch(/,900,(\d-\d+; ){899}\d-\d+,,$/);
  const sizes = await Promise.all(listSpy.mock.results.map(async ({ value }) => (await value).groups.flat().length));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(5_000);
});

test("shows an action that continues during a read on its later page and in the file", async () => {
  const uploadInAction = (name: string, action: string) => uploadAsset(name, createActionHeaders(action));
  await uploadInAction("read-1.txt", "action-during-read-1");
  await uploadInAction("read-2.txt", "action-during-read-2");
  await uploadAsset("read-3.txt", {});
  const first = await getPage("limit=1&action=uploadAsset");
  await uploadInAction("read-4.txt", "action-during-read-2");
  const second = await getPage(`limit=1&action=uploadAsset&before=${first.entries[0]?.id}&upTo=${first.upTo}`);
  expect(second.entries[0]?.parts?.map(({ name }) => name)).toEqual(["read-2.txt"]);
  expect(second.upTo).toBe(first.upTo);

  // More than one read for the export.
  insertRows(150, `${now} + 20000 * number, 'r', 'm', 'M', 'uploadAsset', 'between', number, 200, NULL`);
  const file = (await harness.request("/api/console/audit/export?action=uploadAsset", { as: "admin" })).body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done = true } = (await file?.read()) ?? {};
    text += decoder.decode(value, { stream: true });
    if (done) break;
    if (text.includes(",between,") && !text.includes("read-")) await uploadInAction("read-5.txt", "action-during-read-1");
  }
  expect(text).toContain("read-1.txt");
  expect(text).not.toContain("read-5.txt");
});
