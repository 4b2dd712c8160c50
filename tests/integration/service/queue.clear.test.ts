// A queue that is longer than anybody waits for: its jobs are cancelled in every view at once, and their rows follow in the background, over
// a stop and a start as well. Every question in between is answered a second time by a look at all rows here.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hasNotes } from "@/lib/service/jobs/cancel-notes";
import { claimJob } from "@/lib/service/jobs/claim";
import { createHistoryClears } from "@/lib/service/jobs/history-clears";
import { manageHistory } from "@/lib/service/jobs/history";
import { findJob } from "@/lib/service/jobs/job-row";
import { toDetail } from "@/lib/service/jobs/job-view";
import { countJobs, listJobs } from "@/lib/service/jobs/list-jobs";
import { createQueueClears } from "@/lib/service/jobs/queue-clears";
import { cancelPendingJobs, listQueue, manageQueue } from "@/lib/service/jobs/queue";
import { terminalStates } from "@/lib/service/jobs/transitions";
import { type Database, openDatabase, query } from "@/lib/service/store/database";
import { createKeys } from "@/lib/service/users/keys";
import { seedJobs, workflowId, workflowsOf } from "@/tests/bench/service/seed-jobs";
import { until } from "@/tests/support/until";

const [JOBS, WAITING, NOW] = [3000, 2500, 4e12];
const silentLog = { info: () => undefined, warn: () => undefined, error: console.error };
const anyJobs = fc.record({
  states: fc.subarray(["pending", "in_progress", "completed", "failed", "cancelled"] as const),
  workflow: fc.constantFrom(undefined, undefined, ...Array.from({ length: workflowsOf(JOBS) }, (_, index) => workflowId(index))),
  output: fc.constantFrom(undefined, undefined, undefined, undefined, "image" as const, "video" as const),
  sort_by: fc.constantFrom("create_time" as const, "execution_time" as const),
  sort_order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.integer({ min: 1, max: 80 }),
  offset: fc.oneof(fc.nat(40), fc.nat(JOBS)),
});
type Asked = typeof anyJobs extends fc.Arbitrary<infer T> ? T : never;

