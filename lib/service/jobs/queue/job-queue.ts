// What waits and who is next, as the engine sees it. In the memory of the one process there is (memory-queue.ts), or in a PostgreSQL that several
// share (shared-queue.ts).
// Guarantees: fair between users; a job is given only to a slot that can do it; what is so says the job's row, which is asked when it is taken.

import { type Place } from "@/lib/service/runners/pool";
import { type Transaction } from "@/lib/service/store/database";
import { type Claimed, type Running } from "../run/claim";
import { type EngineParts } from "../run/engine-parts";
import { type Waiting } from "./fair-queue";
import { type NextClaim } from "./next-claim";

export type JobQueue = {
  /** Begins to give out what waits, also what began to wait before. */
  start(): Promise<void>;
  /** Inside the commit from which on the job waits. `isFirst`: it was taken before, and comes before all others of its user. */
  enqueue(tx: Transaction, job: Waiting, isFirst?: boolean): Promise<void>;
  /** After that commit. */
  waits(job: Waiting, isFirst?: boolean): void;
  /** These pending jobs of the user (all, when absent) are cancelled in the store, or will be at once. */
  forget(userId: number, seqs?: readonly number[]): Promise<void>;
  /** What was to be cancelled of all the user's jobs up to this one has been, or waits on. */
  waitAgain(userId: number, last: number): Promise<void>;
  /** What waits and was lost, by a process that ended in the middle, is given out all the same. */
  repair(): Promise<void>;
  /** Inside a commit: what was given to workers of processes that are dead waits again. */
  takeBack(tx: Transaction, workerIds: readonly string[]): Promise<void>;
  /** Slots or runners have changed. */
  changed(): void;
  /** Runs a job that goes on in a slot, and perhaps others after it. */
  goOn(job: Claimed, place: Place): Promise<void>;
  /** The job that is given to the built-in runner next; undefined where that is not known. */
  guess(): number | undefined;
  /** Gives out nothing more. */
  stop(): Promise<void>;
};

/** What the queue gives jobs to. */
export type Floor = {
  parts: EngineParts;
  /** Known as running from its claim on, so that no cancel falls between waiting and running. */
  running: Map<string, Running>;
  mayTake(): boolean;
  /** To its end. `next`: what the commit that ends it takes. */
  run(job: Claimed, next: NextClaim): Promise<void>;
  /** Counted, so that `stop` of the engine waits for it. */
  inBackground(work: Promise<void>): void;
};

export type CreateQueue = (floor: Floor) => JobQueue;
