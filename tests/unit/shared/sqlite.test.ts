import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SqliteConnection } from "@/lib/shared/database/sqlite";
import { getErrorCode } from "@/lib/shared/error-codes";
import { createTemporaryFolder } from "@/tests/support/temporary-folder";

let folder: string;
let file: string;
let database: SqliteConnection;

beforeEach(() => {
  folder = createTemporaryFolder();
  file = join(folder, "test.sqlite");
  database = new SqliteConnection(file);
  database.pragma("journal_mode = WAL");
  database.exec("CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT UNIQUE, parent INTEGER REFERENCES jobs (id)) STRICT");
  database.prepare("INSERT INTO jobs (id, name) VALUES (?, ?)").run(1, "first");
});
afterEach(() => {
  database.close();
});

function catchErrorCode(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return getErrorCode(error);
  }
  return undefined;
}

function withConnection<T>(connection: SqliteConnection, work: (connection: SqliteConnection) => T): T {
  try {
    return work(connection);
  } finally {
    connection.close();
  }
}

describe("errors", () => {
  const insert = (...values: unknown[]) => database.prepare("INSERT INTO jobs (id, name, parent) VALUES (?, ?, ?)").run(...values);

  it("includes the failed constraint in the code", () => {
    expect(catchErrorCode(() => insert(1, "second", null))).toBe("SQLITE_CONSTRAINT_PRIMARYKEY");
    expect(catchErrorCode(() => insert(2, "first", null))).toBe("SQLITE_CONSTRAINT_UNIQUE");
    expect(catchErrorCode(() => insert(2, "second", 77))).toBe("SQLITE_CONSTRAINT_FOREIGNKEY");
  });

  it("throws SQLITE_BUSY when another connection holds the lock", () => {
    const otherConnection = new SqliteConnection(file, { timeoutMs: 0 });
    database.exec("BEGIN IMMEDIATE");
    expect(catchErrorCode(() => withConnection(otherConnection, () => otherConnection.exec("BEGIN IMMEDIATE")))).toBe("SQLITE_BUSY");
  });

  it("releases its locks when it is closed with an open statement", () => {
    const openStatement = database.prepare("SELECT name FROM jobs");
    openStatement.get();
    database.exec("BEGIN EXCLUSIVE");
    database.close();
    expect(
      withConnection(new SqliteConnection(file, { timeoutMs: 0 }), (otherConnection) => otherConnection.pragma("journal_mode = DELETE")),
    ).toBe("delete");
    expect(() => openStatement.get()).toThrow();
  });

  it("throws a specific code when a file is missing, invalid or read-only", () => {
    expect(catchErrorCode(() => new SqliteConnection(join(folder, "missing", "test.sqlite")))).toBe("SQLITE_CANTOPEN");
    expect(catchErrorCode(() => new SqliteConnection(join(folder, "missing.sqlite"), { readOnly: true }))).toBe("SQLITE_CANTOPEN");
    writeFileSync(join(folder, "text.sqlite"), "not a database ".repeat(100));
    expect(
      catchErrorCode(() => withConnection(new SqliteConnection(join(folder, "text.sqlite")), (text) => text.pragma("user_version"))),
    ).toBe("SQLITE_NOTADB");
    expect(
      catchErrorCode(() =>
        withConnection(new SqliteConnection(file, { readOnly: true }), (sqliteConnection) => sqliteConnection.exec("DELETE FROM jobs")),
      ),
    ).toBe("SQLITE_READONLY");
  });

  it("throws SQLITE_FULL when the disk is full, and rolls back", () => {
    database.pragma("max_page_count = 6");
    expect(catchErrorCode(() => database.runExclusively(() => insert(2, "x".repeat(100_000), null)))).toBe("SQLITE_FULL");
    expect(database.inTransaction).toBe(false);
    expect(database.prepare("SELECT count(*) FROM jobs").pluck().get()).toBe(1);
  });
});

