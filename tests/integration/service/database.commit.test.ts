// Commits are atomic, grouped with concurrent commits, and limited to their own statements. Failed commits are reported accurately.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { toErrorResponse } from "@/lib/service/http/route";
import { toStorageFailure } from "@/lib/service/service-error";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { createGroupCommit } from "@/lib/service/store/group-commit";
import { openDatabase } from "@/lib/service/store/sqlite";
import { ensureReserve } from "@/lib/shared/database/disk-reserve";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";
import { createGate, silentLog } from "./support";

let folder: string;
let database: Database;
beforeEach(async () => {
  folder = createTemporaryFolder();
  database = await openDatabase(join(folder, "service.sqlite"), Date.now);
});
afterEach(() => database.close());

const listNames = async () => (await database.rows(query.selectFrom("users").select("name").orderBy("id"))).map(({ name }) => name);
const addUser = (tx: Transaction, name: string) => tx.run(query.insertInto("users").values({ name, status: "active", created_at: 1 }));

it("keeps concurrent commits when one of them throws", async () => {
  const outcomes = await Promise.allSettled([
    database.commit((tx) => addUser(tx, "ada")),
    database.commit(async (tx) => {
      await addUser(tx, "bob");
      throw new Error("no bob");
    }),
    database.commit((tx) => addUser(tx, "cyd")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await listNames()).toEqual(["ada", "cyd"]);
});

it("keeps the other writes of a commit when a savepoint throws", async () => {
  await database.commit(async (tx) => {
    await addUser(tx, "ada");
    const savepoint = tx.runInSavepoint(async () => {
      await addUser(tx, "bob");
      await tx.runInSavepoint(() => addUser(tx, "inner"));
      throw new Error("no bob");
    });
    await expect(savepoint).rejects.toThrow("no bob");
    await addUser(tx, "cyd");
  });
  expect(await listNames()).toEqual(["ada", "cyd"]);
});

it("shows a commit's writes only when the commit is complete", async () => {
  let isComplete = false;
  const reads: Promise<{ names: string[]; isComplete: boolean }>[] = [];
  const readNames = () => reads.push(listNames().then((foundNames) => ({ names: foundNames, isComplete })));
  const committed = database.commit(async (tx) => {
    await addUser(tx, "ada");
    readNames();
    await addUser(tx, "bob");
    readNames();
    isComplete = true;
  });
  await committed;
  expect(await Promise.all(reads)).toEqual(reads.map(() => ({ names: ["ada", "bob"], isComplete: true })));
});

it("rejects a commit that awaits other work, and its later writes", async () => {
  const { open, opened } = createGate();
  let lateCommit: Promise<unknown> | undefined;
  const commit = database.commit(async (tx) => {
    await addUser(tx, "ada");
    await opened;
    lateCommit = addUser(tx, "late");
    await lateCommit;
  });
  await expect(commit).rejects.toThrow("waited for something other than its own statements");
  await database.commit(async (tx) => {
    open();
    await addUser(tx, "bob");
  });
  await expect(lateCommit).rejects.toThrow("the transaction has ended");
  expect(await listNames()).toEqual(["bob"]);
});

it("rejects a commit that reads outside its transaction", async () => {
  await expect(database.commit(() => listNames())).rejects.toThrow("waited for something other than its own statements");
  await database.commit((tx) => addUser(tx, "ada"));
  expect(await listNames()).toEqual(["ada"]);
});

it("releases the reserve only for deletes when the disk is full", async () => {
  let attemptCount = 0;
  ensureReserve(folder);
  const hasReserve = () => existsSync(join(folder, "reserve"));
  const transaction = <T>(work: (tx: Transaction) => Promise<T>) =>
    database.commit(async (tx) => {
      const result = await work(tx);
      attemptCount += 1;
      if (hasReserve()) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      return result;
    });
  const commits = createGroupCommit(transaction, () => true, folder);
  const runNames: string[] = [];
  const recordRun = (name: string) => () => Promise.resolve(`${name} ${runNames.push(name)}`);
  const outcomes = await Promise.allSettled([commits.commit(recordRun("adds")), commits.commit(recordRun("frees"), true)]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { code: "SQLITE_FULL" } },
    { status: "fulfilled", value: "frees 3" },
  ]);
  expect([attemptCount, hasReserve()]).toEqual([2, true]);
});

it.each([
  ["SQLITE_FULL", true],
  ["SQLITE_READONLY", true],
  ["SQLITE_CORRUPT", true],
  ["SQLITE_IOERR_FSYNC", false],
  ["EIO", false],
  ["STORE_AWAY", false],
])("reports that nothing was stored after %s only when that is certain", (code, isCertain) => {
  const failure = toStorageFailure(Object.assign(new Error("driver message"), { code }));
  expect(failure?.message.includes("Nothing from this request was stored.")).toBe(isCertain);
  expect(failure?.message.includes("check before you send it again")).toBe(!isCertain);
});

it.each(["SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_PRIMARYKEY", "23505"])("returns 409 for a duplicate key (%s)", async (code) => {
  const error = Object.assign(new Error("driver message"), { code });
  const response = toErrorResponse(error, { method: "POST", path: "/api/assets" }, silentLog);
  expect([response.status, await response.json()]).toEqual([409, expect.objectContaining({ code: "CONFLICT" })]);
});
