// The service's SQLite: synchronous, typed by kysely, every statement prepared once by its text.
// Guarantees: what `commit` has resolved is on disk (WAL, synchronous=FULL); writers that arrive together share one fsync.
// Must never be written to outside `commit`, or an answer could overtake its own durability.

import Sqlite, { type Database as Connection, type Statement } from "better-sqlite3";
import { type CompiledQuery, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { type DiskReserve, isFullDisk } from "@/lib/shared/disk-reserve";
import { type ServiceSettings } from "../settings";
import { type AssetChangeListener, listenToAssets } from "./asset-triggers";
import { createGroupCommit } from "./group-commit";
import { migrate } from "./migrations";
import { type Tables } from "./schema";

type Compilable<R> = { compile(): CompiledQuery<R> };

/** Builds statements; it has no connection and never runs one. */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

export type StoreLimits = Readonly<Partial<Pick<ServiceSettings, "maxTagsPerAsset" | "userQuotaBytes">>>;

export type Database = {
  readonly limits: StoreLimits;
  rows<R>(statement: Compilable<R>): R[];
  row<R>(statement: Compilable<R>): R | undefined;
  /** For writes; returns the number of rows changed. Inside `commit` only. */
  run(statement: Compilable<unknown>): number;
  /** Runs `work` in the next shared commit; resolves when that commit is durable. `work` is synchronous and all-or-nothing. */
  commit<T>(work: () => T): Promise<T>;
  /** The same for what makes room, or must not wait for it: on a full disk it is committed from the reserve. */
  commitFreeing<T>(work: () => T): Promise<T>;
  /** Runs last in every commit, for what is derived from rows. One hook; quick where nothing changed; where it fails, nothing is committed. */
  beforeCommit(hook: () => void): void;
  /** Tells of every asset whose row or tags change, before the change is committed. Once for a database. */
  listenToAssets(listener: AssetChangeListener): void;
  /** Another number once another process has committed. */
  foreignCommits(): number;
  /** One commit of its own, at once. */
  transaction<T>(work: () => T): T;
  /** "ok", or what PRAGMA integrity_check found. */
  integrity(): string;
  close(): void;
};

const MOST_PREPARED = 400;

/** `limits`: what writing beyond is refused; none for a command line, which stores nothing of users. */
export function openDatabase(file: string, now: () => number, limits: StoreLimits = {}, reserve?: DiskReserve): Database {
  const open = (locking?: "EXCLUSIVE") => wrap(connect(file, now, locking), limits, reserve);
  try {
    return open();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    // The index of the log takes room of its own, unless no other process may open the database: then it lies in memory.
    return open("EXCLUSIVE");
  }
}

function connect(file: string, now: () => number, locking?: "EXCLUSIVE"): Connection {
  const connection = new Sqlite(file, { timeout: 5000 });
  try {
    prepareConnection(connection, now, locking);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function prepareConnection(connection: Connection, now: () => number, locking: "EXCLUSIVE" | undefined): void {
  if (locking) connection.pragma(`locking_mode = ${locking}`);
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("cache_size = -65536");
  connection.pragma("temp_store = MEMORY");
  connection.pragma("journal_size_limit = 67108864");
  migrate(connection, now);
}

function wrap(connection: Connection, limits: StoreLimits, reserve: DiskReserve | undefined): Database {
  const prepared = new Map<string, Statement<unknown[], unknown>>();

  function prepare(sql: string): Statement<unknown[], unknown> {
    const known = prepared.get(sql);
    if (known) return known;
    // Texts vary with the length of IN lists: a bound keeps an odd caller from filling the memory.
    if (prepared.size >= MOST_PREPARED) prepared.clear();
    const statement = connection.prepare<unknown[], unknown>(sql);
    prepared.set(sql, statement);
    return statement;
  }

  let settle = (): void => undefined;
  const inTransaction = connection.transaction((work: () => unknown) => work());
  function transaction<T>(work: () => T): T {
    const isOuter = !connection.inTransaction;
    let result: { value: T } | undefined;
    inTransaction.immediate(() => {
      result = { value: work() };
      if (isOuter) settle();
    });
    if (!result) throw new Error("the transaction did not run");
    return result.value;
  }
  const commits = createGroupCommit(transaction, () => connection.inTransaction, reserve);

  return {
    limits,
    rows<R>(statement: Compilable<R>) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).all(...parameters) as R[]; // kysely's type of this very statement
    },
    row<R>(statement: Compilable<R>) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).get(...parameters) as R | undefined; // as above
    },
    run(statement) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).run(...parameters).changes;
    },
    commit: (work) => commits.commit(work),
    commitFreeing: (work) => commits.commit(work, true),
    beforeCommit: (hook) => void (settle = hook),
    listenToAssets: (listener) => listenToAssets(connection, listener),
    foreignCommits: () => Number(connection.pragma("data_version", { simple: true })),
    transaction,
    integrity: () => String(connection.pragma("integrity_check", { simple: true })),
    close() {
      commits.flush();
      connection.close();
    },
  };
}
