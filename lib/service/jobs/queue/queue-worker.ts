// The worker of graphile-worker that gives waiting jobs to this process. The library holds the order, wakes the worker, and locks what it
// has given out; a worker that fails is started again.

import { EventEmitter } from "node:events";
import { type Logger, type Worker, type WorkerEvents } from "graphile-worker";
import { type Pool, type PoolClient } from "pg";
import { type ServiceLog } from "@/lib/service/options";
import { asStorageFailure } from "@/lib/service/service-error";
import { type Database } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { poolBounds, toStoreError } from "@/lib/shared/database/postgres";
import { isStoreAway } from "@/lib/shared/error-codes";
import { EVERY, freeWorkers, QUEUE_SCHEMA } from "./queue-entries";

/** The most time that a lost notification costs. */
const POLL_MS = 1000;
const RESTART_MS = 1000;
/** A search that found nothing is not repeated for this many times as long as it took. */
const SEARCH_REST_FACTOR = 4;
const MAX_SEARCH_REST_MS = 1000;

type WorkerParts = { pgPool: Pool; processes: Pick<Processes, "id">; database: Database; log: ServiceLog };
type Handlers = {
  /** The kinds of jobs to skip; undefined if no slot is open. */
  kindsToSkip(): string[] | undefined;
  take(payload: unknown): Promise<void>;
};

export function createQueueWorker({ pgPool, processes, database, log }: WorkerParts, { kindsToSkip, take }: Handlers) {
  let worker: Worker | undefined;
  let serving: Promise<void> | undefined;
  let isStopped = false;
  let restart = (): void => undefined;
  let wake = (): void => undefined;
  let search = { skip: new Set<string>(), begun: 0 };
  /** The last search that found nothing. */
  let vain = { skip: new Set<string>(), until: 0 };

  /** Called before each search, and waits until there is something to search for. */
  async function flagsToSkip(): Promise<string[]> {
    while (!isStopped) {
      const kinds = kindsToSkip();
      const skip = new Set(kinds);
      // A search that skips less than the last one in vain may find something.
      const restMs = [...vain.skip].every((kind) => skip.has(kind)) ? vain.until - performance.now() : 0;
      if (kinds && restMs <= 0) {
        search = { skip, begun: performance.now() };
        return kinds;
      }
      await woken(kinds ? restMs : Infinity);
    }
    return [EVERY];
  }

  async function woken(maxMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (maxMs < Infinity) timer = setTimeout(resolve, maxMs);
    });
    clearTimeout(timer);
  }

  function foundNothing(): void {
    const now = performance.now();
    vain = { skip: search.skip, until: now + Math.min(MAX_SEARCH_REST_MS, SEARCH_REST_FACTOR * (now - search.begun)) };
  }

  async function serve(): Promise<void> {
    while (!isStopped) {
      await serveOnce().catch((error: unknown) => log.warn({ err: error }, "the queue cannot be served now"));
      if (!isStopped) await sleep(RESTART_MS);
    }
  }

  /** Until the library reports an error: it starts no worker in place of one that failed, and keeps how its first query ended. */
  async function serveOnce(): Promise<void> {
    const [{ run }, logger] = [await import("graphile-worker"), await queueLogger(log)];
    await database.commitFreeing((tx) => freeWorkers(tx, [processes.id]));
    const events: WorkerEvents = new EventEmitter();
    const failed = new Promise<void>((resolve) => (restart = resolve));
    events.on("worker:create", (created) => void ({ worker } = created));
    events.on("worker:getJob:empty", foundNothing);
    events.on("worker:getJob:error", ({ error }) => {
      // An outage of the database is logged where the lease is renewed.
      if (!asStorageFailure(toStoreError(error))) log.error({ err: error }, "no entry of the queue could be read");
      restart();
    });
    events.on("worker:release", (released) => {
      if (worker === released.worker) worker = undefined;
    });
    events.on("worker:stop", () => restart());
    const runner = await run({
      ...{ pgPool, schema: QUEUE_SCHEMA, logger, events, workerId: processes.id },
      ...{ concurrency: 1, pollInterval: POLL_MS, noHandleSignals: true, crontab: "" },
      taskList: { run: take },
      forbiddenFlags: flagsToSkip,
    });
    runner.promise.catch(() => restart());
    if (isStopped) restart();
    await failed;
    wake();
    const stopping = runner.stop().catch(() => undefined); // it stops by itself
    // After a failure the worker is idle, and the library may wait long for a connection that is silent.
    if (isStopped) await stopping;
  }

  return {
    start: () => void (serving = serve()),
    /** A job of this kind waits now. The database wakes a worker that does not rest. */
    came(kind: string): void {
      if (vain.skip.has(kind)) return;
      vain.until = 0;
      wake();
    },
    /** Slots have changed. */
    nudge(): void {
      wake();
      worker?.nudge();
    },
    async stop(): Promise<void> {
      isStopped = true;
      restart();
      await serving;
    },
  };
}

/** Logs only the library's errors and warnings; it would log every job that it gives out. */
async function queueLogger(log: ServiceLog): Promise<Logger> {
  const { Logger } = await import("graphile-worker");
  const loggedLevels: readonly string[] = ["error", "warning"];
  return new Logger(() => (level, message) => {
    if (loggedLevels.includes(level)) log.warn({ message }, "the queue complains");
  });
}

type Limits = { statementMs?: number; connectMs?: number };

/** For searches, for the end of a task, and one that listens. */
const MAX_CONNECTIONS = 3;
const STATEMENT_MS = 30_000;

export async function openQueuePool(url: string, { statementMs = STATEMENT_MS, connectMs }: Limits = {}): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pgPool = new pg.Pool({
    ...poolBounds(MAX_CONNECTIONS, statementMs, connectMs),
    connectionString: url,
    // The holder of an entry is a hint: if a crash of the database loses it, the job's row says whether it waits.
    onConnect: async (client) => void (await client.query("SET synchronous_commit TO off")),
  });
  // A broken connection: the query that uses it reports the error. Without a listener here it would end the process.
  pgPool.on("error", () => undefined);
  pgPool.on("connect", endWhenSilent);
  return pgPool;
}

/** The library uses a connection again after any error; on one that is silent, each later query would wait as long. */
function endWhenSilent(client: PoolClient): void {
  client.query = new Proxy(client.query, {
    apply(query, self, args) {
      const answer: unknown = Reflect.apply(query, self, args);
      if (answer instanceof Promise) answer.catch((error: unknown) => isStoreAway(toStoreError(error)) && void client.end());
      return answer;
    },
  });
}

/** Creates the library's tables, once for processes that start together; and removes entries that can never be given out again. */
export async function migrateQueue(pgPool: Pool, log: ServiceLog): Promise<void> {
  const { makeWorkerUtils } = await import("graphile-worker");
  const client = await pgPool.connect();
  try {
    await client.query("SELECT pg_advisory_lock(hashtextextended('lightdesk queue migrations', 0))");
    const utils = await makeWorkerUtils({ pgPool, schema: QUEUE_SCHEMA, logger: await queueLogger(log) });
    await utils.migrate();
    await utils.cleanup({ tasks: ["DELETE_PERMAFAILED_JOBS"] });
    await utils.release();
  } finally {
    // The lock is released with the connection.
    client.release(true);
  }
}
