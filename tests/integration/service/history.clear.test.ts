// A history whose rows take longer to remove than a client waits: the removal goes on in the background, also after a stop and a start.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHistoryClears } from "@/lib/service/jobs/history/ended-jobs";
import { countJobs } from "@/lib/service/jobs/list-jobs";
import { isTerminal, move, terminalStates } from "@/lib/service/jobs/transitions";
import { type Database, query } from "@/lib/service/store/database";
import { makeServicePlace, type ServicePlace } from "@/tests/support/service-store";
import { until } from "@/tests/support/until";

const JOBS = 3000;
const silentLog = { info: () => undefined, warn: () => undefined, error: console.error };

describe("clearing a long history", () => {
  let place: ServicePlace;
  let database: Database;
  const open = async () => (database = await place.open());
  const ended = () => countJobs(database, 1, terminalStates);
  const rows = () => database.rows(query.selectFrom("jobs").selectAll().orderBy("seq"));
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

  async function clearAndStop(): Promise<number> {
    const clears = createHistoryClears(database, silentLog);
    const cleared = clears.clear(1, Date.now());
    await until("some rows are gone", async () => (await rows()).length < JOBS);
    await clears.stop();
    return cleared;
  }

  /** Ends some waiting jobs after the clear. */
  async function endSome(count: number): Promise<number[]> {
    const seqs = (await rows())
      .filter((job) => job.state === "pending")
      .map((job) => job.seq)
      .slice(0, count);
    await database.commit(async (tx) => {
      for (const seq of seqs) {
        await move(tx, { seq, from: "pending", to: "in_progress", at: Date.now() + 1000 });
        await move(tx, { seq, from: "in_progress", to: "completed", at: Date.now() + 1000 });
      }
    });
    return seqs;
  }

  it("removes every ended job, and keeps those that wait or run", async () => {
    const before = await ended();
    const others = (await rows()).filter((job) => !isTerminal(job.state)).length;
    const clears = createHistoryClears(database, silentLog);
    expect(await clears.clear(1, Date.now())).toBe(before);
    await until("the removal has ended", async () => !(await isMarked()));
    await clears.stop();
    expect([await ended(), (await rows()).length]).toEqual([0, others]);
  });

  it("goes on with the next start, and keeps what has ended since", async () => {
    const before = await ended();
    expect(await clearAndStop()).toBe(before);
    const since = await endSome(30);
    expect(await isMarked()).toBe(true);
    await database.close();

    await open();
    const again = createHistoryClears(database, silentLog);
    await again.round();
    await until("the removal has ended", async () => !(await isMarked()));
    await again.stop();
    expect((await rows()).filter((job) => isTerminal(job.state)).map((job) => job.seq)).toEqual(since);
  });

  it("removes what has ended since when it is cleared again meanwhile", async () => {
    await clearAndStop();
    const since = await endSome(20);
    const clears = createHistoryClears(database, silentLog);
    expect(await clears.clear(1, Date.now() + 2000)).toBeGreaterThan(since.length);
    await until("the removal has ended", async () => !(await isMarked()));
    await clears.stop();
    expect(await ended()).toBe(0);
  });

  it("marks nothing when the history is empty", async () => {
    await database.commit((tx) => tx.run(query.deleteFrom("jobs").where("state", "in", terminalStates)));
    const clears = createHistoryClears(database, silentLog);
    expect(await clears.clear(1, Date.now())).toBe(0);
    expect(await isMarked()).toBe(false);
    await clears.stop();
  });
});
