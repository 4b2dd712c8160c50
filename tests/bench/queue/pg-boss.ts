import PgBoss from "pg-boss";
import { type Pool, type PoolClient } from "pg";
import { LEASE_SECONDS, type QueueLibrary } from "./queue-library";

const POLL_MS = 500;
const RETRIES = 2;

const wrap = (client: Pool | PoolClient): PgBoss.Db => ({ executeSql: (text, values) => client.query(text, values) });

async function start(pool: Pool): Promise<PgBoss> {
  const boss = new PgBoss({ db: wrap(pool), maintenanceIntervalSeconds: 1, schedule: false });
  boss.on("error", () => undefined);
  return boss.start();
}

const idOf = (seq: number) => `00000000-0000-4000-8000-${String(seq).padStart(12, "0")}`;

/** A kind is a queue of its own. It does not listen: the service would tell its processes by itself. */
export function pgBoss(): QueueLibrary {
  let boss: Promise<PgBoss> | undefined;
  return {
    async prepare(pool, kinds) {
      const first = await start(pool);
      for (const name of kinds) await first.createQueue(name);
      await first.stop({ graceful: false, close: false });
    },

    async enqueue(client, entries) {
      boss ??= start(client as Pool);
      const options = { retryLimit: RETRIES, expireInSeconds: LEASE_SECONDS };
      const jobs = entries.map(({ seq, turn, kind }) => ({ id: idOf(seq), name: kind, data: { seq }, priority: -turn, ...options }));
      const [only, ...others] = jobs;
      const db = wrap(client);
      if (only && others.length === 0) await (await boss).send(only.name, only.data, { ...only, db });
      else await (await boss).insert(jobs, { db });
      await client.query("SELECT pg_notify('bench', '')");
    },

    async serve(pool, { slots, kinds, run }) {
      const own = await start(pool);
      const idle = new Set<() => void>();
      const listener = await pool.connect();
      await listener.query("LISTEN bench");
      listener.on("notification", () => idle.values().next().value?.());
      async function takeOne(): Promise<boolean> {
        for (const name of kinds) {
          const [job] = await own.fetch<{ seq: number }>(name);
          if (!job) continue;
          await run(job.data.seq);
          await own.complete(name, job.id);
          return true;
        }
        return false;
      }
      async function slot(): Promise<never> {
        for (;;) {
          if (await takeOne()) continue;
          await new Promise<void>((resolve) => {
            const goOn = () => {
              idle.delete(goOn);
              clearTimeout(timer);
              resolve();
            };
            const timer = setTimeout(goOn, POLL_MS);
            idle.add(goOn);
          });
        }
      }
      for (let count = 0; count < slots; count++) void slot();
    },

    async cancel(pool, seqs) {
      const own = await start(pool);
      await own.cancel("first", seqs.map(idOf));
      await own.stop({ graceful: false, close: false });
    },
  };
}
