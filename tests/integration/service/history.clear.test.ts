// A history whose rows take longer to remove than a client waits: it is gone from every view at once, and its rows are removed in the
// background, also after a stop and a start. Every query in between is answered a second time from all rows here.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHistoryClears, removeEndedByIds } from "@/lib/service/jobs/history/ended-jobs";
import { findJob, readJobs } from "@/lib/service/jobs/job-row";
import { countJobs, listJobs } from "@/lib/service/jobs/list-jobs";
import { isTerminal, move, terminalStates } from "@/lib/service/jobs/transitions";
import { type Database, query } from "@/lib/service/store/database";
import { createOnlyProcess } from "@/lib/service/store/processes";
import { workflowId, workflowsOf } from "@/tests/bench/service/seed-jobs";
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";

const JOBS = 3000;
const silentLog = { info: () => undefined, warn: () => undefined, error: console.error };
const anyJobs = fc.record({
  states: fc.subarray(["pending", "in_progress", "completed", "failed", "cancelled"] as const),
  workflow: fc.option(fc.constantFrom(...Array.from({ length: workflowsOf(JOBS) }, (_, index) => workflowId(index))), { nil: undefined }),
  output: fc.option(fc.constantFrom("image" as const, "video" as const), { nil: undefined, freq: 3 }),
  sort_by: fc.constantFrom("create_time" as const, "execution_time" as const),
  sort_order: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.integer({ min: 1, max: 80 }),
  offset: fc.nat(160),
});
type Asked = typeof anyJobs extends fc.Arbitrary<infer T> ? T : never;

