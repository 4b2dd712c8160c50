// Processes of the service on one PostgreSQL: notifications, liveness and shared work.
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { startHousekeeping } from "@/lib/service/housekeeping";
import { type Database, query } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { type PostgresProxy, startPostgresProxy } from "@/tests/support/postgres-proxy";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { until } from "@/tests/support/until";

let warnings = 0;
const log = { info: () => undefined, warn: () => void (warnings += 1), error: () => undefined };
let ownDatabase: TestDatabase;
let wire: PostgresProxy;
let database: Database;
let firstProcesses: Processes;
let secondProcesses: Processes;

beforeEach(async () => {
  ownDatabase = await createDatabase(inject("postgres"));
  wire = await startPostgresProxy(ownDatabase.url);
  database = await openPostgres(ownDatabase.url, Date.now);
  firstProcesses = createPostgresProcesses(database, ownDatabase.url, log);
  secondProcesses = createPostgresProcesses(database, wire.url, log);
  await firstProcesses.start({ slots: 1, hasSharedFiles: true });
  await secondProcesses.start({ slots: 1, hasSharedFiles: true });
});

afterEach(async () => {
  wire.restore();
  await firstProcesses.close();
  await secondProcesses.close();
  await database.close();
  await wire.close();
  await ownDatabase.drop();
});

it("notifies other processes, in a transaction only after its commit", async () => {
  const received: unknown[] = [];
  const ownNotifications: unknown[] = [];
  firstProcesses.listen("news", (payload) => ownNotifications.push(payload));
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
  expect([received, ownNotifications]).toEqual([
    [
      [{ at: 1 }, true],
      ["outside", true],
    ],
    [],
  ]);
  await expect(firstProcesses.notify("news", "x".repeat(8000))).rejects.toThrow("too long");
});

it("reports possibly missed events after reconnecting", async () => {
  let missedCount = 0;
  const received: unknown[] = [];
  secondProcesses.listen("news", (payload) => received.push(payload), () => (missedCount += 1)); // prettier-ignore
  wire.cut();
  warnings = 0;
  await until("the connection is lost", () => warnings > 0);
  await firstProcesses.notify("news", "while disconnected");
  wire.restore();
  await until("the process has reconnected", () => missedCount === 1);
  await firstProcesses.notify("news", "after reconnecting");
  await until("the event arrives", () => received.length === 1);
  expect(received).toEqual(["after reconnecting"]);
});

it("removes an unresponsive process and notifies it when it returns", async () => {
  const events: string[] = [];
  firstProcesses.watch({ onPeersUnresponsive: () => events.push("unresponsive"), onAbandoned: () => events.push("wrong") });
  secondProcesses.watch({ onPeersUnresponsive: () => undefined, onAbandoned: () => events.push("abandoned") });
  expect(await firstProcesses.listLive()).toEqual([firstProcesses.id, secondProcesses.id].sort());
  wire.cut();
  await until("the process is unresponsive", () => events.includes("unresponsive"));
  expect(await firstProcesses.listLive()).toEqual([firstProcesses.id]);
  expect(await database.commit((tx) => firstProcesses.removeUnresponsive(tx))).toEqual([secondProcesses.id]);
  wire.restore();
  await until("the abandoned process is notified", () => events.includes("abandoned"));
  expect(await firstProcesses.listLive()).toEqual([firstProcesses.id, secondProcesses.id].sort());
});

it("removes an exited process immediately", async () => {
  await secondProcesses.close();
  expect(await firstProcesses.listLive()).toEqual([firstProcesses.id]);
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
  const ids = async (condition: Processes["isHolderMissing"]) =>
    (await database.rows(query.selectFrom("jobs").select("id").where(condition).orderBy("seq"))).map(({ id }) => id);
  expect(await ids(firstProcesses.isHolderMissing)).toEqual(["job 2", "job 3"]);
  expect(await ids(firstProcesses.isRunElsewhere)).toEqual(["job 1", "job 2", "job 3"]);
});

it("runs shared work in the first process and fails over when it exits", async () => {
  const doneTasks: string[] = [];
  const housekeepers = [firstProcesses, secondProcesses].map((processes) =>
    startHousekeeping(
      [
        { name: "shared", everyMs: 20, isShared: true, run: () => Promise.resolve(doneTasks.push(processes.id)) },
        { name: "own", everyMs: 20, run: () => Promise.resolve(doneTasks.push(`own ${processes.id}`)) },
      ],
      processes,
      log,
    ),
  );
  const [first = "", second = ""] = await firstProcesses.listLive();
  await until("both have run their own tasks", () =>
    [first, second].every((id) => doneTasks.filter((value) => value === `own ${id}`).length > 3),
  );
  expect(doneTasks).toContain(first);
  expect(doneTasks).not.toContain(second);
  await (first === firstProcesses.id ? firstProcesses : secondProcesses).close();
  await until("the other process takes over", () => doneTasks.includes(second));
  for (const housekeeping of housekeepers) await housekeeping.stop();
});
