// Processes of the service on one PostgreSQL: they exchange notices, know which ones live, and do shared work once.
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { startHousekeeping } from "@/lib/service/housekeeping";
import { type Database, query } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";
import { until } from "@/tests/support/until";

let warnings = 0;
const log = { info: () => undefined, warn: () => void (warnings += 1), error: () => undefined };
let own: OwnDatabase;
let wire: Wire;
let database: Database;
let here: Processes;
let there: Processes;

beforeEach(async () => {
  own = await createDatabase(inject("postgres"));
  wire = await openWire(own.url);
  database = await openPostgres(own.url, Date.now);
  here = createPostgresProcesses(database, own.url, log);
  there = createPostgresProcesses(database, wire.url, log);
  await here.start({ slots: 1, hasSharedFiles: true });
  await there.start({ slots: 1, hasSharedFiles: true });
});

afterEach(async () => {
  wire.mend();
  await here.close();
  await there.close();
  await database.close();
  await wire.close();
  await own.drop();
});

it("notifies other processes, and within a commit only when committed", async () => {
  const received: unknown[] = [];
  const own: unknown[] = [];
  here.listen("news", (payload) => own.push(payload));
  there.listen("news", (payload, from) => received.push([payload, from === here.id]));
  there.listen("other", (payload) => received.push(payload));
  await expect(
    database.commit(async (tx) => {
      await here.notify("news", "undone", tx);
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  await database.commit((tx) => here.notify("news", { at: 1 }, tx));
  await here.notify("news", "outside");
  await until("both have arrived", () => received.length === 2);
  expect([received, own]).toEqual([
    [
      [{ at: 1 }, true],
      ["outside", true],
    ],
    [],
  ]);
  await expect(here.notify("news", "x".repeat(8000))).rejects.toThrow("too long");
});

it("says that something may have been missed once a lost line is there again", async () => {
  let missed = 0;
  const received: unknown[] = [];
  there.listen("news", (payload) => received.push(payload), () => (missed += 1)); // prettier-ignore
  wire.cut();
  warnings = 0;
  await until("the line is lost", () => warnings > 0);
  await here.notify("news", "not heard");
  wire.mend();
  await until("it is there again", () => missed === 1);
  await here.notify("news", "heard");
  await until("it hears", () => received.length === 1);
  expect(received).toEqual(["heard"]);
});

it("gives up who says nothing any more, who learns of it when it is back", async () => {
  const events: string[] = [];
  here.watch({ othersUnresponsive: () => events.push("silent"), onAbandoned: () => events.push("wrong") });
  there.watch({ othersUnresponsive: () => undefined, onAbandoned: () => events.push("given up") });
  expect(await here.live()).toEqual([here.id, there.id].sort());
  wire.cut();
  await until("its silence is noticed", () => events.includes("silent"));
  expect(await here.live()).toEqual([here.id]);
  expect(await database.commit((tx) => here.removeUnresponsive(tx))).toEqual([there.id]);
  wire.mend();
  await until("it knows", () => events.includes("given up"));
  expect(await here.live()).toEqual([here.id, there.id].sort());
});

it("gives up an ended process at once", async () => {
  await there.close();
  expect(await here.live()).toEqual([here.id]);
  expect(await database.commit((tx) => here.removeUnresponsive(tx))).toEqual([there.id]);
  expect(await ask(own.url, "SELECT id FROM lightdesk_service.processes")).toEqual([{ id: here.id }]);
});

it("distinguishes jobs of dead processes from those of live ones", async () => {
  await database.commit(async (tx) => {
    await tx.run(query.insertInto("users").values({ name: "ada", status: "active", created_at: 1 }));
    for (const [index, holder] of [here.id, there.id, "gone", null].entries())
      await tx.run(
        query.insertInto("jobs").values({
          ...{ id: `job ${index}`, user_id: 1, state: "in_progress", number: 1, workflow_id: "w", holder },
          ...{ create_time: 1, update_time: 1, state_time: 1 },
        }),
      );
  });
  const ids = async (condition: Processes["isHolderGone"]) =>
    (await database.rows(query.selectFrom("jobs").select("id").where(condition).orderBy("seq"))).map(({ id }) => id);
  expect(await ids(here.isHolderGone)).toEqual(["job 2", "job 3"]);
  expect(await ids(here.isNotRunHere)).toEqual(["job 1", "job 2", "job 3"]);
});

it("runs shared work in the first process, then in another when it ends", async () => {
  const done: string[] = [];
  const keeping = [here, there].map((processes) =>
    startHousekeeping(
      [
        { name: "shared", everyMs: 20, isShared: true, round: () => Promise.resolve(done.push(processes.id)) },
        { name: "own", everyMs: 20, round: () => Promise.resolve(done.push(`own ${processes.id}`)) },
      ],
      processes,
      log,
    ),
  );
  const [first = "", second = ""] = await here.live();
  await until("both did their own", () => [first, second].every((id) => done.filter((value) => value === `own ${id}`).length > 3));
  expect(done).toContain(first);
  expect(done).not.toContain(second);
  await (first === here.id ? here : there).close();
  await until("the other one does it", () => done.includes(second));
  for (const housekeeping of keeping) await housekeeping.stop();
});
