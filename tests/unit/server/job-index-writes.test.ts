// The job index skips unchanged rows that it wrote recently.
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { closeAfterwards } from "@/tests/support/close-afterwards";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

afterEach(() => void vi.useRealTimers());

const createJobEntry = (status: string) => ({ jobId: "job-1", item: { status }, createdMs: 1_700_000_000_000, isExact: true });

async function openIndexedJob() {
  const folder = createTemporaryFolder();
  const store = openStore(folder);
  await store.migrate();
  const { id } = await store.connections.create({ name: "Studio", baseUrl: "http://studio.test", createdAt: 1 });
  const otherStore = openStore(folder);
  closeAfterwards(() => store.close());
  closeAfterwards(() => otherStore.close());
  const note = (status: string) => store.jobIndexStore.recordJobs(id, [createJobEntry(status)], 100);
  const isKnown = async () => (await store.jobIndexStore.findConnectionsWithJob("job-1", [id])).length === 1;
  await note("completed");
  // With its inputs indexed, the job needs no further lookups.
  await store.jobIndexStore.recordJobs(id, [{ jobId: "job-1", inputs: "a lamp", isUpdateOnly: true }], 100);
  await note("completed");
  return { folder, id, store, other: otherStore, note, isKnown };
}

test("writes nothing when a list is read again", async () => {
  const { folder, id, store } = await openIndexedJob();
  const item = {
    status: "failed",
    preview_output: { type: "output", nodeId: "9", mediaType: "images", filename: "a.png", subfolder: "", display_name: "a.png" },
    execution_error: { traceback: [], exception_message: "no room", exception_type: "OOM", node_type: undefined },
  };
  const entry = { jobId: "job-2", item, createdMs: 1_700_000_000_000, isExact: true };
  await store.jobIndexStore.recordJobs(id, [entry], 100);
  const readerConnection = new SqliteConnection(join(folder, "console.sqlite"), { readOnly: true });
  closeAfterwards(async () => readerConnection.close());
  const getVersion = () => readerConnection.pragma("data_version");
  const before = getVersion();
  await store.jobIndexStore.recordJobs(id, [entry], 100);
  expect(getVersion()).toBe(before);
  await store.jobIndexStore.recordJobs(id, [{ ...entry, item: { ...item, status: "cancelled" } }], 100);
  expect(getVersion()).not.toBe(before);
});

test("skips a row that was just written unless its status changed", async () => {
  const { id, other, note, isKnown } = await openIndexedJob();
  await other.jobIndexStore.remove(id, ["job-1"]);
  await note("completed");
  expect(await isKnown()).toBe(false);
  await note("failed");
  expect(await isKnown()).toBe(true);
});

test("rewrites an unchanged job after a few minutes", async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
  const { id, other, note, isKnown } = await openIndexedJob();
  await other.jobIndexStore.remove(id, ["job-1"]);
  vi.setSystemTime(Date.now() + 6 * 60_000);
  await note("completed");
  expect(await isKnown()).toBe(true);
});

test("rewrites a job that was removed or whose connection was reset", async () => {
  const { id, store, note, isKnown } = await openIndexedJob();
  await store.jobIndexStore.remove(id, ["job-1"]);
  await note("completed");
  expect(await isKnown()).toBe(true);
  await store.jobIndexStore.reset(id);
  await note("completed");
  expect(await isKnown()).toBe(true);
});

test("assigns indexed jobs to the member who submitted them first", async () => {
  const { id, store } = await openIndexedJob();
  const auditEntry = { at: 1, requestId: "r", action: "submitPrompt", connectionId: id, status: 200 };
  for (const [memberId, target] of [
    ["ada", "job-2"],
    ["ben", "job-3"],
    ["cy", "job-2"],
  ])
    await store.audit.add({ ...auditEntry, memberId, target });
  const entries = ["job-2", "job-3", "job-4"].map((jobId) => ({ ...createJobEntry("completed"), jobId }));
  await store.jobIndexStore.recordJobs(id, entries, 100);
  const getJobs = async (memberId: string) =>
    (
      await store.jobIndexStore.search(id, { words: [], memberId, sort_by: "create_time", sort_order: "desc", offset: 0, limit: 9 })
    ).jobs.map((job) => job.id);
  expect(await Promise.all(["ada", "ben", "cy"].map(getJobs))).toEqual([["job-2"], ["job-3"], []]);
});
