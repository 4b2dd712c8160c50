// The service's database on PostgreSQL fulfils its interface, also while connections break and other processes write.
import { sql } from "kysely";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { type Database, query, toStatement } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { isStoreAway, StoreUnavailable } from "@/lib/shared/error-codes";
import { createDatabase, queryDatabase, type TestDatabase } from "@/tests/support/postgres-server";
import { openWire, type Wire } from "@/tests/support/postgres-wire";

const now = () => 1_700_000_000_000;
const names = query.selectFrom("users").select("name").orderBy("name");
const add = (name: string) => query.insertInto("users").values({ name, status: "active", created_at: 1 });

let ownDatabase: TestDatabase;
let wire: Wire;
let database: Database;

beforeEach(async () => {
  ownDatabase = await createDatabase(inject("postgres"));
  wire = await openWire(ownDatabase.url);
  database = await openPostgres(wire.url, now);
});

afterEach(async () => {
  wire.mend();
  await database.close();
  await wire.close();
  await ownDatabase.drop();
});

const namesNow = async () => (await database.rows(names)).map(({ name }) => name);

it("commits atomically, independently of neighbouring commits", async () => {
  const works = ["ada", "bob", "cy"].map((name) =>
    database.commit(async (tx) => {
      await tx.run(add(name));
      if (name === "bob") throw new Error("no");
      return (await tx.rows(names)).length;
    }),
  );
  expect(await Promise.allSettled(works)).toMatchObject([
    { status: "fulfilled", value: 1 },
    { status: "rejected", reason: { message: "no" } },
    { status: "fulfilled", value: 2 },
  ]);
  expect(await namesNow()).toEqual(["ada", "cy"]);
});

it("undoes only a failed part, even if the database refused it", async () => {
  await database.commit(async (tx) => {
    expect(await tx.run(add("ada"))).toBe(1);
    await expect(tx.attempt(() => tx.run(add("ada")))).rejects.toThrow(/unique/);
    await tx.attempt(async () => {
      await tx.run(add("bob"));
      await tx.attempt(() => tx.run(add("ada"))).catch(() => undefined);
    });
  });
  expect(await namesNow()).toEqual(["ada", "bob"]);
});

it("rolls back a savepoint that failed in another store", async () => {
  const failing = database.commit(async (tx) => {
    await tx.run(add("ada"));
    throw new StoreUnavailable("another store does not answer");
  });
  await expect(failing).rejects.toThrow("another store");
  await database.commit((tx) => tx.run(add("bob")));
  expect(await namesNow()).toEqual(["bob"]);
});

it("shows no partial commit", async () => {
  let names: string[] | undefined;
  await database.commit(async (tx) => {
    await tx.run(add("ada"));
    names = await namesNow();
    await tx.run(add("bob"));
  });
  expect(names).toEqual([]);
});

it("serializes read-then-write between processes", async () => {
  const otherDatabase = await openPostgres(ownDatabase.url, now);
  await database.commit((tx) => tx.run(add("ada")));
  const next = (database: Database) =>
    database.commit(async (tx) => {
      const user = await tx.row(query.selectFrom("users").select("last_number").where("name", "=", "ada"));
      await tx.run(query.updateTable("users").set({ last_number: (user?.last_number ?? 0) + 1 }));
    });
  // Sequential in each process, so that no two share a transaction.
  const readMany = async (database: Database) => {
    for (let count = 0; count < 40; count += 1) await next(database);
  };
  await Promise.all([readMany(database), readMany(otherDatabase)]);
  await otherDatabase.close();
  expect(await database.row(query.selectFrom("users").select("last_number"))).toEqual({ last_number: 80 });
});

it("detects commits of other processes, not its own", async () => {
  const before = await database.foreignCommits();
  await database.commit((tx) => tx.run(add("ada")));
  expect(await database.foreignCommits()).toBe(before);
  const otherDatabase = await openPostgres(ownDatabase.url, now);
  await otherDatabase.commit((tx) => tx.run(add("bob")));
  await otherDatabase.close();
  expect(await database.foreignCommits()).not.toBe(before);
});

