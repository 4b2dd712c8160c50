// The two databases have one schema: the migrations of SQLite and of PostgreSQL make the same tables.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, it } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { ask, createDatabase } from "@/tests/support/postgres-server";
import { shapesOfPostgres, shapesOfSqlite } from "@/tests/support/schema-shapes";

/** Tables of one database only: the search index, and a library's own tables. */
const own = /^(ledger_words.*|sqlite_.*|kysely_.*)$/;

it("has the same tables, columns, keys, references and indexes in both", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-schemas-"));
  const database = await createDatabase(inject("postgres"));
  try {
    await migrateAndClose(openStore(folder));
    await migrateAndClose(openStore(folder, database.url));
    const [sqlite, postgres] = [shapesOfSqlite(join(folder, "console.sqlite"), own), await shapesOfPostgres(database.url, own)];
    expect([...postgres.keys()].sort()).toEqual([...sqlite.keys()].sort());
    expect(sqlite.size).toBeGreaterThan(30);
    for (const [table, shape] of sqlite) expect(postgres.get(table), table).toEqual(shape);
  } finally {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
});

it("compares every text by its bytes", async () => {
  const database = await createDatabase(inject("postgres"));
  try {
    await migrateAndClose(openStore("", database.url));
    const loose = await ask(
      database.url,
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'",
    );
    expect(loose).toEqual([]);
  } finally {
    await database.drop();
  }
});

it("adopts a database of the last schema before the baseline, with an identical result", async () => {
  const [older, made] = [await createDatabase(inject("postgres")), await createDatabase(inject("postgres"))];
  try {
    await ask(older.url, readFileSync("tests/fixtures/schemas/console-postgres.sql", "utf8"));
    await ask(
      older.url,
      "INSERT INTO members (id, name, email, role, password_hash, created_at) VALUES ('m', 'Ada', 'a@b.test', 'owner', 'h', 1)",
    );
    for (const { url } of [older, made]) await migrateAndClose(openStore("", url));
    const store = openStore("", older.url);
    expect(await store.members.getByEmail("a@b.test")).toMatchObject({ id: "m", name: "Ada" });
    await store.close();
    const ofLibraries = /^kysely_/;
    expect(await shapesOfPostgres(made.url, ofLibraries)).toEqual(await shapesOfPostgres(older.url, ofLibraries));
  } finally {
    await Promise.all([older.drop(), made.drop()]);
  }
});

async function migrateAndClose(store: ReturnType<typeof openStore>): Promise<void> {
  await store.migrate();
  await store.close();
}
