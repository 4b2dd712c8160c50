// A repeatedly read response is indexed once, and again as soon as it may be needed.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { temporaryFolder } from "@/tests/support/temporary-folder";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

const job = (status: string) => ({ jobId: "job-1", item: { status }, createdMs: 1_700_000_000_000, isExact: true });

async function world() {
  const folder = temporaryFolder();
  const store = openStore(folder);
  await store.migrate();
  const { id } = await store.connections.create({ name: "Studio", baseUrl: "http://studio.test", createdAt: 1 });
  const otherStore = openStore(folder);
  ends.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => store.close(),
    () => otherStore.close(),
  );
  const note = (status: string) => store.jobIndexStore.note(id, [job(status)], 100);
  const isKnown = async () => (await store.jobIndexStore.holdersOf("job-1", [id])).length === 1;
  await note("completed");
  // The job's inputs are known, so nothing more is read about it.
  await store.jobIndexStore.note(id, [{ jobId: "job-1", inputs: "a lamp", isAside: true }], 100);
  await note("completed");
  return { folder, id, store, other: otherStore, note, isKnown };
}

test("writes nothing when a list is reread", async () => {
  const { folder, id, store } = await world();
  const item = {
    status: "failed",
    preview_output: { type: "output", nodeId: "9", mediaType: "images", filename: "a.png", subfolder: "", display_name: "a.png" },
    execution_error: { traceback: [], exception_message: "no room", exception_type: "OOM", node_type: undefined },
  };
  const note = { jobId: "job-2", item, createdMs: 1_700_000_000_000, isExact: true };
  await store.jobIndexStore.note(id, [note], 100);
  const watching = new SqliteConnection(join(folder, "console.sqlite"), { readOnly: true });
  ends.push(() => watching.close());
  const version = () => watching.pragma("data_version");
  const before = version();
  await store.jobIndexStore.note(id, [note], 100);
  expect(version()).toBe(before);
  await store.jobIndexStore.note(id, [{ ...note, item: { ...item, status: "cancelled" } }], 100);
  expect(version()).not.toBe(before);
});

test("doesn't look up a row again that was just written", async () => {
  const { id, other, note, isKnown } = await world();
  await other.jobIndexStore.forget(id, ["job-1"]);
  await note("completed");
  expect(await isKnown()).toBe(false);
});

test("rewrites a job reported differently", async () => {
  const { id, other, note, isKnown } = await world();
  await other.jobIndexStore.forget(id, ["job-1"]);
  await note("failed");
  expect(await isKnown()).toBe(true);
});

test("trusts a written row for minutes only", async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
  const { id, other, note, isKnown } = await world();
  await other.jobIndexStore.forget(id, ["job-1"]);
  vi.setSystemTime(Date.now() + 6 * 60_000);
  await note("completed");
  expect(await isKnown()).toBe(true);
});

test("rewrites a job that was removed or whose connection was reset", async () => {
  const { id, store, note, isKnown } = await world();
  await store.jobIndexStore.forget(id, ["job-1"]);
  await note("completed");
  expect(await isKnown()).toBe(true);
  await store.jobIndexStore.restart(id);
  await note("completed");
  expect(await isKnown()).toBe(true);
});

test("assigns indexed jobs to the member who submitted them first", async () => {
  const { id, store } = await world();
  const entry = { at: 1, requestId: "r", action: "submitPrompt", connectionId: id, status: 200 };
  for (const [memberId, target] of [
    ["ada", "job-2"],
    ["ben", "job-3"],
    ["cy", "job-2"],
  ])
    await store.audit.add({ ...entry, memberId, target });
  const notes = ["job-2", "job-3", "job-4"].map((jobId) => ({ ...job("completed"), jobId }));
  await store.jobIndexStore.note(id, notes, 100);
  const getJobs = async (memberId: string) =>
    (
      await store.jobIndexStore.search(id, { words: [], memberId, sort_by: "create_time", sort_order: "desc", offset: 0, limit: 9 })
    ).jobs.map((job) => job.id);
  expect(await Promise.all(["ada", "ben", "cy"].map(getJobs))).toEqual([["job-2"], ["job-3"], []]);
});