describe("clearing a long history", () => {
  let place: ServicePlace;
  let database: Database;
  const open = async () => (database = await place.open());
  const shown = () => countJobs(database, 1, terminalStates);
  const rows = () => database.rows(query.selectFrom("jobs").selectAll());
  const isMarked = async () =>
    (await database.row(query.selectFrom("users").select("id").where("history_cleared_until", "is not", null))) !== undefined;

  beforeEach(async () => {
    place = await makeServicePlace();
    await place.seed("ada", JOBS);
    await open();
  });
  afterEach(async () => {
    await database.close();
    await place.remove();
  });

  /** Clears the history, with most of its rows still there, as a stop right afterwards leaves it. */
  async function clearAndStop(): Promise<number> {
    const clears = createHistoryClears(database, createOnlyProcess(), silentLog);
    const removed = await clears.clear(1, Date.now());
    await clears.stop();
    return removed;
  }

  /** Waiting jobs run and end, in every way. */
  async function endSome(few: number): Promise<number[]> {
    const waiting = (await rows()).filter((job) => job.state === "pending");
    const seqs = waiting.slice(0, few).map((job) => job.seq);
    await database.commit(async (tx) => {
      for (const [at, seq] of seqs.entries()) {
        await move(tx, { seq, from: "pending", to: "in_progress", at: at + 1 });
        const to = terminalStates[at % 4];
        if (to) await move(tx, { seq, from: "in_progress", to, at: at + 2 }, { execution_time: at % 5, has_image: at % 2 });
      }
    });
    return seqs.filter((_, at) => terminalStates[at % 4] !== undefined);
  }

  type Rows = Awaited<ReturnType<typeof rows>>;
  function expected(every: Rows, since: ReadonlySet<number>, { states, workflow, output, sort_by, sort_order }: Asked) {
    const sign = sort_order === "asc" ? 1 : -1;
    return every
      .filter((job) => !isTerminal(job.state) || since.has(job.seq))
      .filter((job) => states.length === 0 || states.some((state) => state === job.state))
      .filter((job) => workflow === undefined || job.workflow_id === workflow)
      .filter((job) => output === undefined || (job.state === "completed" && job[`has_${output}`] === 1))
      .sort((a, b) => sign * (a[sort_by] - b[sort_by] || (a.id < b.id ? -1 : 1)))
      .map((job) => job.id);
  }

  it("shows none of it from then on, in any list, while most of its rows are still there", async () => {
    const before = await shown();
    const [old] = (await rows()).filter((job) => job.state === "completed");
    expect(await clearAndStop()).toBe(before);
    expect((await rows()).length).toBeGreaterThan(before / 2);
    const since = new Set(await endSome(40));
    expect(since.size).toBe(30);
    expect(await shown()).toBe(since.size);
    const every = await rows();
    await fc.assert(
      fc.asyncProperty(anyJobs, async (asked) => {
        const { states, workflow, output, ...page } = asked;
        const all = expected(every, since, asked);
        const found = await listJobs(database, 1, { ...page, status: [...states], workflow_id: workflow, output_type: output });
        const ids = (await readJobs(database, found.seqs)).map((job) => job.id);
        expect({ total: found.total, ids }).toEqual({
          total: all.length,
          ids: all.slice(page.offset, page.offset + page.limit),
        });
      }),
      { numRuns: 200, seed: 9 },
    );
    const [kept] = (await rows()).filter((job) => since.has(job.seq));
    expect(await findJob(database, 1, old?.id ?? "")).toBeUndefined();
    expect((await findJob(database, 1, kept?.id ?? ""))?.id).toBe(kept?.id);
    expect(await removeEndedByIds(database, 1, [old?.id ?? "", kept?.id ?? ""])).toBe(1);
    expect(await shown()).toBe(since.size - 1);
  });

  it("goes on with the next start; what ended since stays, and what waits", async () => {
    await clearAndStop();
    const since = await endSome(40);
    const waiting = (await rows()).filter((job) => !isTerminal(job.state)).length;
    expect(await isMarked()).toBe(true);
    await database.close();

    await open();
    const again = createHistoryClears(database, createOnlyProcess(), silentLog);
    await again.start();
    await until("the rows have gone", async () => !(await isMarked()), { timeoutMs: 40_000 });
    await again.stop();
    expect(await rows()).toHaveLength(since.length + waiting);
    expect([await shown(), await countJobs(database, 1, ["pending", "in_progress"])]).toEqual([since.length, waiting]);
    expect(await database.rows(query.selectFrom("ended_since_clear").selectAll())).toEqual([]);
  });

  it("again while the first one is under way takes what has ended since as well", async () => {
    await clearAndStop();
    const since = await endSome(20);
    const clears = createHistoryClears(database, createOnlyProcess(), silentLog);
    expect(await clears.clear(1, Date.now())).toBe(since.length);
    expect(await shown()).toBe(0);
    await until("the rows have gone", async () => !(await isMarked()), { timeoutMs: 40_000 });
    await clears.stop();
    expect((await rows()).filter((job) => isTerminal(job.state))).toEqual([]);
  });

  it("again in the moment in which the first one ends takes what has ended since as well", async () => {
    const [last, ...others] = (await rows()).filter((job) => isTerminal(job.state));
    const waiting = (await rows()).find((job) => job.state === "pending");
    if (!last || !waiting) throw new Error("there are no such jobs");
    const gone = query.deleteFrom("jobs").where("state", "in", terminalStates).where("seq", "!=", last.seq);
    expect(await database.commit((tx) => tx.run(gone))).toBe(others.length);

    let commits = 0;
    let second: Promise<number> | undefined;
    const watched: Database = {
      ...database,
      commitFreeing(work) {
        commits += 1;
        // The commits: the mark, one removal, and the look that finds no more. The next clear comes in the same shared commit as the third.
        if (commits !== 3) return database.commitFreeing(work);
        void database.commit(async (tx) => {
          await move(tx, { seq: waiting.seq, from: "pending", to: "in_progress", at: 1 });
          await move(tx, { seq: waiting.seq, from: "in_progress", to: "completed", at: 2 });
        });
        const looked = database.commitFreeing(work);
        second = clears.clear(1, Date.now());
        return looked;
      },
    };
    const clears = createHistoryClears(watched, createOnlyProcess(), silentLog);
    expect(await clears.clear(1, Date.now())).toBe(1);
    await until("it was cleared again", () => second !== undefined);
    expect(await second).toBe(1);
    await until("the rows have gone", async () => !(await isMarked()), { timeoutMs: 10_000 });
    await clears.stop();
    expect((await rows()).filter((job) => isTerminal(job.state))).toEqual([]);
  });

  it("that is empty marks nothing", async () => {
    await database.commit((tx) => tx.run(query.deleteFrom("jobs").where("state", "in", terminalStates)));
    const clears = createHistoryClears(database, createOnlyProcess(), silentLog);
    expect(await clears.clear(1, Date.now())).toBe(0);
    expect(await isMarked()).toBe(false);
    await clears.stop();
  });
});
