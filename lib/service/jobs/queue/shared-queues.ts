// What the queue in PostgreSQL works with: its tables, and its own connections.

import { asTold } from "@/lib/shared/database/postgres";
import { type ServiceLog } from "@/lib/service/options";
import { type Processes } from "@/lib/service/store/processes";
import { type CreateQueue } from "./job-queue";
import { makeQueue } from "./queue-entries";
import { createSharedQueue } from "./shared-queue";

export type SharedQueues = { create: CreateQueue; close(): Promise<void> };

/** For the claims, one that listens, and one spare. */
const MOST_CONNECTIONS = 6;
const CONNECT_MS = 5_000;
const STATEMENT_MS = 30_000;

export async function openSharedQueues(url: string, processes: Processes, log: ServiceLog): Promise<SharedQueues> {
  const { default: pg } = await import("pg");
  const pgPool = new pg.Pool({
    connectionString: url,
    max: MOST_CONNECTIONS,
    application_name: "lightdesk",
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    statement_timeout: STATEMENT_MS,
    // The holder of an entry is a hint: if a crash of the database loses it, the job's row says whether it waits.
    onConnect: async (client) => void (await client.query("SET synchronous_commit TO off")),
  });
  // A broken connection: the query that uses it reports the error. Without a listener here it would end the process.
  pgPool.on("error", () => undefined);
  try {
    await makeQueue(pgPool, log);
  } catch (error) {
    await pgPool.end();
    throw asTold(error);
  }
  return { create: (floor) => createSharedQueue(floor, { pgPool, processes }), close: () => pgPool.end() };
}
