// What the service needs from a queue over PostgreSQL.
import { type Pool, type PoolClient } from "pg";

/** `turn`: the lowest goes first. `kind`: what a process must be able to do to run the job. */
export type Entry = { seq: number; turn: number; kind: string };

export type Serving = {
  slots: number;
  /** The kinds that this process can run. */
  kinds: readonly string[];
  allKinds: readonly string[];
  run(seq: number): Promise<void>;
};

export type QueueLibrary = {
  prepare(pool: Pool, kinds: readonly string[]): Promise<void>;
  /** Runs in the client's transaction. */
  enqueue(client: Pool | PoolClient, entries: readonly Entry[]): Promise<void>;
  /** Claims until the process ends. */
  serve(pool: Pool, serving: Serving): Promise<void>;
  cancel(pool: Pool, seqs: readonly number[]): Promise<void>;
};

export const LEASE_SECONDS = 3;
