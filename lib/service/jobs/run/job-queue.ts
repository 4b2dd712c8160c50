// Which jobs wait and which is next, as the engine sees it. In the memory of the only process (queue/memory-queue.ts), or in a PostgreSQL
// that several processes share (queue/shared-queue.ts).
// Guarantees: fair between users; a job is given only to a slot that can do it; the job's row decides, and is read when the job is claimed.

import { kindWith, type Place, triedRunners } from "@/lib/service/runners/pool";
import { query, type Reader, type Transaction } from "@/lib/service/store/database";
import { isInOwnQueue, isUnfinished } from "../transitions";
import { type Claimed, type Running } from "./claim";
import { type EngineParts } from "./engine-parts";

/** `kind`: what the job needs, and where it was tried before (runners/pool.ts). */
export type Waiting = { userId: number; seq: number; kind: string };

export type JobQueue = {
  /** Starts giving out waiting jobs, including those that waited before. */
  start(): Promise<void>;
  /** Inside the commit that makes the job wait. `isFirst`: it was taken before, and comes before all other jobs of its user. */
  enqueue(tx: Transaction, job: Waiting, isFirst?: boolean): Promise<void>;
  /** Called after that commit. */
  waits(job: Waiting, isFirst?: boolean): void;
  /** These pending jobs of the user (all, if absent) are cancelled in the store, or are about to be. */
  forget(userId: number, seqs?: readonly number[]): Promise<void>;
  /** Called after a clear: of the user's jobs up to this one, those that were not cancelled wait again. */
  waitAgain(userId: number, last: number): Promise<void>;
  /** Gives out jobs that wait but were lost when a process ended midway. */
  repair(): Promise<void>;
  /** Inside a commit: jobs that were given to workers of dead processes wait again. */
  takeBack(tx: Transaction, workerIds: readonly string[]): Promise<void>;
  /** Slots or runners have changed. */
  changed(): void;
  /** Continues a job in a slot; the slot may run other jobs after it. */
  goOn(job: Claimed, place: Place): Promise<void>;
  /** The job that is given to the built-in runner next; undefined if that is not known. */
  guess(): number | undefined;
  /** Gives out no more jobs. */
  stop(): Promise<void>;
};

/** What a slot runs next, taken in the commit that ends what it runs now (queue/next-claim.ts). */
export type NextClaim = {
  /** The job is about to end: work for that commit that takes time begins now. */
  soon(): void;
  /** Inside the commit. */
  take(tx: Transaction): Promise<void>;
  /** Waits for the commit in which `take` was called. */
  keepIf<T>(commit: Promise<T>): Promise<T>;
  /** The job that the slot runs next. */
  job(): Claimed | undefined;
};

/** What runs the jobs that the queue gives out. */
export type Floor = {
  parts: EngineParts;
  /** Known as running from its claim on, so that no cancel falls between waiting and running. */
  running: Map<string, Running>;
  mayTake(): boolean;
  /** Runs the job to its end. `next`: the claim that the commit which ends the job makes. */
  run(job: Claimed, next: NextClaim): Promise<void>;
  /** The work is counted, so that the engine's `stop` waits for it. */
  inBackground(work: Promise<void>): void;
};

export type CreateQueue = (floor: Floor) => JobQueue;

type Which = { userId: number; last: number } | { seqs: readonly number[] };

export async function waitingJobs(reader: Reader, which?: Which): Promise<(Waiting & { needs: number | null })[]> {
  const pending = query
    .selectFrom("jobs")
    .select(["seq", "user_id", "needs"])
    .where(isUnfinished)
    .where("state", "=", "pending")
    .where(isInOwnQueue);
  const some = !which
    ? pending
    : "seqs" in which
      ? pending.where("seq", "in", reader.dialect.numbers(which.seqs))
      : pending.where("user_id", "=", which.userId).where("seq", "<=", which.last);
  const [jobs, tried] = [await reader.rows(some.orderBy("seq")), await triedRunners(reader)];
  return jobs.map(({ seq, user_id, needs }) => ({ userId: user_id, seq, needs, kind: kindWith(needs, tried.get(seq)) }));
}