describe("clearing a long queue", () => {
  let folder: string;
  let database: Database;
  const rows = () => database.rows(query.selectFrom("jobs").selectAll().orderBy("seq"));
  const waiting = () => rows().filter((job) => job.state === "pending");
  const engine = { forgetPending: () => undefined, submitted: () => undefined };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lightdesk-queue-"));
    const file = join(folder, "service.sqlite");
    database = openDatabase(file, Date.now);
    createKeys(database, Date.now).createKey("ada");
    database.close();
    seedJobs(file, "ada", JOBS, { waiting: WAITING / JOBS });
    database = openDatabase(file, Date.now);
  });
  afterEach(async () => {
    database.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Cleared, with most of its rows still saying that they wait, as a stop right afterwards leaves it. */
  async function clearAndStop(): Promise<{ noted: Set<string>; deleted: string[] }> {
    const noted = new Set(waiting().map((job) => job.id));
    expect(noted.size).toBeGreaterThan(2000);
    const queueClears = createQueueClears(database, silentLog);
    await queueClears.stop();
    const { deleted } = await manageQueue({ database, engine, queueClears, now: () => NOW }, 1, { clear: true });
    expect(waiting().length).toBe(noted.size);
    return { noted, deleted };
  }

  function expected(noted: ReadonlySet<string>, { states, workflow, output, sort_by, sort_order }: Asked): string[] {
    const sign = sort_order === "asc" ? 1 : -1;
    return rows()
      .map((job) => ({ ...job, state: noted.has(job.id) ? ("cancelled" as const) : job.state }))
      .filter(
        (job) =>
          (states.length === 0 || states.includes(job.state)) &&
          (workflow === undefined || job.workflow_id === workflow) &&
          (output === undefined || (job.state === "completed" && job[`has_${output}`] === 1)),
      )
      .sort((a, b) => sign * (a[sort_by] - b[sort_by] || (a.id < b.id ? -1 : 1)))
      .map((job) => job.id);
  }

  it("answers with every job that waited, oldest first, and shows each list as if their rows had followed", async () => {
    const { noted, deleted } = await clearAndStop();
    expect(new Set(deleted)).toEqual(noted);
    const isCancelled = new Set(rows().flatMap((job) => (job.state === "cancelled" ? [job.id] : [])));
    const some: Asked = {
      states: [],
      workflow: undefined,
      output: undefined,
      sort_by: "create_time",
      sort_order: "asc",
      limit: 1,
      offset: 0,
    };
    expect(deleted).toEqual(expected(noted, some).filter((id) => noted.has(id)));
    // As if some had been sent afterwards: these wait.
    const later = waiting().filter((_, at) => at % 20 === 0);
    database.run(query.deleteFrom("cancel_notes").where("job_seq", "in", later.map((job) => job.seq))); // prettier-ignore
    for (const { id } of later) noted.delete(id);
    fc.assert(
      fc.property(anyJobs, (asked) => {
        const { states: status, workflow: workflow_id, output: output_type, limit, offset, sort_by, sort_order } = asked;
        const all = expected(noted, asked);
        const { jobs, total } = listJobs(database, 1, { status, workflow_id, output_type, sort_by, sort_order, limit, offset });
        expect({ ids: jobs.map((job) => job.id), total }).toEqual({ ids: all.slice(offset, offset + limit), total: all.length });
        expect(jobs.every((job) => (job.state === "cancelled") === noted.has(job.id) || isCancelled.has(job.id))).toBe(true);
      }),
      { numRuns: 150, seed: 20261121 },
    );
  });

  it("shows a job of it as one that was cancelled, in the queue not at all, and nothing takes or cancels it again", async () => {
    const [first] = waiting();
    if (!first) throw new Error("nothing waits");
    const { noted } = await clearAndStop();
    const job = findJob(database, 1, first.id);
    expect(job).toMatchObject({ state: "cancelled", update_time: NOW, state_time: NOW });
    const shown = toDetail(database, job ?? first, undefined);
    expect([...listQueue(database, 1)].join("")).toBe('{"queue_running":[],"queue_pending":[]}');
    expect(countJobs(database, 1, ["pending", "in_progress"])).toBe(0);
    expect(await cancelPendingJobs({ database, engine, now: Date.now }, 1, [first.id])).toEqual([]);
    const queueClears = createQueueClears(database, silentLog);
    expect(await manageQueue({ database, engine, queueClears, now: Date.now }, 1, { clear: true })).toEqual({ deleted: [], cleared: true });
    expect(claimJob({ database, now: Date.now, log: silentLog }, first.seq, "slot-1")).toBeUndefined();
    await queueClears.settle(1, [...noted]);
    expect(rows().filter((row) => noted.has(row.id) && row.state === "cancelled" && row.state_time === NOW)).toHaveLength(noted.size);
    expect(toDetail(database, findJob(database, 1, first.id) ?? first, undefined)).toBe(shown);
    await queueClears.stop();
  });

  it("goes on after a stop, and leaves rows, counts and results as cancelling one by one would", async () => {
    const { noted } = await clearAndStop();
    const before = countJobs(database, 1, ["cancelled"]);
    const again = createQueueClears(database, silentLog);
    again.start();
    await until("every row has followed", () => !hasNotes(database, 1));
    await again.stop();
    expect(waiting()).toEqual([]);
    expect(countJobs(database, 1, ["cancelled"])).toBe(before);
    const results = database.rows(query.selectFrom("job_results").innerJoin("jobs", "seq", "job_seq").select("id"));
    expect(results.filter(({ id }) => noted.has(id))).toHaveLength(noted.size);
  });

  it("leaves nothing of it behind when the history is cleared, or a job of it removed, right afterwards", async () => {
    const [first, second] = waiting();
    const ended = countJobs(database, 1, terminalStates);
    const { noted } = await clearAndStop();
    const later = waiting().at(-1);
    if (!first || !second || !later) throw new Error("nothing waits");
    // As if it had been sent afterwards: it waits on.
    database.run(query.deleteFrom("cancel_notes").where("job_seq", "=", later.seq));
    const queueClears = createQueueClears(database, silentLog);
    const stopped = createHistoryClears(database, silentLog);
    await stopped.stop();
    const parts = { database, clears: stopped, queueClears, now: () => NOW };
    expect(await manageHistory(parts, 1, { delete: [first.id] })).toBe("1 removed from the history.");
    expect(await manageHistory(parts, 1, { clear: true })).toBe(`The history was cleared: ${ended + noted.size - 2} removed.`);
    expect(findJob(database, 1, second.id)).toBeUndefined();
    expect(countJobs(database, 1, terminalStates)).toBe(0);
    for (const status of [[], ["pending" as const], ["pending" as const, "cancelled" as const]]) {
      const { jobs, total } = listJobs(database, 1, { status, sort_by: "create_time", sort_order: "asc", limit: 10, offset: 0 });
      expect({ ids: jobs.map((job) => job.id), total }).toEqual({ ids: [later.id], total: 1 });
    }
    queueClears.start();
    const again = createHistoryClears(database, silentLog);
    again.start();
    await until("all rows but one are gone", () => rows().length === 1 && !hasNotes(database, 1), { timeoutMs: 30_000 });
    expect(findJob(database, 1, later.id)).toMatchObject({ state: "pending" });
    await again.stop();
    await queueClears.stop();
  });
});
