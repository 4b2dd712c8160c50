// Gives waiting jobs to worker slots. What waits is in the memory of the only process (memory-queue.ts), or in a PostgreSQL that several
// processes share (postgres-queue.ts); both claim and run jobs through `createSlots`.
// Invariants: a job is claimed only while its row is pending and its runner has a free slot over all processes; only a runner that can do a
// job gets it.

import { kindWith, type Place, triedRunners } from "@/lib/service/runners/pool";
import { countHandedOver, readRunner, type RunnerRow, stateOf } from "@/lib/service/runners/store";
import { asStorageFailure } from "@/lib/service/service-error";
import { query, type Reader, type Transaction } from "@/lib/service/store/database";
import { sleep } from "@/lib/shared/async";
import { claimJob, type Running } from "../run/claim";
import { type EngineParts, type Patience } from "../run/engine-parts";
import { isInOwnQueue, isUnfinished } from "../transitions";

/** `kind`: what the job needs, and where it was tried before (runners/pool.ts). */
export type Waiting = { userId: number; seq: number; kind: string };
/** A job that the queue has given out. `turn`: its position in a shared queue. */
export type Entry = Waiting & { turn: number };

export type JobQueue = {
  /** Starts giving out jobs, including those that waited before. */
  start(): Promise<void>;
  /** Inside the commit that makes the job wait. `isFirst`: it was taken before, and precedes all other jobs of its user. */
  enqueue(tx: Transaction, job: Waiting, isFirst?: boolean): Promise<void>;
  /** Called after that commit. */
  waits(job: Waiting, isFirst?: boolean): void;
  /** These pending jobs of the user (all, if absent) are cancelled in the store, or are about to be. */
  forget(userId: number, seqs?: readonly number[]): Promise<void>;
  /** Called after a clear: of the user's jobs up to this one, those that were not cancelled wait again. */
  waitAgain(userId: number, last: number): Promise<void>;
  /** Gives out jobs that wait but were lost when a process ended midway. */
  repair(): Promise<void>;
  /** Inside a commit: jobs that were given to these dead processes are given out again. */
  takeBack(tx: Transaction, processIds: readonly string[]): Promise<void>;
  /** Slots or runners have changed. */
  changed(): void;
  /** Continues a job at its runner. The slot may run other jobs after it. */
  resume(job: Running, runner: RunnerRow): Promise<void>;
  /** The job that the built-in runner gets next; undefined if that is not known. */
  guess(): number | undefined;
  /** Gives out no more jobs. */
  stop(): Promise<void>;
};

/** For the commit that ends a job, which also claims the next one for the slot. */
export type EndCommit = {
  /** The job is about to end: the slot takes a waiting job for that commit. */
  prepare(): void;
  commit(work: (tx: Transaction) => Promise<void>): Promise<void>;
};

/** What the queue gets from the engine. */
export type QueueContext = {
  parts: EngineParts;
  /** The jobs that run here, by id. */
  running: Map<string, Running>;
  mayTake(): boolean;
  untilThere: Patience["untilThere"];
  /** Runs the job to its end. */
  run(job: Running, end: EndCommit): Promise<void>;
  /** The engine's `stop` waits for this work. */
  inBackground(work: Promise<void>): void;
};

export type CreateQueue = (context: QueueContext) => JobQueue;

type Source = {
  /** Inside the commit that claims the job. */
  took?(tx: Transaction, entry: Entry): Promise<void>;
  /** The job waits again in its place. */
  putBack(entry: Entry): Promise<void>;
  /** A slot is free, or will be soon. */
  opened(): void;
};

/** A slot whose job is about to end, and the entry that it gets next. */
type Ending = { place: Place; entry?: Entry };

const PAUSE_MS = 1000;

