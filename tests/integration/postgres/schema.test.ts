// The two databases have one schema: the migrations of SQLite and of PostgreSQL make the same tables.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, inject, it } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { createDatabase } from "@/tests/support/postgres-server";
import { shapesOfPostgres, shapesOfSqlite } from "@/tests/support/schema-shapes";

/** Tables of one database only: the search index, and a library's own tables. */
const own = /^(ledger_words.*|sqlite_.*|kysely_.*)$/;

it("has the same tables, columns, keys, references and indexes in both", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-schemas-"));
  const database = await createDatabase(inject("postgres"));
  try {
    await migrateAndClose(openStore(folder));
    await migrateAndClose(openStore(folder, undefined, database.url));
    const [sqlite, postgres] = [shapesOfSqlite(join(folder, "console.sqlite"), own), await shapesOfPostgres(database.url, own)];
    expect([...postgres.keys()].sort()).toEqual([...sqlite.keys()].sort());
    expect(sqlite.size).toBeGreaterThan(30);
    for (const [table, shape] of sqlite) expect(postgres.get(table), table).toEqual(shape);
  } finally {
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  }
});

it("compares every text by its bytes, also those of later migrations", async () => {
  const database = await createDatabase(inject("postgres"));
  try {
    await migrateAndClose(openStore("", undefined, database.url));
    const added = `CREATE TABLE later (title text PRIMARY KEY); INSERT INTO later VALUES ('b'), ('B'), ('ä'), ('a');
      CREATE VIEW of_an_extension AS SELECT 'x'::text AS title`;
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(added);
    await migrateAndClose(openStore("", undefined, database.url));
    const { rows } = await client.query<{ title: string }>("SELECT title FROM later ORDER BY title");
    const loose = await client.query(
      "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C' AND table_name <> 'of_an_extension'",
    );
    await client.end();
    expect(rows.map(({ title }) => title)).toEqual(["B", "a", "b", "ä"]);
    expect(loose.rows).toEqual([]);
  } finally {
    await database.drop();
  }
});

async function migrateAndClose(store: ReturnType<typeof openStore>): Promise<void> {
  await store.migrate();
  await store.close();
}
