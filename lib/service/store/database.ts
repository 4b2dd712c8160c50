// The interface of the service's database. A resolved commit is on disk, readers see complete commits, and only transactions write.

import { setTimeout as sleep } from "node:timers/promises";
import { CompiledQuery, DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { type ServiceSettings } from "../settings";
import { type StoreDialect } from "./dialect";
import { type Tables } from "./schema";

export type Compilable<R> = { compile(): CompiledQuery<R> };

/** Builds statements. It has no connection and never runs them. */
export const query = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

export type StoreLimits = Readonly<Partial<Pick<ServiceSettings, "maxTagsPerAsset" | "userQuotaBytes">>>;

export type Reader = {
  readonly dialect: StoreDialect;
  rows<R>(statement: Compilable<R>): Promise<R[]>;
  row<R>(statement: Compilable<R>): Promise<R | undefined>;
};

/** Inside a commit, await only its own statements, because other writers and readers wait for it. */
export type Transaction = Reader & {
  readonly limits: StoreLimits;
  run(statement: Compilable<unknown>): Promise<number>;
  /** Rolls back only `work` if it throws. Run one at a time. */
  runInSavepoint<T>(work: () => Promise<T>): Promise<T>;
};

export type Database = Reader & {
  readonly limits: StoreLimits;
  /** Reads one snapshot. Await nothing else inside, not even other reads of this database. */
  readSnapshot<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  /** Resolves when `work` is durable as part of a shared commit. `work` may run again, so it must repeat its side effects. */
  commit<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  /** For work that frees disk space or cannot wait for it. On a full disk it uses the reserve. */
  commitWithReserve<T>(work: (tx: Transaction) => Promise<T>): Promise<T>;
  countForeignCommits(): Promise<number>;
  close(): Promise<void>;
};

type Statement<R> = { compile(): CompiledQuery<R> };

export function toStatement<R>(text: RawBuilder<R>): Statement<R> {
  return { compile: () => text.compile(query) };
}

export function createStatement<R>(text: string, values: readonly unknown[] = []): Statement<R> {
  return { compile: () => CompiledQuery.raw(text, [...values]) as CompiledQuery<R> }; // the caller declares the row type
}

const RETRY_PAUSE_MS = 1000;

/** Repeats `work` until it succeeds, fails with an error that `canRetry` rejects, or `signal` aborts. */
export async function retry<T>(
  work: () => Promise<T>,
  canRetry: (error: unknown) => boolean,
  { pauseMs = RETRY_PAUSE_MS, signal }: { pauseMs?: number; signal?: AbortSignal } = {},
): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!canRetry(error)) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
