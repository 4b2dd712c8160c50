// SQLite through `node:sqlite`: built in on Node 22.16 and later, otherwise a prebuilt package. Errors have SQLite's names.

import type * as Package from "@photostructure/sqlite";
import { getErrorCode } from "../error-codes";
import { toStorableText } from "../text";

type Module = Pick<typeof Package, "DatabaseSync" | "backup">;

const { DatabaseSync, backup } = loadBuiltinModule() ?? (await import("@photostructure/sqlite"));

function loadBuiltinModule(): Module | undefined {
  const { emitWarning } = process;
  // Prevents Node 22's experimental warning at each start.
  process.emitWarning = () => undefined;
  try {
    const sqliteModule = process.getBuiltinModule("node:sqlite");
    return sqliteModule && isComplete(sqliteModule) ? sqliteModule : undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

function isComplete(module: object): module is Module {
  return "backup" in module;
}

const DEFAULT_BUSY_TIMEOUT_MS = 5000;
const BACKUP_STEP_PAGES = 2000;

const primaryNames: Readonly<Record<number, string>> = {
  ...{ 1: "ERROR", 2: "INTERNAL", 3: "PERM", 4: "ABORT", 5: "BUSY", 6: "LOCKED", 7: "NOMEM", 8: "READONLY", 9: "INTERRUPT", 10: "IOERR" },
  ...{ 11: "CORRUPT", 12: "NOTFOUND", 13: "FULL", 14: "CANTOPEN", 15: "PROTOCOL", 17: "SCHEMA", 18: "TOOBIG", 19: "CONSTRAINT" },
  ...{ 20: "MISMATCH", 21: "MISUSE", 22: "NOLFS", 23: "AUTH", 25: "RANGE", 26: "NOTADB" },
};
const extendedNames: Readonly<Record<number, string>> = {
  ...{ 787: "CONSTRAINT_FOREIGNKEY", 1555: "CONSTRAINT_PRIMARYKEY", 2067: "CONSTRAINT_UNIQUE", 4874: "IOERR_SHMSIZE" },
};

function addErrorName(error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  // The package's `errcode` may lack the extended code.
  const errorNumber = Number("sqliteExtendedCode" in error ? error.sqliteExtendedCode : error.errcode);
  const name = extendedNames[errorNumber] ?? primaryNames[errorNumber & 0xff] ?? "ERROR";
  return Object.assign(error, { code: `SQLITE_${name}` });
}

function withErrorNames<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw addErrorName(error);
  }
}

export class SqliteConnection {
  readonly #database: Package.DatabaseSyncInstance;

  /** Creates the file unless `readOnly` is set. `timeoutMs` is how long a statement waits for another connection's lock. */
  constructor(file: string, { readOnly = false, timeoutMs = DEFAULT_BUSY_TIMEOUT_MS } = {}) {
    this.#database = withErrorNames(() => new DatabaseSync(file, { readOnly, timeout: timeoutMs }));
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  prepare<Params extends unknown[] = unknown[], Row = unknown>(sql: string): SqliteStatement<Params, Row> {
    return withErrorNames(() => new SqliteStatement<Params, Row>(this.#database.prepare(sql)));
  }

  exec(sql: string): void {
    withErrorNames(() => this.#database.exec(sql));
  }

  pragma(text: string): unknown {
    return this.prepare(`PRAGMA ${text}`).pluck().get();
  }

  runExclusively<T>(work: () => T): T {
    this.exec("BEGIN EXCLUSIVE");
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  function(name: string, options: Package.UserFunctionOptions, work: (...values: unknown[]) => string | number | null): void {
    this.#database.function(name, options, work);
  }

  async backup(file: string): Promise<void> {
    try {
      await backup(this.#database, file, { rate: BACKUP_STEP_PAGES });
    } catch (error) {
      throw addErrorName(error);
    }
  }

  close(): void {
    if (this.#database.isOpen) withErrorNames(() => this.#database.close());
  }
}

/** Accepts values as arguments or as one array (kysely's form). */
export class SqliteStatement<Params extends unknown[] = unknown[], Row = unknown> {
  readonly #statement: Package.StatementSyncInstance;
  #names: readonly string[] | undefined;
  #isPlucked = false;
  #shouldRoundIntegers = false;

  constructor(statement: Package.StatementSyncInstance) {
    this.#statement = statement;
    // Rows are built here, because the module's row objects have no prototype and are half as fast.
    statement.setReturnArrays(true);
  }

  get reader(): boolean {
    return this.#columns().length > 0;
  }

  pluck(): this {
    this.#isPlucked = true;
    return this;
  }

  all(...values: Params): Row[] {
    return this.#read((): unknown[][] => this.#statement.all(...toStorable(values))).map((row) => this.#createRow(row));
  }

  get(...values: Params): Row | undefined {
    const row = this.#read((): unknown[] | undefined => this.#statement.get(...toStorable(values)));
    return row && this.#createRow(row);
  }

  /** Rounds integers beyond 2^53 to the nearest number, where the module would throw. */
  #read<T>(work: () => T): T {
    return withErrorNames(() => {
      try {
        return work();
      } catch (error) {
        if (getErrorCode(error) !== "ERR_OUT_OF_RANGE" || !/^\s*select\b/i.test(this.#statement.sourceSQL)) throw error;
      }
      this.#readRounded();
      return work();
    });
  }

  #readRounded(): void {
    if (this.#shouldRoundIntegers) return;
    this.#shouldRoundIntegers = true;
    this.#statement.setReadBigInts(true);
  }

  run(...values: Params): { changes: number; lastInsertRowid: number } {
    // Otherwise, the module throws after inserting a row with an id beyond 2^53.
    this.#readRounded();
    const { changes, lastInsertRowid } = withErrorNames(() => this.#statement.run(...toStorable(values)));
    return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
  }

  *iterate(...values: Params): IterableIterator<Row> {
    this.#readRounded();
    try {
      for (const row of this.#statement.iterate(...toStorable(values))) yield this.#createRow(row);
    } catch (error) {
      throw addErrorName(error);
    }
  }

  #columns(): readonly string[] {
    return (this.#names ??= this.#statement.columns().map(({ name }) => name));
  }

  #createRow(columnValues: readonly unknown[]): Row {
    const values = this.#shouldRoundIntegers
      ? columnValues.map((value) => (typeof value === "bigint" ? Number(value) : value))
      : columnValues;
    if (this.#isPlucked) return values[0] as Row; // the caller's declaration
    // After a schema change, `SELECT *` returns different columns.
    if (this.#names?.length !== values.length) this.#names = undefined;
    const names = this.#columns();
    const row: Record<string, unknown> = {};
    // eslint-disable-next-line lightdesk/outside-key -- columns are named by our own statements, and a Map takes twice the time
    for (let index = 0; index < names.length; index += 1) row[names[index] ?? ""] = values[index];
    return row as Row; // the caller's declaration
  }
}

function toStorable(values: readonly unknown[]): readonly unknown[] {
  const [firstValue] = values;
  return (Array.isArray(firstValue) ? firstValue : values).map(toStorableText);
}
