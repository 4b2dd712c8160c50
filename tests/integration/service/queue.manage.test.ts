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
    const queue = asRecord((await client.get("/api/queue")).body);
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

  it("rejects unknown fields in both bodies", async () => {
    for (const path of ["/api/queue", "/api/history"]) {
      expect(await client.post(path, { remove: [] })).toMatchObject({
        status: 400,
        body: { code: "INVALID_BODY", message: expect.stringContaining("remove") },
      });
      expect((await client.post(path, { delete: "all" })).status).toBe(400);
      expect((await client.call("POST", path, "[")).status).toBe(400);
    }
  });

  it("returns each job's own data when short and long jobs are mixed", async () => {
    // One note is longer than a list page and a single read.
    const notes = ["first", "x".repeat(300_000), "third", "fourth"];
    const ids: string[] = [];
    for (const [index, note] of notes.entries())
      ids.push(await submitGraph(client, createColorGraph(13 + index), { extra_data: { note } }));
    for (const id of ids) await waitForEnd(client, id);
    const { history } = asRecord((await client.get("/api/history_v2?max_items=4")).body);
    const historyRows = asRecords(history).map((entry) => [entry.prompt_id, asRecord(entry.prompt).extra_data]);
    const listedNotes = notes.map((note) => (note.length > 1000 ? {} : { note }));
    expect(historyRows.reverse()).toEqual(ids.map((id, at) => [id, listedNotes[at]]));
    const historyMap = asRecord((await client.get("/api/history?max_items=4&offset=-1")).body);
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
    const json = asRecord((await client.get("/api/jobs")).body);
    expect(asRecords(json.jobs).map((job) => job.id)).toEqual([runningId]);
    expect(json.pagination).toMatchObject({ total: 1 });
    await waitForEnd(client, runningId);
  });
});

describe("GET /api/jobs", async () => {
  const service = await startService({ concurrency: 1, now: createSteppingClock() });
  const client = service.client();
  const ids: string[] = [];
  for (let n = 0; n < 7; n += 1) ids.push(await submitGraph(client, createColorGraph(n)));
  const failedId = await submitGraph(client, {
    ...createColorGraph(1),
    "3": { class_type: "Fail", inputs: { message: "no", anything: ["1", 0] } },
    "4": { class_type: "SaveImage", inputs: { images: ["3", 0], filename_prefix: "f" } },
  });
  for (const id of [...ids, failedId]) await waitForEnd(client, id);

  const getPage = async (query: string) => asRecord((await client.get(`/api/jobs${query}`)).body);
  const getIds = async (query: string) => asRecords((await getPage(query)).jobs).map((job) => asString(job.id));

  it("lists the newest first, with an exact total and default parameters", async () => {
    const json = await getPage("");
    expect(json.pagination).toEqual({ offset: 0, limit: 100, total: 8, has_more: false });
    expect(await getIds("")).toEqual([failedId, ...[...ids].reverse()]);
    expect(asRecords(json.jobs)[1]).toMatchObject({
      status: "completed",
      outputs_count: 1,
      workflow_id: expect.any(String),
      preview_output: { mediaType: "images" },
    });
    expect(asRecords(json.jobs)[1]).not.toHaveProperty("outputs");
  });
});

/** Creates a clock that advances a millisecond per read, so that no two jobs share a time. */
function createSteppingClock(): () => number {
  let nowMs = Date.parse("2026-01-01T00:00:00Z");
  return () => ++nowMs;
}

const JOB_COUNT = 3000;

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

  it("stores no pending clear when the history is empty", async () => {
    await database.commit((tx) => tx.run(query.deleteFrom("jobs").where("state", "in", terminalStates)));
    expect(await clearHistory(database, 1, Date.now())).toBe(0);
    expect(await isClearPending()).toBe(false);
  });
});
