// The service's database on PostgreSQL fulfils its interface, even while connections break and other processes write.
import { sql } from "kysely";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Database, query, toStatement } from "@/lib/service/store/database";
import { openPostgres } from "@/lib/service/store/postgres/database";
import { isStoreUnavailable, StoreUnavailableError } from "@/lib/shared/error-codes";
import { openTestDatabase, type PostgresProxy, startPostgresProxy } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";

const now = () => 1_700_000_000_000;
const namesQuery = query.selectFrom("users").select("name").orderBy("name");
const insertUser = (name: string) => query.insertInto("users").values({ name, status: "active", created_at: 1 });

let databaseUrl: string;
let wire: PostgresProxy;
let database: Database;

beforeEach(async () => {
  databaseUrl = await openTestDatabase();
  wire = await startPostgresProxy(databaseUrl);
  database = await openPostgres(wire.url, now);
});

afterEach(async () => {
  wire.restore();
  await database.close();
});

const listNames = async () => (await database.rows(namesQuery)).map(({ name }) => name);

it("commits atomically, independently of parallel commits", async () => {
  const commits = ["ada", "bob", "cy"].map((name) =>
    database.commit(async (tx) => {
      await tx.run(insertUser(name));
      if (name === "bob") throw new Error("no");
      return (await tx.rows(namesQuery)).length;
    }),
  );
  expect(await Promise.allSettled(commits)).toMatchObject([
    { status: "fulfilled", value: 1 },
    { status: "rejected", reason: { message: "no" } },
    { status: "fulfilled", value: 2 },
  ]);
  expect(await listNames()).toEqual(["ada", "cy"]);
});

it("rolls back only a failed savepoint, even after a database error", async () => {
  await database.commit(async (tx) => {
    expect(await tx.run(insertUser("ada"))).toBe(1);
    await expect(tx.runInSavepoint(() => tx.run(insertUser("ada")))).rejects.toThrow(/unique/);
    await tx.runInSavepoint(async () => {
      await tx.run(insertUser("bob"));
      await tx.runInSavepoint(() => tx.run(insertUser("ada"))).catch(() => undefined);
    });
  });
  expect(await listNames()).toEqual(["ada", "bob"]);
});

it("rolls back a commit that failed in another store", async () => {
  const failing = database.commit(async (tx) => {
    await tx.run(insertUser("ada"));
    throw new StoreUnavailableError("another store is unavailable");
  });
  await expect(failing).rejects.toThrow("another store");
  await database.commit((tx) => tx.run(insertUser("bob")));
  expect(await listNames()).toEqual(["bob"]);
});

it("shows no partial commit", async () => {
  let names: string[] | undefined;
  await database.commit(async (tx) => {
    await tx.run(insertUser("ada"));
    names = await listNames();
    await tx.run(insertUser("bob"));
  });
  expect(names).toEqual([]);
});

it("serializes read-then-write between processes", async () => {
  const otherDatabase = await openPostgres(databaseUrl, now);
  await database.commit((tx) => tx.run(insertUser("ada")));
  const incrementNumber = (database: Database) =>
    database.commit(async (tx) => {
      const user = await tx.row(query.selectFrom("users").select("last_number").where("name", "=", "ada"));
      await tx.run(query.updateTable("users").set({ last_number: (user?.last_number ?? 0) + 1 }));
    });
  // Sequential in each process, so that no two share a transaction.
  const incrementMany = async (database: Database) => {
    for (let count = 0; count < 40; count += 1) await incrementNumber(database);
  };
  await Promise.all([incrementMany(database), incrementMany(otherDatabase)]);
  await otherDatabase.close();
  expect(await database.row(query.selectFrom("users").select("last_number"))).toEqual({ last_number: 80 });
});

it("detects commits of other processes, not its own", async () => {
  const before = await database.countForeignCommits();
  let isOver = false;
  const committing = (async () => {
    for (let count = 0; count < 100; count += 1) await database.commit((tx) => tx.run(insertUser(`user ${count}`)));
    isOver = true;
  })();
  const ids = new Set<number>();
  while (!isOver) ids.add(await database.countForeignCommits());
  await committing;
  await database.commit(() => Promise.reject(new Error("no"))).catch(() => undefined);
  ids.add(await database.countForeignCommits());
  expect([...ids]).toEqual([before]);
  const otherDatabase = await openPostgres(databaseUrl, now);
  await otherDatabase.commit((tx) => tx.run(insertUser("bob")));
  await otherDatabase.close();
  expect(await database.countForeignCommits()).not.toBe(before);
});

it("uses its own tables regardless of the search path in the URL", async () => {
  await queryDatabase(databaseUrl, "CREATE TABLE users (name text); INSERT INTO users VALUES ('of the console')");
  const otherUrl = new URL(databaseUrl);
  otherUrl.searchParams.set("options", "-c search_path=public -c work_mem=5MB");
  const otherDatabase = await openPostgres(otherUrl.href, now);
  await otherDatabase.commit((tx) => tx.run(insertUser("ada")));
  expect(await otherDatabase.rows(namesQuery)).toEqual([{ name: "ada" }]);
  expect(await otherDatabase.row(toStatement(sql`show work_mem`))).toEqual({ work_mem: "5MB" });
  await otherDatabase.close();
});

it("doesn't treat a question mark in a text as a parameter", async () => {
  const query = toStatement(sql<{ one: string; two: string }>`select 'why?' as one, ${"what?"}::text as two`);
  expect(await database.row(query)).toEqual({ one: "why?", two: "what?" });
});

it("reports an outage and recovers", async () => {
  wire.cut();
  expect(isStoreUnavailable(await listNames().catch((error: unknown) => error))).toBe(true);
  expect(isStoreUnavailable(await database.commit((tx) => tx.run(insertUser("ada"))).catch((error: unknown) => error))).toBe(true);
  wire.restore();
  await database.commit((tx) => tx.run(insertUser("bob")));
  expect(await listNames()).toEqual(["bob"]);
});

it("drops uncommitted changes when the connection breaks", async () => {
  const commits = ["ada", "bob"].map((name) =>
    database.commit(async (tx) => {
      await tx.run(insertUser(name));
      if (name === "bob") wire.closeConnections();
    }),
  );
  for (const work of await Promise.allSettled(commits)) expect(isStoreUnavailable("reason" in work && work.reason)).toBe(true);
  expect(await listNames()).toEqual([]);
});

it("treats a commit with a lost response as done and an unsent one as failed", async () => {
  wire.dropResponseTo("COMMIT");
  await database.commit((tx) => tx.run(insertUser("ada")));
  expect(await listNames()).toEqual(["ada"]);

  wire.dropStatement("COMMIT");
  expect(isStoreUnavailable(await database.commit((tx) => tx.run(insertUser("bob"))).catch((error: unknown) => error))).toBe(true);
  expect(await listNames()).toEqual(["ada"]);
});

it("reads a snapshot and keeps the connection usable after an error", async () => {
  await database.commit((tx) => tx.run(insertUser("ada")));
  const reads = await database.readSnapshot(async (reader) => {
    const first = await reader.rows(namesQuery);
    await database.commit((tx) => tx.run(insertUser("bob")));
    return [first, await reader.rows(namesQuery)];
  });
  expect(reads).toEqual([[{ name: "ada" }], [{ name: "ada" }]]);
  await expect(database.readSnapshot((reader) => reader.rows(toStatement(sql`select 1 / 0`)))).rejects.toThrow(/division by zero/);
  expect(await listNames()).toEqual(["ada", "bob"]);
});
