// The two databases have one schema: what the migrations of SQLite have made, and what those of PostgreSQL make.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import pg from "pg";
import { expect, inject, it } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { createDatabase } from "@/tests/support/postgres-server";

/** Of each database alone: the index of words, and what a library keeps. */
const own = /^(ledger_words.*|sqlite_.*|kysely_.*)$/;

type Column = { name: string; kind: string; isNeeded: boolean; value: string | null };
type Shape = { columns: Column[]; primary: string[]; unique: string[]; references: string[]; indexes: string[] };

it("has the same tables, columns, keys, references and indexes in both", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lightdesk-schemas-"));
  const database = await createDatabase(inject("postgres"));
  try {
    await migrateAndClose(openStore(folder));
    await migrateAndClose(openStore(folder, undefined, database.url));
    const [sqlite, postgres] = [shapesOfSqlite(join(folder, "console.sqlite")), await shapesOfPostgres(database.url)];
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

function shapesOfSqlite(file: string): Map<string, Shape> {
  const database = new SqliteDatabase(file, { readonly: true });
  const all = (text: string) => database.prepare<[], Record<string, string | number | null>>(text).all();
  const tables = all("SELECT name FROM sqlite_master WHERE type = 'table'").map(({ name }) => String(name));
  const shapes = tables
    .filter((table) => !own.test(table))
    .map((table): [string, Shape] => {
      const columns = all(`PRAGMA table_info("${table}")`);
      const key = columns.filter(({ pk }) => Number(pk) > 0).sort((one, other) => Number(one.pk) - Number(other.pk));
      const indexes = all(`PRAGMA index_list("${table}")`).map((index) => {
        const names = all(`PRAGMA index_info("${String(index.name)}")`).map(({ name }) => String(name));
        const made = database
          .prepare<[string], { sql: string | null }>("SELECT sql FROM sqlite_master WHERE name = ?")
          .get(String(index.name));
        const where = / WHERE (.*)$/i.exec(made?.sql ?? "")?.[1] ?? "";
        return { ...index, text: textOf(String(index.name), index.unique === 1, names, where), columns: names.join(",") };
      });
      return [
        table,
        {
          columns: byName(
            columns.map((column) => ({
              name: String(column.name),
              kind: kindOf(String(column.type)),
              // SQLite lets a key be null that says nothing else.
              isNeeded: column.notnull === 1 || Number(column.pk) > 0,
              value: column.dflt_value === null ? null : String(column.dflt_value),
            })),
          ),
          primary: key.map(({ name }) => String(name)),
          unique: indexes
            .filter((index) => "origin" in index && index.origin === "u")
            .map((index) => index.columns)
            .sort(),
          references: all(`PRAGMA foreign_key_list("${table}")`)
            .map(({ from, table: other, to, on_delete: then }) => `${from} ${other}.${to} ${String(then).toLowerCase()}`)
            .sort(),
          indexes: indexes
            .filter((index) => "origin" in index && index.origin === "c")
            .map(({ text }) => text)
            .sort(),
        },
      ];
    });
  database.close();
  return new Map(shapes);
}

async function shapesOfPostgres(url: string): Promise<Map<string, Shape>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const all = async (text: string) => (await client.query<Record<string, string>>(text)).rows;
  const columns = await all(
    "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns WHERE table_schema = 'public'",
  );
  const constraints = await all(`
    SELECT rel.relname AS table_name, con.contype::text AS kind, con.confdeltype::text AS then, other.relname AS other,
      (SELECT string_agg(att.attname, ',' ORDER BY place.at) FROM unnest(con.conkey) WITH ORDINALITY AS place (number, at)
        JOIN pg_attribute att ON att.attrelid = con.conrelid AND att.attnum = place.number) AS columns,
      (SELECT string_agg(att.attname, ',' ORDER BY place.at) FROM unnest(con.confkey) WITH ORDINALITY AS place (number, at)
        JOIN pg_attribute att ON att.attrelid = con.confrelid AND att.attnum = place.number) AS others
    FROM pg_constraint con JOIN pg_class rel ON rel.oid = con.conrelid LEFT JOIN pg_class other ON other.oid = con.confrelid
    WHERE con.connamespace = 'public'::regnamespace`);
  const indexes = await all(`
    SELECT rel.relname AS table_name, ind.relname AS name, idx.indisunique::text AS is_unique, pg_get_expr(idx.indpred, idx.indrelid) AS where,
      (SELECT string_agg(att.attname, ',' ORDER BY place.at) FROM unnest(idx.indkey) WITH ORDINALITY AS place (number, at)
        JOIN pg_attribute att ON att.attrelid = idx.indrelid AND att.attnum = place.number) AS columns
    FROM pg_index idx JOIN pg_class rel ON rel.oid = idx.indrelid JOIN pg_class ind ON ind.oid = idx.indexrelid
    WHERE rel.relnamespace = 'public'::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = idx.indexrelid)`);
  await client.end();
  const after: Record<string, string> = { c: "cascade", n: "set null", a: "no action" };
  const tables = [...new Set(columns.map((column) => column.table_name ?? ""))].filter((table) => !own.test(table));
  return new Map(
    tables.map((table) => {
      const ofTable = constraints.filter((constraint) => constraint.table_name === table);
      const shape: Shape = {
        columns: byName(
          columns
            .filter((column) => column.table_name === table)
            .map((column) => ({
              name: column.column_name ?? "",
              kind: kindOf(column.data_type ?? ""),
              isNeeded: column.is_nullable === "NO",
              value: column.column_default?.replace(/::\w+$/, "") ?? null,
            })),
        ),
        primary: ofTable.find(({ kind }) => kind === "p")?.columns?.split(",") ?? [],
        unique: ofTable.flatMap(({ kind, columns: names = "" }) => (kind === "u" ? [names] : [])).sort(),
        references: ofTable
          .flatMap(({ kind, columns: names, other, others, then = "" }) =>
            kind === "f" ? [`${names} ${other}.${others} ${after[then]}`] : [],
          )
          .sort(),
        indexes: indexes
          .filter((index) => index.table_name === table)
          .map(({ name = "", is_unique: isUnique, columns: names = "", where }) =>
            textOf(name, isUnique === "true", names.split(","), where ?? ""),
          )
          .sort(),
      };
      return [table, shape];
    }),
  );
}

function textOf(name: string, isUnique: boolean, columns: readonly string[], where: string): string {
  return `${isUnique ? "unique " : ""}${name} (${columns.join(",")}) ${where.replace(/[()]/g, "").toLowerCase()}`.trim();
}

/** How wide a whole number is differs: SQLite has one kind of them. */
function kindOf(type: string): string {
  return /^(integer|bigint)$/i.test(type) ? "whole" : type.toLowerCase();
}

function byName(columns: Column[]): Column[] {
  return columns.sort((one, other) => (one.name < other.name ? -1 : 1));
}
