// Processes of the service on one PostgreSQL: notifications, liveness and shared work.
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { startHousekeeping } from "@/lib/service/housekeeping";
import { type Database, query } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";
import { until } from "@/tests/support/until";

let warnings = 0;
const log = { info: () => undefined, warn: () => void (warnings += 1), error: () => undefined };
let ownDatabase: TestDatabase;
let wire: Wire;
let database: Database;
let firstProcesses: Processes;
let secondProcesses: Processes;

beforeEach(async () => {
  ownDatabase = await createDatabase(inject("postgres"));
  wire = await openWire(ownDatabase.url);
  database = await openPostgres(ownDatabase.url, Date.now);
  firstProcesses = createPostgresProcesses(database, ownDatabase.url, log);
  secondProcesses = createPostgresProcesses(database, wire.url, log);
  await firstProcesses.start({ slots: 1, hasSharedFiles: true });
  await secondProcesses.start({ slots: 1, hasSharedFiles: true });
});

afterEach(async () => {
  wire.mend();
  await firstProcesses.close();
  await secondProcesses.close();
  await database.close();
  await wire.close();
  await ownDatabase.drop();
});

it("notifies other processes, and within a commit only when committed", async () => {
  const received: unknown[] = [];
  const ownTasks: unknown[] = [];
  firstProcesses.listen("news", (payload) => ownTasks.push(payload));
  secondProcesses.listen("news", (payload, from) => received.push([payload, from === firstProcesses.id]));
  secondProcesses.listen("other", (payload) => received.push(payload));
  await expect(
    database.commit(async (tx) => {
      await firstProcesses.notify("news", "undone", tx);
      throw new Error("no");
    }),
  ).rejects.toThrow("no");
  await database.commit((tx) => firstProcesses.notify("news", { at: 1 }, tx));
  await firstProcesses.notify("news", "outside");
  await until("both have arrived", () => received.length === 2);
  expect([received, ownTasks]).toEqual([
    [
      [{ at: 1 }, true],
      ["outside", true],
    ],
    [],
  ]);
  await expect(firstProcesses.notify("news", "x".repeat(8000))).rejects.toThrow("too long");
});

it("reports possibly missed events after reconnecting", async () => {
  let missed = 0;
  const received: unknown[] = [];
  secondProcesses.listen("news", (payload) => received.push(payload), () => (missed += 1)); // prettier-ignore
  wire.cut();
  warnings = 0;
  await until("the line is lost", () => warnings > 0);
  await firstProcesses.notify("news", "not heard");
  wire.mend();
  await until("it is there again", () => missed === 1);
  await firstProcesses.notify("news", "heard");
  await until("it hears", () => received.length === 1);
  expect(received).toEqual(["heard"]);
});

it("drops a silent process, which notices when it returns", async () => {
  const events: string[] = [];
  firstProcesses.watch({ othersUnresponsive: () => events.push("silent"), onAbandoned: () => events.push("wrong") });
  secondProcesses.watch({ othersUnresponsive: () => undefined, onAbandoned: () => events.push("given up") });
  expect(await firstProcesses.live()).toEqual([firstProcesses.id, secondProcesses.id].sort());
  wire.cut();
  await until("its silence is noticed", () => events.includes("silent"));
  expect(await firstProcesses.live()).toEqual([firstProcesses.id]);
  expect(await database.commit((tx) => firstProcesses.removeUnresponsive(tx))).toEqual([secondProcesses.id]);
  wire.mend();
  await until("it knows", () => events.includes("given up"));
  expect(await firstProcesses.live()).toEqual([firstProcesses.id, secondProcesses.id].sort());
});

it("drops an exited process immediately", async () => {
  await secondProcesses.close();
  expect(await firstProcesses.live()).toEqual([firstProcesses.id]);
  expect(await database.commit((tx) => firstProcesses.removeUnresponsive(tx))).toEqual([secondProcesses.id]);
  expect(await queryDatabase(ownDatabase.url, "SELECT id FROM lightdesk_service.processes")).toEqual([{ id: firstProcesses.id }]);
});

it("distinguishes jobs of dead processes from those of live ones", async () => {
  await database.commit(async (tx) => {
    await tx.run(query.insertInto("users").values({ name: "ada", status: "active", created_at: 1 }));
    for (const [index, holder] of [firstProcesses.id, secondProcesses.id, "gone", null].entries())
      await tx.run(
        query.insertInto("jobs").values({
          ...{ id: `job ${index}`, user_id: 1, state: "in_progress", number: 1, workflow_id: "w", holder },
          ...{ create_time: 1, update_time: 1, state_time: 1 },
        }),
      );
  });
  const ids = async (condition: Processes["isHolderGone"]) =>
    (await database.rows(query.selectFrom("jobs").select("id").where(condition).orderBy("seq"))).map(({ id }) => id);
  expect(await ids(firstProcesses.isHolderGone)).toEqual(["job 2", "job 3"]);
  expect(await ids(firstProcesses.isNotRunHere)).toEqual(["job 1", "job 2", "job 3"]);
});

it("runs shared work in the first process and fails over when it exits", async () => {
  const doneTasks: string[] = [];
  const keeping = [firstProcesses, secondProcesses].map((processes) =>
    startHousekeeping(
      [
        { name: "shared", everyMs: 20, isShared: true, round: () => Promise.resolve(doneTasks.push(processes.id)) },
        { name: "own", everyMs: 20, round: () => Promise.resolve(doneTasks.push(`own ${processes.id}`)) },
      ],
      processes,
      log,
    ),
  );
  const [first = "", second = ""] = await firstProcesses.live();
  await until("both did their own", () => [first, second].every((id) => doneTasks.filter((value) => value === `own ${id}`).length > 3));
  expect(doneTasks).toContain(first);
  expect(doneTasks).not.toContain(second);
  await (first === firstProcesses.id ? firstProcesses : secondProcesses).close();
  await until("the other one does it", () => doneTasks.includes(second));
  for (const housekeeping of keeping) await housekeeping.stop();
});