it("doesn't mistake its own commits for another process's", async () => {
  const before = await database.foreignCommits();
  let isOver = false;
  const committing = (async () => {
    for (let count = 0; count < 100; count += 1) await database.commit((tx) => tx.run(add(`user ${count}`)));
    isOver = true;
  })();
  const ids = new Set<number>();
  while (!isOver) ids.add(await database.foreignCommits());
  await committing;
  await database.commit(() => Promise.reject(new Error("no"))).catch(() => undefined);
  ids.add(await database.foreignCommits());
  expect([...ids]).toEqual([before]);
});

it("uses its own tables regardless of the search path in the URL", async () => {
  await queryDatabase(ownDatabase.url, "CREATE TABLE users (name text); INSERT INTO users VALUES ('of the console')");
  const address = new URL(ownDatabase.url);
  address.searchParams.set("options", "-c search_path=public -c work_mem=5MB");
  const otherDatabase = await openPostgres(address.href, now);
  await otherDatabase.commit((tx) => tx.run(add("ada")));
  expect(await otherDatabase.rows(names)).toEqual([{ name: "ada" }]);
  expect(await otherDatabase.row(toStatement(sql`show work_mem`))).toEqual({ work_mem: "5MB" });
  await otherDatabase.close();
});

it("doesn't treat a question mark in a text as a parameter", async () => {
  const query = toStatement(sql<{ one: string; two: string }>`select 'why?' as one, ${"what?"}::text as two`);
  expect(await database.row(query)).toEqual({ one: "why?", two: "what?" });
});

it("reports an outage and recovers", async () => {
  wire.cut();
  expect(isStoreAway(await namesNow().catch((error: unknown) => error))).toBe(true);
  expect(isStoreAway(await database.commit((tx) => tx.run(add("ada"))).catch((error: unknown) => error))).toBe(true);
  wire.mend();
  await database.commit((tx) => tx.run(add("bob")));
  expect(await namesNow()).toEqual(["bob"]);
});

it("drops uncommitted changes when the connection breaks", async () => {
  const works = ["ada", "bob"].map((name) =>
    database.commit(async (tx) => {
      await tx.run(add(name));
      if (name === "bob") wire.breakNow();
    }),
  );
  for (const work of await Promise.allSettled(works)) expect(isStoreAway("reason" in work && work.reason)).toBe(true);
  expect(await namesNow()).toEqual([]);
});

it("treats a commit with a lost response as done and an unsent one as failed", async () => {
  wire.loseAnswerOf("COMMIT");
  await database.commit((tx) => tx.run(add("ada")));
  expect(await namesNow()).toEqual(["ada"]);

  wire.loseStatement("COMMIT");
  expect(isStoreAway(await database.commit((tx) => tx.run(add("bob"))).catch((error: unknown) => error))).toBe(true);
  expect(await namesNow()).toEqual(["ada"]);
});

it("ignores caches of tables written by another process", async () => {
  await queryDatabase(ownDatabase.url, "CREATE TABLE users (name text); INSERT INTO users VALUES ('of the console')");
  await database.commit((tx) => tx.run(add("ada")));
  expect(await namesNow()).toEqual(["ada"]);
});

it("reads a snapshot and keeps the connection usable after an error", async () => {
  await database.commit((tx) => tx.run(add("ada")));
  const reads = await database.reading(async (reader) => {
    const first = await reader.rows(names);
    await database.commit((tx) => tx.run(add("bob")));
    return [first, await reader.rows(names)];
  });
  expect(reads).toEqual([[{ name: "ada" }], [{ name: "ada" }]]);
  await expect(database.reading((reader) => reader.rows(toStatement(sql`select 1 / 0`)))).rejects.toThrow(/division by zero/);
  expect(await namesNow()).toEqual(["ada", "bob"]);
});
