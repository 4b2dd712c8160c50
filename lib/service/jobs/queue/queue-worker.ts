// The graphile-worker worker that fetches waiting jobs for this process. A failed worker is restarted.

import { EventEmitter } from "node:events";
import { type Logger, type Worker, type WorkerEvents } from "graphile-worker";
import { type Pool, type PoolClient } from "pg";
import { type ServiceLog } from "@/lib/service/options";
import { toStorageFailure } from "@/lib/service/service-error";
import { type Database } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { createPoolConfig, toStoreError } from "@/lib/shared/database/postgres";
import { isStoreUnavailable } from "@/lib/shared/error-codes";
import { ALL_ENTRIES_FLAG, QUEUE_SCHEMA, unlockWorkers } from "./queue-entries";

/** Maximum delay after a lost notification. */
const POLL_INTERVAL_MS = 1000;
const RESTART_DELAY_MS = 1000;
/** After an empty search, the worker waits this many times the search's duration. */
const SEARCH_BACKOFF_FACTOR = 4;
const MAX_SEARCH_BACKOFF_MS = 1000;

type WorkerDependencies = { pgPool: Pool; processes: Pick<Processes, "id">; database: Database; log: ServiceLog };
type Handlers = {
  getKindsToSkip(): string[] | undefined;
  handleEntry(payload: unknown): Promise<void>;
};

export function createQueueWorker({ pgPool, processes, database, log }: WorkerDependencies, { getKindsToSkip, handleEntry }: Handlers) {
  let worker: Worker | undefined;
  let servePromise: Promise<void> | undefined;
  let isStopped = false;
  let restart = (): void => undefined;
  let wake = (): void => undefined;
  let search = { skip: new Set<string>(), startedAt: 0 };
  let emptySearch = { skip: new Set<string>(), retryAt: 0 };

  /** Called by the library before each search. Resolves once a search is useful. */
  async function getFlagsToSkip(): Promise<string[]> {
    while (!isStopped) {
      const kinds = getKindsToSkip();
      const skip = new Set(kinds);
      // A search that skips fewer kinds than the last empty one may find a job.
      const backoffMs = [...emptySearch.skip].every((kind) => skip.has(kind)) ? emptySearch.retryAt - performance.now() : 0;
      if (kinds && backoffMs <= 0) {
        search = { skip, startedAt: performance.now() };
        return kinds;
      }
      await waitForWake(kinds ? backoffMs : Infinity);
    }
    return [ALL_ENTRIES_FLAG];
  }

  async function waitForWake(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (maxMs < Infinity) timer = setTimeout(resolve, maxMs);
    });
    clearTimeout(timer);
  }

  function recordEmptySearch(): void {
    const now = performance.now();
    emptySearch = { skip: search.skip, retryAt: now + Math.min(MAX_SEARCH_BACKOFF_MS, SEARCH_BACKOFF_FACTOR * (now - search.startedAt)) };
  }

  async function serve(): Promise<void> {
    while (!isStopped) {
      await serveOnce().catch((error: unknown) => log.warn({ err: error }, "queue worker failed"));
      if (!isStopped) await sleep(RESTART_DELAY_MS);
    }
  }

  /** Runs until the library reports an error. It neither replaces a failed worker nor retries its first query. */
  async function serveOnce(): Promise<void> {
    const [{ run }, workerLogger] = [await import("graphile-worker"), await createQueueLogger(log)];
    await database.commitWithReserve((tx) => unlockWorkers(tx, [processes.id]));
    const events: WorkerEvents = new EventEmitter();
    const failure = new Promise<void>((resolve) => (restart = resolve));
    events.on("worker:create", (event) => void ({ worker } = event));
    events.on("worker:getJob:empty", recordEmptySearch);
    events.on("worker:getJob:error", ({ error }) => {
      // Lease renewal logs database outages.
      if (!toStorageFailure(toStoreError(error))) log.error({ err: error }, "queue search failed");
      restart();
    });
    events.on("worker:release", (event) => {
      if (worker === event.worker) worker = undefined;
    });
    events.on("worker:stop", () => restart());
    const runner = await run({
      ...{ pgPool, schema: QUEUE_SCHEMA, logger: workerLogger, events, workerId: processes.id },
      ...{ concurrency: 1, pollInterval: POLL_INTERVAL_MS, noHandleSignals: true, crontab: "" },
      taskList: { run: handleEntry },
      forbiddenFlags: getFlagsToSkip,
    });
    runner.promise.catch(() => restart());
    if (isStopped) restart();
    await failure;
    wake();
    const stopPromise = runner.stop().catch(() => undefined); // already stopping
    // After a failure the worker is idle. Don't wait: the library may wait a long time for an unresponsive connection.
    if (isStopped) await stopPromise;
  }

  return {
    start: () => void (servePromise = serve()),
    notifyKind(kind: string): void {
      if (emptySearch.skip.has(kind)) return;
      emptySearch.retryAt = 0;
      wake();
    },
    wakeUp(): void {
      wake();
      worker?.nudge();
    },
    async stop(): Promise<void> {
      isStopped = true;
      restart();
      await servePromise;
    },
  };
}

async function createQueueLogger(log: ServiceLog): Promise<Logger> {
  const { Logger } = await import("graphile-worker");
  const loggedLevels: readonly string[] = ["error", "warning"];
  return new Logger(() => (level, message) => {
    if (loggedLevels.includes(level)) log.warn({ message }, "queue library warning");
  });
}

type PoolTimeouts = { statementMs?: number; connectMs?: number };

/** One connection each for searches, task completion and LISTEN. */
const MAX_CONNECTIONS = 3;
const STATEMENT_TIMEOUT_MS = 30_000;

export async function openQueuePool(url: string, { statementMs = STATEMENT_TIMEOUT_MS, connectMs }: PoolTimeouts = {}): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pgPool = new pg.Pool({
    ...createPoolConfig(MAX_CONNECTIONS, statementMs, connectMs),
    connectionString: url,
    // Entries are hints. If a database crash loses a lock, the job's row still has its state.
    onConnect: async (client) => void (await client.query("SET synchronous_commit TO off")),
  });
  // Queries report connection errors themselves. Without a listener, the error would end the process.
  pgPool.on("error", () => undefined);
  pgPool.on("connect", endOnTimeout);
  return pgPool;
}

/** Closes a connection after a timeout. The library would reuse it, and each later query would time out too. */
function endOnTimeout(client: PoolClient): void {
  client.query = new Proxy(client.query, {
    apply(query, thisArg, args) {
      const response: unknown = Reflect.apply(query, thisArg, args);
      if (response instanceof Promise) response.catch((error: unknown) => isStoreUnavailable(toStoreError(error)) && void client.end());
      return response;
    },
  });
}

/** Creates the library's tables under a lock, because processes may start together. Also deletes permanently failed entries. */
export async function migrateQueue(pgPool: Pool, log: ServiceLog): Promise<void> {
  const { makeWorkerUtils } = await import("graphile-worker");
  const client = await pgPool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtextextended('lightdesk queue migrations', 0))");
    const utils = await makeWorkerUtils({ pgPool, schema: QUEUE_SCHEMA, logger: await createQueueLogger(log) });
    await utils.migrate();
    await utils.cleanup({ tasks: ["DELETE_PERMAFAILED_JOBS"] });
    await utils.release();
  } finally {
    // Closing the connection releases the lock.
    client.release(true);
  }
}
