// The service's database on SQLite. A resolved commit is on disk. A read outside of a commit waits for the one under way.

import { dirname } from "node:path";
import { findUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { SqliteConnection, type SqliteStatement } from "@/lib/shared/database/sqlite";
import { isFullDisk } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { migrate } from "./baseline";
import { type Compilable, type Database, type Reader, type StoreLimits, type Transaction } from "./database";
import { sqliteDialect as dialect } from "./dialect";
import { createGroupCommit } from "./group-commit";

const MAX_PREPARED = 400;

/** `limits`: writes beyond them are refused; none for a command line, which stores nothing of users. */
export async function openDatabase(file: string, now: () => number, limits: StoreLimits = {}): Promise<Database> {
  const open = (locking?: "EXCLUSIVE") => wrap(connect(file, now, locking), limits, dirname(file));
  try {
    return open();
  } catch (error) {
    if (!isFullDisk(error)) throw error;
    // The index of the log needs room of its own, unless no other process may open the database: then it is in memory.
    return open("EXCLUSIVE");
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

function wrap(connection: SqliteConnection, limits: StoreLimits, folder: string): Database {
  const statements = prepareOnce(connection);

  async function transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const { tx, end } = openTransaction(statements, connection, limits);
    statements.prepare("BEGIN IMMEDIATE").run();
    try {
      const result = await inThisTurn(() => work(tx));
      statements.prepare("COMMIT").run();
      return result;
    } catch (error) {
      if (connection.inTransaction) statements.prepare("ROLLBACK").run();
      throw error;
    } finally {
      end();
    }
  }
  const commits = createGroupCommit(transaction, () => connection.inTransaction, folder);

  const reader: Reader = {
    dialect,
    async rows(statement) {
      while (commits.underWay()) await commits.underWay();
      return statements.rows(statement);
    },
    async row(statement) {
      while (commits.underWay()) await commits.underWay();
      return statements.row(statement);
    },
  };

  return {
    ...reader,
    limits,
    // Reads that follow each other take one turn of the event loop, in which no commit begins.
    reading: (work) => work(reader),
    commit: (work) => commits.commit(work),
    commitFreeing: (work) => commits.commit(work, true),
    async foreignCommits() {
      while (commits.underWay()) await commits.underWay();
      return Number(connection.pragma("data_version"));
    },
    async close() {
      await commits.flush();
      connection.close();
    },
  };
}

type Statements = ReturnType<typeof prepareOnce>;

function prepareOnce(connection: SqliteConnection) {
  // Texts vary with the length of IN lists.
  const prepared = createLru<string, SqliteStatement>({ max: MAX_PREPARED });

  function prepare(sql: string): SqliteStatement {
    const preparedStatement = prepared.get(sql);
    if (preparedStatement) return preparedStatement;
    const statement = connection.prepare(sql);
    prepared.set(sql, statement);
    return statement;
  }

  return {
    prepare,
    rows<R>(statement: Compilable<R>) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).all(...parameters) as R[]; // kysely's type of this very statement
    },
    row<R>(statement: Compilable<R>) {
      const { sql, parameters } = statement.compile();
      return prepare(sql).get(...parameters) as R | undefined; // as above
    },
  };
}

/** `end`: from then on the transaction refuses, so that abandoned work cannot write into another commit. */
function openTransaction(statements: Statements, connection: SqliteConnection, limits: StoreLimits): { tx: Transaction; end(): void } {
  let isOver = false;
  const requireOpen = () => {
    // If the disk fails, SQLite undoes everything by itself: later statements must not be written on their own.
    if (isOver || !connection.inTransaction) throw new Error("the transaction is over");
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
    async attempt(work) {
      requireOpen();
      statements.prepare("SAVEPOINT piece").run();
      try {
        const result = await work();
        requireOpen();
        statements.prepare("RELEASE piece").run();
        return result;
      } catch (error) {
        if (!isOver && connection.inTransaction) {
          statements.prepare("ROLLBACK TO piece").run();
          statements.prepare("RELEASE piece").run();
        }
        throw error;
      }
    },
  };
  return { tx, end: () => (isOver = true) };
}

/** Rejects work that awaits more than its statements: it might wait for this very commit. */
async function inThisTurn<T>(work: () => Promise<T>): Promise<T> {
  let turn: NodeJS.Immediate | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    turn = setImmediate(() => reject(new Error("a commit waited for something other than its own statements")));
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearImmediate(turn);
  }
}
