// Console and service have the same schemas in SQLite and PostgreSQL, and the service's counters agree in both.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import pg from "pg";
import { beforeEach, describe, expect, it } from "vitest";
import { openStore } from "@/lib/server/store/store";
import { migrate, migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { jobTotalsQuery, sortRows, storedCounters } from "@/tests/faults/kill/audit-counters";
import { openTestDatabase } from "@/tests/support/postgres-proxy";
import { queryDatabase } from "@/tests/support/postgres-server";
import { readPostgresShapes, readSqliteShapes } from "@/tests/support/schema-shapes";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

const now = () => 1_700_000_000_000;

async function migrateConsole(folder: string, url?: string): Promise<void> {
  const store = openStore(folder, url);
  await store.migrate();
  await store.close();
}

function migrateService(file: string): void {
  const sqlite = new SqliteConnection(file);
  migrate(sqlite, now);
  sqlite.close();
}

let folder: string;
let databaseUrl: string;
beforeEach(async () => {
  folder = createTemporaryFolder();
  databaseUrl = await openTestDatabase();
});

describe.each([
  {
    label: "the console",
    schema: "public",
    file: "console.sqlite",
    /** Tables that only one database has: the search index and the tables of libraries. */
    excludedNames: /^(ledger_words.*|sqlite_.*|kysely_.*)$/,
    migrateSqlite: () => migrateConsole(folder),
    migrate: (url: string) => migrateConsole("", url),
    dump: "console-postgres.sql",
    entry: "INSERT INTO members (id, name, email, role, password_hash, created_at) VALUES ('m', 'ada', 'a@b.test', 'owner', 'h', 1)",
    entries: "SELECT name FROM members",
  },
  {
    label: "the service",
    schema: SERVICE_SCHEMA,
    file: "service.sqlite",
    /** Indexes that only one database has, and tables that processes share on PostgreSQL. */
    excludedNames: /^(jobs_idle|asset_search.*|sqlite_.*|commits|processes|turns|long_notices|run_progress|run_files)$/,
    migrateSqlite: () => migrateService(join(folder, "service.sqlite")),
    migrate: (url: string) => migratePostgres(url, now),
    dump: "service-postgres.sql",
    entry: "INSERT INTO users (name, status, created_at) VALUES ('ada', 'active', 1)",
    entries: `SELECT name FROM ${SERVICE_SCHEMA}.users`,
  },
])("the schema of $label", ({ schema, file, excludedNames, migrateSqlite, migrate, dump, entry, entries }) => {
  it("has the same tables, columns, keys, references and indexes in both", async () => {
    await migrateSqlite();
    await migrate(databaseUrl);
    const sqlite = readSqliteShapes(join(folder, file), excludedNames);
    const postgres = await readPostgresShapes(databaseUrl, excludedNames, schema);
    expect([...postgres.keys()].sort()).toEqual([...sqlite.keys()].sort());
    expect(sqlite.size).toBeGreaterThan(20);
    for (const [table, shape] of sqlite) expect(postgres.get(table), table).toEqual(shape);
    // Every text column must be compared by bytes.
    const wrongCollationQuery = `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = '${schema}' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`;
    expect(await queryDatabase(databaseUrl, wrongCollationQuery)).toEqual([]);
  });

  it("upgrades a database of the last pre-baseline schema to the same schema", async () => {
    const olderUrl = await openTestDatabase();
    const text = readFileSync(`tests/fixtures/schemas/${dump}`, "utf8");
    await queryDatabase(olderUrl, `CREATE SCHEMA IF NOT EXISTS ${schema}; SET search_path = ${schema}; ${text}; ${entry}`);
    for (const url of [olderUrl, databaseUrl]) await migrate(url);
    expect(await queryDatabase(olderUrl, entries)).toEqual([{ name: "ada" }]);
    const readShapes = (url: string) => readPostgresShapes(url, excludedNames, schema);
    expect(await readShapes(databaseUrl)).toEqual(await readShapes(olderUrl));
    const functions = `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = '${schema}'::regnamespace ORDER BY 1`;
    const triggers = `SELECT tgrelid::regclass::text AS owner, pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2`;
    for (const query of [functions, triggers])
      expect(await queryDatabase(databaseUrl, query)).toEqual(await queryDatabase(olderUrl, query));
  });
});

describe("a database of the service", () => {
  beforeEach(() => migratePostgres(databaseUrl, now));

  it("keeps the console's tables and creates its own once in parallel starts", async () => {
    await queryDatabase(databaseUrl, "CREATE TABLE users (of_the_console text); INSERT INTO users VALUES ('kept')");
    await Promise.all([1, 2, 3, 4].map(() => migratePostgres(databaseUrl, now)));
    expect(await queryDatabase(databaseUrl, "SELECT * FROM users")).toEqual([{ of_the_console: "kept" }]);
    expect(await queryDatabase(databaseUrl, `SELECT label FROM ${SERVICE_SCHEMA}.runners`)).toEqual([{ label: "Built-in" }]);
  });

  it("rejects a database of a newer version", async () => {
    await queryDatabase(databaseUrl, `INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('999-of-later', 0)`);
    await expect(migratePostgres(databaseUrl, now)).rejects.toThrow(/written by a newer version \(.*999-of-later/);
  });

  it("rejects a database from before 0.2.0 and names the version to start first", async () => {
    await queryDatabase(
      databaseUrl,
      `DELETE FROM ${SERVICE_SCHEMA}.migrations; INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('020-ended-at-once', 0)`,
    );
    await expect(migratePostgres(databaseUrl, now)).rejects.toThrow(/Start that commit .+ with it once/);
  });
});

type Statement = readonly [text: string, ...values: (string | number | null)[]];

const users = [1, 2, 3];
const user = fc.constantFrom(...users);
const state = fc.constantFrom("pending", "in_progress", "completed", "failed", "cancelled");
const bit = fc.constantFrom(0, 1);
const row = fc.integer({ min: 1, max: 12 });
const tag = fc.constantFrom("cat", "dog", "Dog", "鳥");

/** Statements with `?` for each value. Row numbers are small, so that statements change the same rows. */
const statementsArbitrary: fc.Arbitrary<Statement[]> = fc.oneof(
  fc.tuple(row, user, state, bit, bit, fc.constantFrom("", "w1", "w2")).map(([seq, owner, to, image, video, workflow]): Statement[] => [
    [
      `INSERT INTO jobs (seq, id, user_id, state, number, workflow_id, create_time, update_time, state_time, has_image, has_video)
           VALUES (?, ?, ?, ?, 1, ?, 1, 1, 1, ?, ?) ON CONFLICT DO NOTHING`,
      ...[seq, `job-${seq}`, owner, to, workflow, image, video],
    ],
  ]),
  // Jobs never leave a terminal state.
  fc
    .tuple(row, row, state)
    .map(([from, to, next]): Statement[] => [
      ["UPDATE jobs SET state = ? WHERE seq BETWEEN ? AND ? AND state IN ('pending', 'in_progress')", next, from, to],
    ]),
  fc.tuple(row, bit).map(([seq, image]): Statement[] => [["UPDATE jobs SET has_image = ?, update_time = 2 WHERE seq = ?", image, seq]]),
  fc.tuple(row, row).map(([from, to]): Statement[] => [["DELETE FROM jobs WHERE seq BETWEEN ? AND ?", from, to]]),
  fc
    .tuple(user, fc.constantFrom(5, null))
    .map(([id, until]): Statement[] => [["UPDATE users SET history_cleared_until = ? WHERE id = ?", until, id]]),
  fc.tuple(row, fc.constantFrom(0, ...users), fc.integer({ min: 1, max: 3 })).map(([seq, owner, content]): Statement[] => [
    [
      `INSERT INTO assets (seq, id, owner_id, origin, hash, name, name_folded, size, metadata, created_at, updated_at, last_access_time)
         SELECT seq, 'asset-' || seq, ?, 'output', ?, 'n', 'n', ?, '{}', 1, 1, 1 FROM (SELECT ? AS seq UNION ALL SELECT ?) AS both_of_them
         WHERE seq NOT IN (SELECT seq FROM assets)`,
      ...[owner, `hash-${content}`, content * 100, seq, seq + 20],
    ],
  ]),
  fc
    .tuple(row, row, fc.constantFrom(0, 20))
    .map(([from, to, more]): Statement[] => [["DELETE FROM assets WHERE seq BETWEEN ? AND ?", from, to + more]]),
  fc
    .tuple(row, tag)
    .map(([seq, name]): Statement[] => [
      ["INSERT INTO asset_tags (asset_seq, tag, position) SELECT seq, ?, 0 FROM assets WHERE seq = ? ON CONFLICT DO NOTHING", name, seq],
    ]),
  fc.tuple(row, tag).map(([seq, name]): Statement[] => [["DELETE FROM asset_tags WHERE asset_seq >= ? AND tag = ?", seq, name]]),
);

it("keeps equal counters in both databases after any change", async () => {
  await migratePostgres(databaseUrl, now);
  migrateService(join(folder, "service.sqlite"));
  const sqlite = new SqliteConnection(join(folder, "service.sqlite"));
  sqlite.pragma("foreign_keys = ON");
  const client = new pg.Client({ connectionString: databaseUrl, options: `-c search_path=${SERVICE_SCHEMA}` });
  await client.connect();
  const types = { number: "::bigint", string: "::text", object: "" };
  const run = async ([text, ...values]: Statement) => {
    sqlite.prepare(text).run(...values);
    const numberedText = values.reduce<string>(
      (result, value, index) => result.replace("?", `$${index + 1}${types[typeof value as keyof typeof types]}`),
      text,
    );
    await client.query(numberedText, values);
  };
  const readRows = async (text: string) => {
    const { rows } = await client.query<Record<string, string>>(text);
    return { sqlite: sortRows(sqlite.prepare<[], object>(text).all()), postgres: sortRows(rows) };
  };
  const tablesToClear = ["jobs", "assets", "users", "blobs", "job_counts", "asset_counts", "user_storage", "tag_counts"];
  const operations = fc.array(statementsArbitrary, { minLength: 20, maxLength: 60 });
  try {
    await fc.assert(
      fc.asyncProperty(operations, async (statements) => {
        for (const table of tablesToClear) await run([`DELETE FROM ${table}`]);
        for (const id of users)
          await run(["INSERT INTO users (id, name, status, created_at) VALUES (?, ?, 'active', 1)", id, `user-${id}`]);
        for (const id of [1, 2, 3])
          await run([
            "INSERT INTO blobs (hash, sha256, size, media_type, created_at) VALUES (?, ?, ?, 'x', 1)",
            `hash-${id}`,
            "",
            id * 100,
          ]);
        for (const statement of statements.flat()) await run(statement);
        for (const [name, [storedQuery, countQuery]] of Object.entries(storedCounters)) {
          const [stored, computed] = [await readRows(storedQuery), await readRows(countQuery)];
          expect(stored.postgres, name).toEqual(computed.postgres);
          expect(stored.postgres, name).toEqual(stored.sqlite);
        }
        // These values can't be computed from other tables.
        const totals = await readRows(jobTotalsQuery);
        expect(totals.postgres).toEqual(totals.sqlite);
      }),
      { numRuns: 10 },
    );
  } finally {
    sqlite.close();
    await client.end();
  }
});
