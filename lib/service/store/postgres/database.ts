// The service's database on PostgreSQL: one connection writes, others read. Commits of all processes are serialized.
// If the connection is lost during COMMIT, its outcome is looked up.

import { type PostgresPool } from "kysely";
import { sleep } from "@/lib/shared/async";
import { findUnfinishedCopy, UNFINISHED_COPY } from "@/lib/shared/database/copy-tables";
import { openPool } from "@/lib/shared/database/postgres";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { createLru } from "@/lib/shared/lru";
import { migratePostgres, SERVICE_SCHEMA } from "../baseline";
import { type Compilable, type Database, type Reader, type StoreLimits, type Transaction } from "../database";
import { postgresDialect as dialect } from "../dialect";
import { createGroupCommit } from "../group-commit";

const numberedTextCache = createLru<string, string>({ max: 400 });

/** A `?` in a text or in a quoted name is not replaced. */
function numberPlaceholders(text: string): string {
  const numberedText = numberedTextCache.get(text);
  if (numberedText !== undefined) return numberedText;
  let count = 0;
  const result = text.replaceAll(/'[^']*'|"[^"]*"|\?/g, (token) => (token === "?" ? `$${(count += 1)}` : token));
  numberedTextCache.set(text, result);
  return result;
}

const MAX_READERS = 8;
const STATEMENT_TIMEOUT_MS = 30_000;
/** Limits the lookups of the outcome of a lost COMMIT. */
const MAX_LOOKUPS = 10;
const LOOKUP_INTERVAL_MS = 500;

type Client = Awaited<ReturnType<PostgresPool["connect"]>>;

/** Rejects writes beyond `limits`. Commands omit them, because they store no user data. */
export async function openPostgres(url: string, now: () => number, limits: StoreLimits = {}): Promise<Database> {
  await migratePostgres(url, now);
  const options = { url, statementMs: STATEMENT_TIMEOUT_MS, schema: SERVICE_SCHEMA, shouldRoundIntegers: true };
  const [writerPool, readerPool] = await Promise.all([openPool({ ...options, max: 1 }), openPool({ ...options, max: MAX_READERS })]);
  const unfinishedCopies = await withReader(readerPool, (client) => client.query(findUnfinishedCopy.postgres, []));
  if (unfinishedCopies.rows.length > 0) {
    await Promise.all([writerPool.end(), readerPool.end()]);
    throw new Error(UNFINISHED_COPY);
  }
  let isOpen = false;
  /** The number of the last known commit, and the number of earlier commits by other processes. */
  let lastCommit = 0;
  let foreignCount = 0;

  async function runTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await writerPool.connect();
    const markLost = () => void (isOpen = false);
    const { tx, end } = openTransaction(client, limits, markLost);
    let commitLock: CommitLock | undefined;
    try {
      await client.query("BEGIN", []);
      isOpen = true;
      commitLock = await acquireCommitLock(client).catch((error: unknown) => {
        if (isStoreUnavailable(error)) markLost();
        throw error;
      });
      const { id, number } = commitLock;
      foreignCount += number - lastCommit - 1;
      lastCommit = number;
      const result = await work(tx);
      await client.query("COMMIT", []).catch(async (error: unknown) => {
        if (!isStoreUnavailable(error)) throw error;
        markLost();
        if (!(await wasCommitted(readerPool, id))) throw error;
      });
      return result;
    } catch (error) {
      // The number is reused. If the commit succeeded after all, it counts as a commit of another process.
      if (commitLock) lastCommit = commitLock.number - 1;
      // If another store was unavailable, this connection still works and is reused.
      if (isOpen) await client.query("ROLLBACK", []);
      throw error;
    } finally {
      isOpen = false;
      end();
      client.release();
    }
  }
  const groupCommit = createGroupCommit(runTransaction, () => isOpen);

  return {
    dialect,
    limits,
    rows: (statement) => withReader(readerPool, (client) => queryRows(client, statement)),
    row: (statement) => withReader(readerPool, async (client) => (await queryRows(client, statement))[0]),
    readSnapshot: (work) => withReader(readerPool, (client) => readSnapshot(client, work)),
    commit: (work) => groupCommit.commit(work),
    commitWithReserve: (work) => groupCommit.commit(work, true),
    async countForeignCommits() {
      const { rows } = await withReader(readerPool, (client) => client.query<{ number: number }>("SELECT number FROM commits", []));
      // May be less than `lastCommit` while this process commits.
      return foreignCount + Math.max(0, (rows[0]?.number ?? 0) - lastCommit);
    },
    async close() {
      await groupCommit.flush();
      await Promise.all([writerPool.end(), readerPool.end()]);
    },
  };
}