export function createSlots({ parts, running, mayTake, run, inBackground }: QueueContext, { took, putBack, opened }: Source) {
  const { database, pool, log } = parts;
  const ending = new Set<Ending>();

  const endingFor = (kind: string) => [...ending].find(({ place }) => pool.mayTake(kind, place.runner));

  /** The job is undefined if it could not be claimed. */
  function createClaim(entry: Entry, place: Place) {
    let outcome: "untried" | "full" | Running | undefined = "untried";
    const claimed = () => (typeof outcome === "object" ? outcome : undefined);

    function undo(): void {
      const job = claimed();
      if (job) running.delete(job.id);
      outcome = "untried";
    }

    async function attempt(tx: Transaction): Promise<Running | undefined> {
      await took?.(tx, entry);
      const job = await tx
        .attempt(() => claimJob(tx, parts, entry.seq, place))
        .catch((error: unknown) => {
          // If the disk rejects a claim, it rejects the rest of this commit too.
          if (asStorageFailure(error)) throw error;
          log.error({ err: error, seq: entry.seq }, "a job could not be begun");
          return undefined;
        });
      if (job) running.set(job.id, job);
      return job;
    }

    return {
      undo,
      async take(tx: Transaction): Promise<void> {
        undo(); // of an earlier try of the same commit
        if (mayTake()) outcome = (await isFree(tx, place)) ? await attempt(tx) : "full";
      },
      /** After the commit. */
      async settle(): Promise<Running | undefined> {
        if (outcome === "full") await refresh();
        if (typeof outcome === "string") await putBack(entry);
        return claimed();
      },
    };
  }

  /** Until then the slot is used, so that the job is not offered to it again. */
  async function refresh(): Promise<void> {
    await pool.refresh().catch(async (error: unknown) => {
      log.warn({ err: error }, "the runners could not be read again");
      await sleep(PAUSE_MS);
    });
  }

  async function claimAlone(entry: Entry, place: Place): Promise<Running | undefined> {
    const claim = createClaim(entry, place);
    for (;;) {
      try {
        await database.commit(claim.take);
        return await claim.settle();
      } catch (error) {
        claim.undo();
        log.error({ err: error }, "no job could be begun");
        if (!mayTake()) return undefined; // the next start finds it
        await sleep(PAUSE_MS);
      }
    }
  }

  /** Returns the next job of the slot. */
  async function runOne(job: Running, place: Place): Promise<Running | undefined> {
    const slot: Ending = { place };
    let claim: ReturnType<typeof createClaim> | undefined;
    let isCommitted = false;
    const prepare = () => {
      if (!mayTake()) return;
      ending.add(slot);
      opened();
    };
    const commit = async (work: (tx: Transaction) => Promise<void>) => {
      ending.delete(slot);
      claim ??= slot.entry && createClaim(slot.entry, place);
      try {
        await database.commit(async (tx) => {
          await work(tx);
          await claim?.take(tx);
        });
        isCommitted = true;
      } catch (error) {
        claim?.undo();
        throw error;
      }
    };
    await run(job, { prepare, commit }).finally(() => ending.delete(slot));
    if (claim && isCommitted) return claim.settle();
    return slot.entry && claimAlone(slot.entry, place);
  }

  async function serve(place: Place, first: Running | undefined): Promise<void> {
    for (let job = first; job;) job = await runOne(job, place);
  }

  async function occupied(runner: RunnerRow, work: (place: Place) => Promise<void>): Promise<void> {
    const place = pool.occupy(runner);
    try {
      await work(place);
    } finally {
      place.release();
      opened();
    }
  }

  return {
    /** Which kinds of jobs could begin now, or at the end of a job; undefined if none. */
    canBegin(): ((kind: string) => boolean) | undefined {
      const free = pool.free();
      if (!mayTake() || free.length + ending.size === 0) return undefined;
      return (kind) => free.some(({ id }) => pool.canDo(kind, id)) || endingFor(kind) !== undefined;
    },

    /** Claims the job for the slot that suits it best, and runs it there. */
    take(entry: Entry): void {
      const best = pool.best(entry.kind, pool.free());
      const slot = best ? undefined : endingFor(entry.kind);
      if (best && mayTake()) inBackground(occupied(best, async (place) => serve(place, await claimAlone(entry, place))));
      else if (slot) {
        slot.entry = entry;
        ending.delete(slot);
      } else inBackground(putBack(entry));
    },

    resume: (job: Running, runner: RunnerRow) => occupied(runner, (place) => serve(place, job)),
  };
}

/** As stored now: the runner may have been paused a moment ago, and other processes use its slots too. */
async function isFree(tx: Transaction, { runner: { id, address } }: Place): Promise<boolean> {
  const row = await readRunner(tx, id);
  if (!row || stateOf(row) !== "ready") return false;
  return address === null || (await countHandedOver(tx, row)) < row.slots;
}

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
