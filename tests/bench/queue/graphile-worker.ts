import { EventEmitter } from "node:events";
import { Logger, makeWorkerUtils, run, type WorkerEvents } from "graphile-worker";
import { type Pool } from "pg";
import { LEASE_SECONDS, type QueueLibrary } from "./queue-library";

const SCHEMA = "graphile_worker";
const MAX_ATTEMPTS = 3;
const POLL_MS = 1000;
const silent = new Logger(() => () => undefined);

/** `kindsAs`: this library has two ways to give a job only to a process that can run it. */
export function graphileWorker(kindsAs: "task" | "flag"): QueueLibrary {
  return {
    async prepare(pool) {
      const utils = await makeWorkerUtils({ pgPool: pool, logger: silent });
      await utils.migrate();
      await utils.release();
      await pool.query("CREATE TABLE queue_processes (worker_ids text[] PRIMARY KEY, seen_at timestamptz NOT NULL)");
    },

    async enqueue(client, entries) {
      // Its priorities are small integers, so the turn is stored as a time in the distant past, in microseconds.
      const task = kindsAs === "task" ? "kind" : "'run'";
      const flags = kindsAs === "flag" ? "ARRAY[kind]" : "NULL";
      await client.query(
        `SELECT ${SCHEMA}.add_jobs(array_agg((${task}, json_build_object('seq', seq), NULL,
           timestamptz '2000-01-01' + turn * interval '1 microsecond', ${MAX_ATTEMPTS}, seq::text, 0, ${flags})::${SCHEMA}.job_spec))
         FROM unnest($1::int[], $2::bigint[], $3::text[]) AS entries (seq, turn, kind)`,
        [entries.map(({ seq }) => seq), entries.map(({ turn }) => turn), entries.map(({ kind }) => kind)],
      );
    },

    async serve(pool, { slots, kinds, allKinds, run: runOne }) {
      const task = (payload: unknown) => runOne((payload as { seq: number }).seq);
      const workerIds: string[] = [];
      const events = new EventEmitter() as WorkerEvents;
      events.on("worker:create", ({ worker }) => void workerIds.push(worker.workerId));
      await run({
        pgPool: pool,
        concurrency: slots,
        pollInterval: POLL_MS,
        noHandleSignals: true,
        logger: silent,
        events,
        crontab: "",
        taskList: kindsAs === "task" ? Object.fromEntries(kinds.map((kind) => [kind, task])) : { run: task },
        ...(kindsAs === "flag" && { forbiddenFlags: allKinds.filter((kind) => !kinds.includes(kind)) }),
      });
      setInterval(() => void keepLease(pool, workerIds).catch(() => undefined), 1000);
    },

    async cancel(pool, seqs) {
      await pool.query(`SELECT count(*) FROM ${SCHEMA}.complete_jobs(ARRAY(SELECT id FROM ${SCHEMA}.jobs WHERE key = ANY ($1::text[])))`, [
        seqs.map(String),
      ]);
    },
  };
}

/** The library frees a dead process's jobs after four hours, or when told whose they were. The database's clock decides who is dead. */
async function keepLease(pool: Pool, workerIds: readonly string[]): Promise<void> {
  await pool.query(
    "INSERT INTO queue_processes (worker_ids, seen_at) VALUES ($1, now()) ON CONFLICT (worker_ids) DO UPDATE SET seen_at = now()",
    [workerIds],
  );
  await pool.query(
    `WITH dead AS (DELETE FROM queue_processes WHERE seen_at < now() - interval '${LEASE_SECONDS} s' RETURNING worker_ids)
     SELECT ${SCHEMA}.force_unlock_workers(worker_ids) FROM dead`,
  );
}