type CommitLock = { number: number; id: string };

/** Until the transaction ends, writers of all processes wait for this row. */
async function acquireCommitLock(client: Client): Promise<CommitLock> {
  const { rows } = await client.query<CommitLock>(
    "UPDATE commits SET number = number + 1 RETURNING pg_current_xact_id()::text AS id, number",
    [],
  );
  const [commitLock] = rows;
  if (!commitLock) throw new Error("the commits table has no row");
  return commitLock;
}

/** Throws if the database remains unavailable, because the outcome is then unknown. */
async function wasCommitted(readerPool: PostgresPool, id: string): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { rows } = await withReader(readerPool, (client) =>
        client.query<{ status: string | null }>("SELECT pg_xact_status($1::xid8) AS status", [id]),
      );
      if (rows[0]?.status !== "in progress") return rows[0]?.status === "committed";
    } catch (error) {
      if (!isStoreUnavailable(error) || attempt === MAX_LOOKUPS) throw error;
    }
    await sleep(LOOKUP_INTERVAL_MS);
  }
}

async function withReader<T>(readerPool: PostgresPool, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await readerPool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}

async function readSnapshot<T>(client: Client, work: (reader: Reader) => Promise<T>): Promise<T> {
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", []);
  try {
    return await work({
      dialect,
      rows: (statement) => queryRows(client, statement),
      row: async (statement) => (await queryRows(client, statement))[0],
    });
  } finally {
    await client.query("COMMIT", []);
  }
}

async function queryRows<R>(client: Client, statement: Compilable<R>): Promise<R[]> {
  const { sql, parameters } = statement.compile();
  return (await client.query<R>(numberPlaceholders(sql), parameters)).rows;
}

/** After `end`, the transaction rejects statements, so that abandoned work can't write into another commit. */
function openTransaction(client: Client, limits: StoreLimits, onConnectionLost: () => void): { tx: Transaction; end(): void } {
  let hasEnded = false;
  let isConnectionLost = false;
  async function runInside<T>(work: () => Promise<T>): Promise<T> {
    if (hasEnded) throw new Error("the transaction has ended");
    try {
      return await work();
    } catch (error) {
      if (isStoreUnavailable(error)) {
        isConnectionLost = true;
        onConnectionLost();
      }
      throw error;
    }
  }
  const runCommand = (text: string) => runInside(() => client.query(text, []));
  const tx: Transaction = {
    dialect,
    limits,
    rows: (statement) => runInside(() => queryRows(client, statement)),
    row: (statement) => runInside(async () => (await queryRows(client, statement))[0]),
    run(statement) {
      const { sql, parameters } = statement.compile();
      return runInside(async () => {
        const result = await client.query(numberPlaceholders(sql), parameters);
        return "rowCount" in result ? Number(result.rowCount) : 0;
      });
    },
    async runInSavepoint(work) {
      await runCommand("SAVEPOINT piece");
      try {
        const result = await work();
        await runCommand("RELEASE SAVEPOINT piece");
        return result;
      } catch (error) {
        if (!hasEnded && !isConnectionLost) await runCommand("ROLLBACK TO SAVEPOINT piece; RELEASE SAVEPOINT piece");
        throw error;
      }
    },
  };
  return { tx, end: () => (hasEnded = true) };
}