describe("statements", () => {
  it("return plain objects, or the first value of each row", () => {
    const rows = database.prepare("SELECT id, name AS label, parent FROM jobs").all();
    expect(rows).toStrictEqual([{ id: 1, label: "first", parent: null }]);
    expect(database.prepare("SELECT name, id FROM jobs").pluck().all()).toEqual(["first"]);
    expect(database.prepare("SELECT name FROM jobs WHERE id = ?").get(2)).toBeUndefined();
    expect([...database.prepare("SELECT id FROM jobs").iterate()]).toStrictEqual([{ id: 1 }]);
  });

  it("return added columns by the second run after a schema change", () => {
    const statement = database.prepare("SELECT * FROM jobs");
    expect(statement.all()).toEqual([{ id: 1, name: "first", parent: null }]);
    database.exec("ALTER TABLE jobs ADD COLUMN note TEXT");
    // Node 22 counts the columns before SQLite notices the change.
    expect(statement.all()).toMatchObject([{ id: 1, name: "first", parent: null }]);
    expect(statement.all()).toEqual([{ id: 1, name: "first", parent: null, note: null }]);
  });

  it("accept values as arguments, as one array or by name", () => {
    const statement = database.prepare("SELECT ? AS a, ? AS b");
    expect([statement.get(1, "x"), statement.get([1, "x"])]).toEqual([
      { a: 1, b: "x" },
      { a: 1, b: "x" },
    ]);
    expect(database.prepare("SELECT @a + $b").pluck().get({ a: 1, b: 2 })).toBe(3);
  });

  it("report whether they return rows", () => {
    expect(["SELECT 1", "DELETE FROM jobs RETURNING id", "DELETE FROM jobs"].map((sql) => database.prepare(sql).reader)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("replace NUL characters, which would truncate text", () => {
    expect(database.prepare("SELECT ?").pluck().get("a\0b")).toBe("a\uFFFDb");
  });

  it("round integers beyond 2^53 when reading, and write bigints exactly", () => {
    const statement = database.prepare("SELECT 9007199254740993 AS large, 7 AS small");
    for (let run = 0; run < 2; run += 1) expect(statement.all()).toEqual([{ large: 9_007_199_254_740_992, small: 7 }]);
    expect(database.prepare("SELECT 9007199254740993").pluck().get()).toBe(9_007_199_254_740_992);
    expect(database.prepare("SELECT cast(? AS TEXT)").pluck().get(9_007_199_254_740_993n)).toBe("9007199254740993");
    const insert = database.prepare("INSERT INTO jobs (id, name) VALUES (?, ?)");
    expect(insert.run(9_007_199_254_740_993n, "large")).toEqual({ changes: 1, lastInsertRowid: 9_007_199_254_740_992 });
    expect(insert.run(8, "small")).toEqual({ changes: 1, lastInsertRowid: 8 });
  });
});

it("copies a consistent snapshot while another connection writes", async () => {
  const copy = join(folder, "copy.sqlite");
  const reader = new SqliteConnection(file, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM jobs").get();
  const backupPromise = reader.backup(copy);
  database.prepare("INSERT INTO jobs (id, name) VALUES (2, 'later')").run();
  await backupPromise;
  reader.close();
  expect(
    withConnection(new SqliteConnection(copy, { readOnly: true }), (sqliteConnection) =>
      sqliteConnection.prepare("SELECT name FROM jobs").pluck().all(),
    ),
  ).toEqual(["first"]);
});

it("rolls back a transaction when its work throws", () => {
  expect(() =>
    database.runExclusively(() => {
      database.exec("DELETE FROM jobs");
      throw new Error("stop");
    }),
  ).toThrow("stop");
  expect(database.prepare("SELECT count(*) FROM jobs").pluck().get()).toBe(1);
});

it("calls registered functions from triggers", () => {
  const changes: unknown[] = [];
  database.function("note", {}, (id) => {
    changes.push(id);
    return null;
  });
  database.exec("CREATE TEMP TRIGGER noted AFTER INSERT ON main.jobs BEGIN SELECT note(new.id); END");
  database.exec("INSERT INTO jobs (id, name) VALUES (7, 'seventh')");
  expect(changes).toEqual([7]);
});
