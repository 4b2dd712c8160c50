// What the queue in PostgreSQL works with: its tables, and its own connections.
// Guarantees: a connection on which no answer came in time is not used again.

import { type Pool, type PoolClient } from "pg";
import { type ServiceLog } from "@/lib/service/options";
import { type Processes } from "@/lib/service/store/processes";
import { poolBounds, toStoreError } from "@/lib/shared/database/postgres";
import { isStoreAway } from "@/lib/shared/error-codes";
import { type CreateQueue } from "../run/job-queue";
import { makeQueue } from "./queue-entries";
import { createSharedQueue } from "./shared-queue";

export type SharedQueues = { create: CreateQueue; close(): Promise<void> };
type Limits = { statementMs?: number; connectMs?: number };

/** For the claims, one that listens, and one spare. */
const MOST_CONNECTIONS = 6;
const STATEMENT_MS = 30_000;

export async function openSharedQueues(url: string, processes: Processes, log: ServiceLog): Promise<SharedQueues> {
  const pgPool = await openQueuePool(url);
  try {
    await makeQueue(pgPool, log);
  } catch (error) {
    await pgPool.end();
    throw toStoreError(error);
  }
  return { create: (floor) => createSharedQueue(floor, { pgPool, processes }), close: () => pgPool.end() };
}

export async function openQueuePool(url: string, { statementMs = STATEMENT_MS, connectMs }: Limits = {}): Promise<Pool> {
  const { default: pg } = await import("pg");
  const pgPool = new pg.Pool({
    ...poolBounds(MOST_CONNECTIONS, statementMs, connectMs),
    connectionString: url,
    // The holder of an entry is a hint: if a crash of the database loses it, the job's row says whether it waits.
    onConnect: async (client) => void (await client.query("SET synchronous_commit TO off")),
  });
  // A broken connection: the query that uses it reports the error. Without a listener here it would end the process.
  pgPool.on("error", () => undefined);
  pgPool.on("connect", endWhenSilent);
  return pgPool;
}

/** The library uses a connection again after any error; on one that is silent, each later question would wait as long. */
function endWhenSilent(client: PoolClient): void {
  client.query = new Proxy(client.query, {
    apply(query, self, asked) {
      const answer: unknown = Reflect.apply(query, self, asked);
      if (answer instanceof Promise) answer.catch((error: unknown) => isStoreAway(toStoreError(error)) && void client.end());
      return answer;
    },
  });
}
