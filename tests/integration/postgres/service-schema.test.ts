// The service's schema is the same in SQLite and in PostgreSQL, and its counters agree after the same random changes.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import pg from "pg";
import { afterEach, beforeEach, expect, inject, it } from "vitest";
import { migrate, migratePostgres, SERVICE_SCHEMA } from "@/lib/service/store/baseline";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { ask, createDatabase, type OwnDatabase } from "@/tests/support/postgres-server";
import { shapesOfPostgres, shapesOfSqlite } from "@/tests/support/schema-shapes";

/** Indexes of one database only, and the tables that processes share, which only PostgreSQL has. */
const own = /^(jobs_idle|asset_search.*|sqlite_.*|commits|processes|rounds|turns|long_notices|run_progress)$/;
const now = () => 1_700_000_000_000;

let folder: string;
let file: string;
let database: OwnDatabase;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lightdesk-service-schemas-"));
  file = join(folder, "service.sqlite");
  database = await createDatabase(inject("postgres"));
  const sqlite = new SqliteConnection(file);
  migrate(sqlite, now);
  sqlite.close();
  await migratePostgres(database.url, now);
});

afterEach(async () => {
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

it("has the same tables, columns, keys, references and indexes in both", async () => {
  const [sqlite, postgres] = [shapesOfSqlite(file, own), await shapesOfPostgres(database.url, own, SERVICE_SCHEMA)];
  expect([...postgres.keys()].sort()).toEqual([...sqlite.keys()].sort());
  expect(sqlite.size).toBeGreaterThan(20);
  for (const [table, shape] of sqlite) expect(postgres.get(table), table).toEqual(shape);
});

it("compares every text by its bytes", async () => {
  const loose = `SELECT table_name, column_name FROM information_schema.columns
    WHERE table_schema = '${SERVICE_SCHEMA}' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`;
  expect(await ask(database.url, loose)).toEqual([]);
});

it("leaves the console's tables beside it alone, and is made once by many that start together", async () => {
  await ask(database.url, "CREATE TABLE users (of_the_console text); INSERT INTO users VALUES ('kept')");
  await Promise.all([1, 2, 3, 4].map(() => migratePostgres(database.url, now)));
  expect(await ask(database.url, "SELECT * FROM users")).toEqual([{ of_the_console: "kept" }]);
  expect(await ask(database.url, `SELECT label FROM ${SERVICE_SCHEMA}.runners`)).toEqual([{ label: "Built-in" }]);
});

it("refuses a database that a newer version wrote, and says so", async () => {
  await ask(database.url, `INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('999-of-later', 0)`);
  await expect(migratePostgres(database.url, now)).rejects.toThrow(/written by another, probably newer version \(.*999-of-later/);
});

it("adopts a database of the last schema before the baseline, with an identical result", async () => {
  const older = await createDatabase(inject("postgres"));
  try {
    const dump = readFileSync("tests/fixtures/schemas/service-postgres.sql", "utf8");
    await ask(older.url, `CREATE SCHEMA ${SERVICE_SCHEMA}; SET search_path = ${SERVICE_SCHEMA}; ${dump}`);
    await ask(older.url, `INSERT INTO ${SERVICE_SCHEMA}.users (name, status, created_at) VALUES ('ada', 'active', 1)`);
    await migratePostgres(older.url, now);
    expect(await ask(older.url, `SELECT name FROM ${SERVICE_SCHEMA}.users`)).toEqual([{ name: "ada" }]);
    const shapes = async ({ url }: OwnDatabase) => shapesOfPostgres(url, own, SERVICE_SCHEMA);
    expect(await shapes(database)).toEqual(await shapes(older));
    const functions = `SELECT proname, prosrc FROM pg_proc WHERE pronamespace = '${SERVICE_SCHEMA}'::regnamespace ORDER BY 1`;
    const triggers = `SELECT tgrelid::regclass::text AS owner, pg_get_triggerdef(oid) AS text FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2`;
    for (const text of [functions, triggers]) expect(await ask(database.url, text)).toEqual(await ask(older.url, text));
  } finally {
    await older.drop();
  }
});

it("refuses a database from before 0.2.0, and names the version to start first", async () => {
  await ask(
    database.url,
    `DELETE FROM ${SERVICE_SCHEMA}.migrations; INSERT INTO ${SERVICE_SCHEMA}.migrations VALUES ('020-ended-at-once', 0)`,
  );
  await expect(migratePostgres(database.url, now)).rejects.toThrow(/Start that commit .+ with it once/);
});

type Statement = readonly [text: string, ...values: (string | number | null)[]];

const users = [1, 2, 3];
const user = fc.constantFrom(...users);
const state = fc.constantFrom("pending", "in_progress", "completed", "failed", "cancelled");
const bit = fc.constantFrom(0, 1);
const row = fc.integer({ min: 1, max: 12 });
const tag = fc.constantFrom("cat", "dog", "Dog", "鳥");

/** `?` for each value, in both databases. Rows have small numbers, so that changes meet the same rows. */
const act: fc.Arbitrary<Statement[]> = fc.oneof(
  fc.tuple(row, user, state, bit, bit, fc.constantFrom("", "w1", "w2")).map(([seq, owner, to, image, video, workflow]): Statement[] => [
    [
      `INSERT INTO jobs (seq, id, user_id, state, number, workflow_id, create_time, update_time, state_time, has_image, has_video)
           VALUES (?, ?, ?, ?, 1, ?, 1, 1, 1, ?, ?) ON CONFLICT DO NOTHING`,
      ...[seq, `job-${seq}`, owner, to, workflow, image, video],
    ],
  ]),
  // Terminal states are never left.
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

/** The stored counters, and the same counted from the rows. */
const counters = {
  job_counts: [
    "SELECT user_id, workflow_id, state, has_image, has_video, has_audio, n FROM job_counts WHERE n <> 0 AND workflow_id <> ''",
    `SELECT user_id, workflow_id, state, has_image, has_video, has_audio, count(*) AS n FROM jobs WHERE workflow_id <> '' GROUP BY 1, 2, 3, 4, 5, 6`,
  ],
  asset_counts: ["SELECT owner_id, n FROM asset_counts WHERE n <> 0", "SELECT owner_id, count(*) AS n FROM assets GROUP BY 1"],
  user_storage: [
    "SELECT owner_id, bytes AS n FROM user_storage WHERE bytes <> 0",
    "SELECT owner_id, sum(size) AS n FROM (SELECT DISTINCT owner_id, hash, size FROM assets WHERE owner_id <> 0) AS contents GROUP BY 1",
  ],
  tag_counts: [
    "SELECT owner_id, tag, n FROM tag_counts WHERE n <> 0",
    "SELECT owner_id, tag, count(*) AS n FROM asset_tags JOIN assets ON seq = asset_seq GROUP BY 1, 2",
  ],
} as const;
/** Stored alike in both, and not derived from another table. */
const kept = ["SELECT user_id, state, has_image, has_video, n FROM job_counts WHERE n <> 0 AND workflow_id = ''"];

it("counts in both the same, and what is there, after whatever was done", async () => {
  const sqlite = new SqliteConnection(file);
  sqlite.pragma("foreign_keys = ON");
  const client = new pg.Client({ connectionString: database.url, options: `-c search_path=${SERVICE_SCHEMA}` });
  await client.connect();
  const types = { number: "::bigint", string: "::text", object: "" };
  const run = async ([text, ...values]: Statement) => {
    sqlite.prepare(text).run(...values);
    const numbered = values.reduce<string>(
      (all, value, at) => all.replace("?", `$${at + 1}${types[typeof value as keyof typeof types]}`),
      text,
    );
    await client.query(numbered, values);
  };
  const read = async (text: string) => {
    const { rows } = await client.query<Record<string, string>>(text);
    return { sqlite: sorted(sqlite.prepare<[], object>(text).all()), postgres: sorted(rows) };
  };
  const empty = ["jobs", "assets", "users", "blobs", "job_counts", "asset_counts", "user_storage", "tag_counts"];
  const acts = fc.array(act, { minLength: 20, maxLength: 60 });
  try {
    await fc.assert(
      fc.asyncProperty(acts, async (done) => {
        for (const table of empty) await run([`DELETE FROM ${table}`]);
        for (const id of users)
          await run(["INSERT INTO users (id, name, status, created_at) VALUES (?, ?, 'active', 1)", id, `user-${id}`]);
        for (const id of [1, 2, 3])
          await run([
            "INSERT INTO blobs (hash, sha256, size, media_type, created_at) VALUES (?, ?, ?, 'x', 1)",
            `hash-${id}`,
            "",
            id * 100,
          ]);
        for (const statement of done.flat()) await run(statement);
        for (const [name, [kept, counted]] of Object.entries(counters)) {
          const [are, shouldBe] = [await read(kept), await read(counted)];
          expect(are.postgres, name).toEqual(shouldBe.postgres);
          expect(are.postgres, name).toEqual(are.sqlite);
        }
        for (const text of kept) {
          const { sqlite: one, postgres: other } = await read(text);
          expect(other).toEqual(one);
        }
      }),
      { numRuns: 10 },
    );
  } finally {
    sqlite.close();
    await client.end();
  }
});

/** PostgreSQL's numbers arrive as text here. */
const sorted = (rows: readonly object[]) => rows.map((one) => Object.values(one).map(String).join(" ")).sort();
