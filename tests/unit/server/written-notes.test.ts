// An answer that is read again and again is written to the ledger once, and again as soon as it may be needed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { SqliteConnection } from "@/lib/shared/database/sqlite";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

const job = (status: string) => ({ jobId: "job-1", item: { status }, createdMs: 1_700_000_000_000, isExact: true });

async function world() {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-notes-"));
  const store = openStore(folder);
  await store.migrate();
  const { id } = await store.connections.create({ name: "Studio", baseUrl: "http://studio.test", createdAt: 1 });
  const other = openStore(folder);
  ends.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => store.close(),
    () => other.close(),
  );
  const note = (status: string) => store.jobLedger.note(id, [job(status)], 100);
  const isKnown = async () => (await store.jobLedger.holdersOf("job-1", [id])).length === 1;
  await note("completed");
  // The job's inputs are known, so nothing more is read about it.
  await store.jobLedger.note(id, [{ jobId: "job-1", inputs: "a lamp", isAside: true }], 100);
  await note("completed");
  return { folder, id, store, other, note, isKnown };
}

test("a list that is read again writes nothing, also of jobs of which the inputs are not known yet", async () => {
  const { folder, id, store } = await world();
  const item = {
    status: "failed",
    preview_output: { type: "output", nodeId: "9", mediaType: "images", filename: "a.png", subfolder: "", display_name: "a.png" },
    execution_error: { traceback: [], exception_message: "no room", exception_type: "OOM", node_type: undefined },
  };
  const note = { jobId: "job-2", item, createdMs: 1_700_000_000_000, isExact: true };
  await store.jobLedger.note(id, [note], 100);
  const watching = new SqliteConnection(join(folder, "console.sqlite"), { readOnly: true });
  ends.push(() => watching.close());
  const version = () => watching.pragma("data_version");
  const before = version();
  await store.jobLedger.note(id, [note], 100);
  expect(version()).toBe(before);
  await store.jobLedger.note(id, [{ ...note, item: { ...item, status: "cancelled" } }], 100);
  expect(version()).not.toBe(before);
});

test("what was written a moment ago is not looked up again, even where another process took it away", async () => {
  const { id, other, note, isKnown } = await world();
  await other.jobLedger.forget(id, ["job-1"]);
  await note("completed");
  expect(await isKnown()).toBe(false);
});

test("a job that is reported differently is written again", async () => {
  const { id, other, note, isKnown } = await world();
  await other.jobLedger.forget(id, ["job-1"]);
  await note("failed");
  expect(await isKnown()).toBe(true);
});

test("what was written is believed for minutes, not for ever", async () => {
  vi.useFakeTimers({ now: Date.now(), toFake: ["Date"] });
  const { id, other, note, isKnown } = await world();
  await other.jobLedger.forget(id, ["job-1"]);
  vi.setSystemTime(Date.now() + 6 * 60_000);
  await note("completed");
  expect(await isKnown()).toBe(true);
});

test("a job that was removed, or whose connection began anew, is written when it is reported again", async () => {
  const { id, store, note, isKnown } = await world();
  await store.jobLedger.forget(id, ["job-1"]);
  await note("completed");
  expect(await isKnown()).toBe(true);
  await store.jobLedger.restart(id);
  await note("completed");
  expect(await isKnown()).toBe(true);
});

test("jobs that the ledger meets in a list belong to the member whose submission the log has first, each to its own", async () => {
  const { id, store } = await world();
  const entry = { at: 1, requestId: "r", action: "submitPrompt", connectionId: id, status: 200 };
  for (const [memberId, target] of [
    ["ada", "job-2"],
    ["ben", "job-3"],
    ["cy", "job-2"],
  ])
    await store.audit.add({ ...entry, memberId, target });
  const notes = ["job-2", "job-3", "job-4"].map((jobId) => ({ ...job("completed"), jobId }));
  await store.jobLedger.note(id, notes, 100);
  const jobsOf = async (memberId: string) =>
    (await store.jobLedger.search(id, { words: [], memberId, sort_by: "create_time", sort_order: "desc", offset: 0, limit: 9 })).jobs.map(
      (found) => found.id,
    );
  expect(await Promise.all(["ada", "ben", "cy"].map(jobsOf))).toEqual([["job-2"], ["job-3"], []]);
});
