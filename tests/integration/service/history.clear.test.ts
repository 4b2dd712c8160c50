// A history that takes longer to clear than anybody waits: the answer comes in time, and the rest goes, over a stop and a start as well.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countJobs } from "@/lib/service/jobs/list-jobs";
import { createHistoryClears } from "@/lib/service/jobs/history-clears";
import { terminalStates } from "@/lib/service/jobs/transitions";
import { type Database, openDatabase, query } from "@/lib/service/store/database";
import { createKeys } from "@/lib/service/users/keys";
import { seedJobs } from "@/tests/bench/service/seed-jobs";
import { until } from "@/tests/support/until";

const silentLog = { info: () => undefined, warn: () => undefined, error: console.error };

describe("clearing a long history", () => {
  let folder: string;
  let database: Database;
  const open = () => (database = openDatabase(join(folder, "service.sqlite"), Date.now));
  const ended = () => countJobs(database, 1, terminalStates);
  const countAll = () => countJobs(database, 1, [...terminalStates, "pending"]);
  const newest = () =>
    database.row(query.selectFrom("jobs").select("create_time").orderBy("create_time", "desc").limit(1))?.create_time ?? 0;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "lightdesk-clear-"));
    open();
    createKeys(database, Date.now).createKey("ada");
    database.close();
    seedJobs(join(folder, "service.sqlite"), "ada", 3000);
    open();
  });
  afterEach(async () => {
    database.close();
    await rm(folder, { recursive: true, force: true });
  });

  it("answers in time, and the rest goes in the background; what ended later stays, and so does what waits", async () => {
    const [before, waiting] = [ended(), countAll() - ended()];
    const middle = newest() - 10_000_000;
    const clears = createHistoryClears(database, silentLog, 0);
    expect(await clears.clear(1, middle)).toEqual({ removed: 0, isDone: false });
    await until("the older ones are gone", () => {
      const older = query.selectFrom("jobs").select("seq").where("state", "!=", "pending").where("state_time", "<=", middle).limit(1);
      return database.row(older) === undefined;
    });
    await clears.stop();
    expect(ended()).toBeGreaterThan(0);
    expect(ended()).toBeLessThan(before);
    expect(countAll() - ended()).toBe(waiting);
  });

  it("that a stop interrupts goes on with the next start, and is then forgotten", async () => {
    const clears = createHistoryClears(database, silentLog, 0);
    await clears.clear(1, newest() + 1e9);
    await clears.stop();
    expect(ended()).toBeGreaterThan(0);
    database.close();

    open();
    const again = createHistoryClears(database, silentLog);
    again.start();
    await until("everything that had ended is gone", () => ended() === 0);
    const asked = query.selectFrom("users").select("id").where("history_cleared_until", "is not", null);
    await until("nothing is left to do", () => database.row(asked) === undefined);
    await again.stop();
  });

  it("that is short is done when it is answered", async () => {
    const clears = createHistoryClears(database, silentLog);
    const before = ended();
    expect(await clears.clear(1, newest() + 1e9)).toEqual({ removed: before, isDone: true });
    expect(ended()).toBe(0);
  });
});
