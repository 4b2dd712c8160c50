// The service's database on SQLite. A resolved commit is on disk. A read outside of a commit waits for the current one.

import { dirname } from "node:path";
import { findUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { SqliteConnection, type SqliteStatement } from "@/lib/shared/database/sqlite";
import { isFullDisk } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { migrate } from "./baseline";
import { type Compilable, type Database, type Reader, type StoreLimits, type Transaction } from "./database";
import { sqliteDialect as dialect } from "./dialect";
import { createGroupCommit } from "./group-commit";

const MAX_PREPARED_STATEMENTS = 400;

/** Rejects writes beyond `limits`. Commands omit them, because they store no user data. */
export async function openDatabase(file: string, now: () => number, limits: StoreLimits = {}): Promise<Database> {
  const openWith = (locking?: "EXCLUSIVE") => createDatabase(connect(file, now, locking), limits, dirname(file));
  try {
    return openWith();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    // On a full disk there is no space for the log's index. With an exclusive lock, the index is in memory.
    return openWith("EXCLUSIVE");
  }
}

function connect(file: string, now: () => number, locking?: "EXCLUSIVE"): SqliteConnection {
  const connection = new SqliteConnection(file);
  try {
    prepareConnection(connection, now, locking);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

function prepareConnection(connection: SqliteConnection, now: () => number, locking: "EXCLUSIVE" | undefined): void {
  if (locking) connection.pragma(`locking_mode = ${locking}`);
  connection.pragma("journal_mode = WAL");
  connection.pragma("synchronous = FULL");
  connection.pragma("foreign_keys = ON");
  connection.pragma("cache_size = -65536");
  connection.pragma("temp_store = MEMORY");
  connection.pragma("journal_size_limit = 67108864");
  migrate(connection, now);
  if (connection.prepare(findUnfinishedCopy.sqlite).get() !== undefined) throw new Error(UNFINISHED_COPY);
}

function createDatabase(connection: SqliteConnection, limits: StoreLimits, folder: string): Database {
  const statementCache = createStatementCache(connection);

  async function runTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { tx, end } = openTransaction(statementCache, connection, limits);
    statementCache.prepare("BEGIN IMMEDIATE").run();
    try {
      const result = await runInOneTurn(() => work(tx));
      statementCache.prepare("COMMIT").run();
      return result;
    } catch (error) {
      if (connection.inTransaction) statementCache.prepare("ROLLBACK").run();
      throw error;
    } finally {
      end();
    }
  }
  const groupCommit = createGroupCommit(runTransaction, () => connection.inTransaction, folder);

  const reader: Reader = {
    dialect,
    async rows(statement) {
      while (groupCommit.getRunningCommit()) await groupCommit.getRunningCommit();
      return statementCache.rows(statement);
    },
    async row(statement) {
      while (groupCommit.getRunningCommit()) await groupCommit.getRunningCommit();
      return statementCache.row(statement);
    },
  };

  return {
    ...reader,
    limits,
    // Consecutive reads take one turn of the event loop, in which no commit starts.
    readSnapshot: (work) => work(reader),
    commit: (work) => groupCommit.commit(work),
    commitWithReserve: (work) => groupCommit.commit(work, true),
    async countForeignCommits() {
      while (groupCommit.getRunningCommit()) await groupCommit.getRunningCommit();
      return Number(connection.pragma("data_version"));
    },
    async close() {
      await groupCommit.flush();
      connection.close();
    },
  };
}

type StatementCache = ReturnType<typeof createStatementCache>;

function createStatementCache(connection: SqliteConnection) {
  // Cached by text, because texts vary with the length of IN lists.
  const statementsBySql = createLru<string, SqliteStatement>({ max: MAX_PREPARED_STATEMENTS });

  function prepare(sql: string): SqliteStatement {
    const cachedStatement = statementsBySql.get(sql);
    if (cachedStatement) return cachedStatement;
    const statement = connection.prepare(sql);
    statementsBySql.set(sql, statement);
    return statement;
  }

  return {
    prepare,
    rows<R>(statement: Compilable<R>) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).all(...parameters) as R[]; // kysely's type of this statement
    },
    row<R>(statement: Compilable<R>) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).get(...parameters) as R | undefined; // kysely's type of this statement
    },
  };
}

/** After `end`, the transaction rejects statements, so that abandoned work cannot write into another commit. */
function openTransaction(statements: StatementCache, connection: SqliteConnection, limits: StoreLimits): { tx: Transaction; end(): void } {
  let hasEnded = false;
  const requireOpen = () => {
    // After a disk error, SQLite rolls back by itself. Later statements must not be written on their own.
    if (hasEnded || !connection.inTransaction) throw new Error("the transaction has ended");
  };
  const tx: Transaction = {
    dialect,
    limits,
    async rows(statement) {
      requireOpen();
      return statements.rows(statement);
    },
    async row(statement) {
      requireOpen();
      return statements.row(statement);
    },
    async run(statement) {
      requireOpen();
      const { sql, parameters } = statement.compile();
      return statements.prepare(sql).run(...parameters).changes;
    },
    async runInSavepoint(work) {
      requireOpen();
      statements.prepare("SAVEPOINT piece").run();
      try {
        const result = await work();
        requireOpen();
        statements.prepare("RELEASE piece").run();
        return result;
      } catch (error) {
        if (!hasEnded && connection.inTransaction) {
          statements.prepare("ROLLBACK TO piece").run();
          statements.prepare("RELEASE piece").run();
        }
        throw error;
      }
    },
  };
  return { tx, end: () => (hasEnded = true) };
}

/** Rejects work that awaits more than its statements, because it might wait for this commit. */
async function runInOneTurn<T>(work: () => Promise<T>): Promise<T> {
  let immediate: NodeJS.Immediate | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    immediate = setImmediate(() => reject(new Error("a commit waited for something other than its own statements")));
  });
  try {
    return await Promise.race([work(), timeout]);
  } finally {
    clearImmediate(immediate);
  }
}
