// Commits: atomic, visible only when complete, shared with concurrent ones, and limited to their own statements.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { createGroupCommit } from "@/lib/service/store/group-commit";
import { openDatabase } from "@/lib/service/store/sqlite";
import { ensureReserve } from "@/lib/shared/database/disk-reserve";
import { temporaryFolder } from "@/tests/support/temporary-folder";

let folder: string;
let database: Database;
beforeEach(async () => {
  folder = temporaryFolder();
  database = await openDatabase(join(folder, "service.sqlite"), Date.now);
});
afterEach(() => database.close());

const names = async () => (await database.rows(query.selectFrom("users").select("name").orderBy("id"))).map(({ name }) => name);
const add = (tx: Transaction, name: string) => tx.run(query.insertInto("users").values({ name, status: "active", created_at: 1 }));

it("keeps concurrent commits when one of them throws", async () => {
  const outcomes = await Promise.allSettled([
    database.commit((tx) => add(tx, "ada")),
    database.commit(async (tx) => {
      await add(tx, "bob");
      throw new Error("no bob");
    }),
    database.commit((tx) => add(tx, "cyd")),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await names()).toEqual(["ada", "cyd"]);
});

it("keeps the rest of its work, where a piece of it throws", async () => {
  await database.commit(async (tx) => {
    await add(tx, "ada");
    const piece = tx.attempt(async () => {
      await add(tx, "bob");
      await tx.attempt(() => add(tx, "inner"));
      throw new Error("no bob");
    });
    await expect(piece).rejects.toThrow("no bob");
    await add(tx, "cyd");
  });
  expect(await names()).toEqual(["ada", "cyd"]);
});

it("is visible as a whole and only when committed", async () => {
  let isOver = false;
  const reads: Promise<{ names: string[]; isOver: boolean }>[] = [];
  const look = () => reads.push(names().then((foundNames) => ({ names: foundNames, isOver })));
  const committed = database.commit(async (tx) => {
    await add(tx, "ada");
    look();
    await add(tx, "bob");
    look();
    isOver = true;
  });
  await committed;
  expect(await Promise.all(reads)).toEqual(reads.map(() => ({ names: ["ada", "bob"], isOver: true })));
});

it("is refused when it awaits foreign work and cannot write later", async () => {
  let resume: () => void = () => undefined;
  const something = new Promise<void>((resolve) => (resume = resolve));
  let lateCommit: Promise<unknown> | undefined;
  const waits = database.commit(async (tx) => {
    await add(tx, "ada");
    await something;
    lateCommit = add(tx, "late");
    await lateCommit;
  });
  await expect(waits).rejects.toThrow("waited for something other than its own statements");
  await database.commit(async (tx) => {
    resume();
    await add(tx, "bob");
  });
  await expect(lateCommit).rejects.toThrow("the transaction is over");
  expect(await names()).toEqual(["bob"]);
});

it("is refused instead of blocking when it reads outside itself", async () => {
  await expect(database.commit(() => names())).rejects.toThrow("waited for something other than its own statements");
  await database.commit((tx) => add(tx, "ada"));
  expect(await names()).toEqual(["ada"]);
});

it("retries only deletes without the reserve on a full disk", async () => {
  let tries = 0;
  ensureReserve(folder);
  const isHeld = () => existsSync(join(folder, "reserve"));
  const transaction = <T>(work: (tx: Transaction) => Promise<T>) =>
    database.commit(async (tx) => {
      const result = await work(tx);
      tries += 1;
      if (isHeld()) throw Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" });
      return result;
    });
  const commits = createGroupCommit(transaction, () => true, folder);
  const ranIds: string[] = [];
  const note = (name: string) => () => Promise.resolve(`${name} ${ranIds.push(name)}`);
  const outcomes = await Promise.allSettled([commits.commit(note("adds")), commits.commit(note("frees"), true)]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { code: "SQLITE_FULL" } },
    { status: "fulfilled", value: "frees 3" },
  ]);
  expect([tries, isHeld()]).toEqual([2, true]);
});
