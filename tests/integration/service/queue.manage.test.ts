import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { clearHistory, finishClears } from "@/lib/service/jobs/history/ended-jobs";
import { countJobs } from "@/lib/service/jobs/list-jobs";
import { isTerminal, moveJob, terminalStates } from "@/lib/service/jobs/transitions";
import { type Database, query } from "@/lib/service/store/database";
import { startService } from "@/tests/support/service";
import { createTestServiceStore, type TestServiceStore } from "@/tests/support/service-store";
import {
  asRecord,
  asRecords,
  asString,
  createColorGraph,
  createWaitGraph,
  getRecord,
  readJob,
  submitGraph,
  waitForEnd,
  waitForStart,
} from "./support";

describe("the queue and the history", async () => {
  const service = await startService({ concurrency: 1 });
  const client = service.client();

  it("cancels only pending jobs and returns their ids", async () => {
    const first = await submitGraph(client, createWaitGraph(1));
    await waitForStart(client, first);
    const [second, third] = [await submitGraph(client, createColorGraph(1)), await submitGraph(client, createColorGraph(2))];
    const queue = await getRecord(client, "/api/queue");
    expect(queue.queue_running).toEqual([[1, first, expect.any(Object), ["3"], { create_time: expect.any(Number) }]]);
    expect(asRecords(queue.queue_pending).map((item) => [item[0], item[1]])).toEqual([
      [1, second],
      [2, third],
    ]);
    expect((await client.get("/api/prompt")).body).toEqual({ exec_info: { queue_remaining: 3 } });

    const result = await client.post("/api/queue", { delete: [first, second, "unknown"] });
    expect(result).toMatchObject({ status: 200, body: { deleted: [second], cleared: false } });
    expect(await readJob(client, second)).toMatchObject({ status: "cancelled", outputs_count: 0 });
    expect(await client.post("/api/queue", { clear: true, delete: [first] })).toMatchObject({ body: { deleted: [third], cleared: true } });
    expect((await waitForEnd(client, first)).status).toBe("completed");
    expect(await client.post("/api/queue", { delete: [first] })).toMatchObject({ body: { deleted: [], cleared: false } });
  });

  it("returns each job's own data when short and long jobs are mixed", async () => {
    // One note is longer than a list page and a single read.
    const notes = ["first", "x".repeat(300_000), "third", "fourth"];
    const ids: string[] = [];
    for (const [index, note] of notes.entries())
      ids.push(await submitGraph(client, createColorGraph(13 + index), { extra_data: { note } }));
    for (const id of ids) await waitForEnd(client, id);
    const { history } = await getRecord(client, "/api/history_v2?max_items=4");
    const historyRows = asRecords(history).map((entry) => [entry.prompt_id, asRecord(entry.prompt).extra_data]);
    const listedNotes = notes.map((note) => (note.length > 1000 ? {} : { note }));
    expect(historyRows.reverse()).toEqual(ids.map((id, at) => [id, listedNotes[at]]));
    const historyMap = await getRecord(client, "/api/history?max_items=4&offset=-1");
    const tuples = Object.entries(historyMap).map(([id, entry]) => ({ id, tuple: asRecord(entry).prompt }));
    expect(tuples).toEqual(
      ids.map((id, at) => ({ id, tuple: [expect.any(Number), id, createColorGraph(13 + at), { note: notes[at] }, ["2"]] })),
    );
  });

  it("removes ended jobs from every list but keeps their assets", async () => {
    const doneId = await submitGraph(client, createColorGraph(12));
    const file = asString(asRecord((await waitForEnd(client, doneId)).preview_output).filename);
    const runningId = await submitGraph(client, createWaitGraph(1));
    await waitForStart(client, runningId);
    expect((await client.post("/api/history", { delete: [doneId, runningId] })).body).toMatchObject({
      code: "OK",
      message: expect.any(String),
    });
    expect((await client.get(`/api/jobs/${doneId}`)).status).toBe(404);
    expect((await client.get(`/api/view?filename=${file}`)).status).toBe(200);
    expect((await readJob(client, runningId)).status).toBe("in_progress");
    await client.post("/api/history", { clear: true });
    const json = await getRecord(client, "/api/jobs");
    expect(asRecords(json.jobs).map((job) => job.id)).toEqual([runningId]);
    expect(json.pagination).toEqual({ offset: 0, limit: 100, total: 1, has_more: false });
    await waitForEnd(client, runningId);
  });
});

const JOB_COUNT = 2000;

describe("clearing a long history", () => {
  let testStore: TestServiceStore;
  let database: Database;
  const openDatabase = async () => (database = await testStore.open());
  const countEnded = () => countJobs(database, 1, terminalStates);
  const readJobs = () => database.rows(query.selectFrom("jobs").selectAll().orderBy("seq"));
  const isClearPending = async () =>
    (await database.row(query.selectFrom("users").select("id").where("history_cleared_until", "is not", null))) !== undefined;

  beforeEach(async () => {
    testStore = await createTestServiceStore();
    await testStore.seed("ada", JOB_COUNT);
    await openDatabase();
  });
  afterEach(() => database.close());

  /** Clears with a mocked clock, so that the clear exceeds the client's wait. */
  async function startSlowClear(): Promise<number> {
    let now = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 400));
    const clearedCount = await clearHistory(database, 1, Date.now());
    clock.mockRestore();
    expect(await isClearPending()).toBe(true);
    return clearedCount;
  }

  /** Ends pending jobs after the clear. */
  async function endPendingJobs(count: number): Promise<number[]> {
    const seqs = (await readJobs())
      .filter((job) => job.state === "pending")
      .map((job) => job.seq)
      .slice(0, count);
    await database.commit(async (tx) => {
      for (const seq of seqs) {
        await moveJob(tx, { seq, from: "pending", to: "in_progress", at: Date.now() + 1000 });
        await moveJob(tx, { seq, from: "in_progress", to: "completed", at: Date.now() + 1000 });
      }
    });
    return seqs;
  }

  it("removes every ended job and keeps pending and running jobs", async () => {
    const endedCount = await countEnded();
    const activeCount = (await readJobs()).filter((job) => !isTerminal(job.state)).length;
    expect(await clearHistory(database, 1, Date.now())).toBe(endedCount);
    await finishClears(database, () => true);
    expect([await countEnded(), (await readJobs()).length, await isClearPending()]).toEqual([0, activeCount, false]);
    // An empty history is not cleared.
    expect([await clearHistory(database, 1, Date.now()), await isClearPending()]).toEqual([0, false]);
  });

  it("resumes at the next start and keeps jobs that ended since", async () => {
    const endedCount = await countEnded();
    expect(await startSlowClear()).toBe(endedCount);
    expect(await countEnded()).toBeGreaterThan(0);
    const laterSeqs = await endPendingJobs(30);
    await database.close();

    await openDatabase();
    await finishClears(database, () => false);
    expect(await isClearPending()).toBe(true);
    await finishClears(database, () => true);
    expect((await readJobs()).filter((job) => isTerminal(job.state)).map((job) => job.seq)).toEqual(laterSeqs);
    expect(await isClearPending()).toBe(false);
  });

  it("removes newly ended jobs when cleared again", async () => {
    await startSlowClear();
    const laterSeqs = await endPendingJobs(20);
    expect(await clearHistory(database, 1, Date.now() + 2000)).toBeGreaterThan(laterSeqs.length);
    await finishClears(database, () => true);
    expect([await countEnded(), await isClearPending()]).toEqual([0, false]);
  });
});
