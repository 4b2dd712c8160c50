// Processes of the service on one PostgreSQL: notifications and shared work.
import { afterEach, beforeEach, expect, it } from "vitest";
import { startHousekeeping } from "@/lib/service/housekeeping";
import { type Database } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { createPostgresProcesses } from "@/lib/service/store/postgres/processes";
import { type Processes } from "@/lib/service/store/processes";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { until } from "@/tests/support/until";

const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
let database: Database;
let firstProcesses: Processes;
let secondProcesses: Processes;

beforeEach(async () => {
  const databaseUrl = await openTestDatabase();
  database = await openPostgres(databaseUrl, Date.now);
  firstProcesses = createPostgresProcesses(database, databaseUrl, log);
  secondProcesses = createPostgresProcesses(database, databaseUrl, log);
  for (const processes of [firstProcesses, secondProcesses]) await processes.start({ slots: 1, hasSharedFiles: true });
});

afterEach(async () => {
  await firstProcesses.close();
  await secondProcesses.close();
  await database.close();
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
