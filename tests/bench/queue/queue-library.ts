// What the service needs of a queue over PostgreSQL.
import { type Pool, type PoolClient } from "pg";

/** `turn`: whose is lower goes first. `kind`: what a process must be able to do. */
export type Entry = { seq: number; turn: number; kind: string };

export type Serving = {
  slots: number;
  /** What this process can do, of all that there are. */
  kinds: readonly string[];
  allKinds: readonly string[];
  run(seq: number): Promise<void>;
};

export type QueueLibrary = {
  prepare(pool: Pool, kinds: readonly string[]): Promise<void>;
  /** In the transaction of the client. */
  enqueue(client: Pool | PoolClient, entries: readonly Entry[]): Promise<void>;
  /** Claims until the process ends. */
  serve(pool: Pool, serving: Serving): Promise<void>;
  cancel(pool: Pool, seqs: readonly number[]): Promise<void>;
};

export const LEASE_SECONDS = 3;
