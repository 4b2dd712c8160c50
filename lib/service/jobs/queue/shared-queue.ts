// The PostgreSQL queue that several processes share: graphile-worker picks the next job and wakes a process (decision 63).
// An entry is only a hint: a claim is valid only if the job's row is still waiting.

import { type Pool, type PoolClient } from "pg";
import { z } from "zod";
import { type ServiceLog } from "@/lib/service/options";
import { type Place } from "@/lib/service/runners/pool";
import { asStorageFailure } from "@/lib/service/service-error";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { poolBounds, toStoreError } from "@/lib/shared/database/postgres";
import { isStoreAway } from "@/lib/shared/error-codes";
import { type Claimed } from "../run/claim";
import { type CreateQueue, type Floor, type JobQueue, waitingJobs } from "../run/job-queue";
import { createAskedPlaces, createClaimers, type Question } from "./claimers";
import {
  beginClearing,
  endClearing,
  enqueueAll,
  freeWorkers,
  makeQueue,
  removeEntries,
  removeStale,
  seqsWithoutEntry,
} from "./queue-entries";
import { createSharedClaims, type Entry, type Offer } from "./shared-claims";

const PAUSE_MS = 1000;
/** Once in this time, for all processes together. */
const REPAIR_MS = 60_000;
/** Kinds are learnt as jobs of them come by; when there are too many, all are learnt anew. */
const MOST_KINDS = 1000;

const entrySchema = z.object({ seq: z.number(), userId: z.number(), kind: z.string(), turn: z.number() });

/** For a free place, or for one that a job is about to leave. */
type Asked = Question & { offer?: Offer };

function createSharedQueue(floor: Floor, { pgPool, processes }: { pgPool: Pool; processes: Processes }): JobQueue {
  const { database, pool, log, concurrency } = floor.parts;
  const kinds = new Set<string>();
  const asked = createAskedPlaces(() => performance.now());
  /** Questions under way, by the runner for whose free place they ask. The places stay free: a job takes the one that suits it best. */
  const asking = new Map<string, number>();
  let isStopped = false;
  let isTidying = false;
  const claims = createSharedClaims(floor, {
    mayTake: () => !isStopped && floor.mayTake(),
    offered: () => claimers.changed(),
    isStale: removeAllStale,
  });
  const claimers = createClaimers({ pgPool, processes, database, log, slots: concurrency }, { ask, take, news: asked.news });

  /** Nothing else is asked for a place while a job is; the function that `hold` returns ends that. */
  function places(): { place: string; offer?: Offer; hold(): () => void }[] {
    return [
      ...[...claims.offers()].map((offer) => ({ place: offer.place.runner.id, offer, hold: () => offer.ask() })),
      ...pool.free(asking).map(({ id }) => ({ place: id, hold: () => askFor(id) })),
    ];
  }

  function askFor(place: string): () => void {
    const add = (more: number) => void asking.set(place, (asking.get(place) ?? 0) + more);
    let isAsking = true;
    add(1);
    return () => {
      if (isAsking) add(-1);
      isAsking = false;
    };
  }

  const skipOf = (place: string) => [...kinds].filter((kind) => !pool.canDo(kind, place));

  /** Of what one place found nothing, others that can do no more would find nothing either. */
  function foundNothing(place: string, skip: readonly string[], askedAt: number): void {
    asked.foundNothing(place, skip, askedAt);
    const others = places().map((other) => other.place);
    for (const other of new Set(others)) {
      const own = skipOf(other);
      if (skip.every((kind) => own.includes(kind))) asked.foundNothing(other, skip, askedAt);
    }
    if (others.some(asked.isDue)) claimers.changed();
  }

  /** Asks only for jobs that can be done at the place it asks for. */
  function ask(): Asked | number {
    let waitMs = Infinity;
    if (!floor.mayTake()) return waitMs;
    for (const { place, offer, hold } of asked.inTurn(places())) {
      const skip = skipOf(place);
      const restMs = asked.restMs(place, skip);
      waitMs = Math.min(waitMs, restMs);
      if (restMs > 0) continue;
      asked.asks(place);
      const giveUp = hold();
      return {
        ...(offer && { offer }),
        ...{ skip, giveUp },
        foundNothing(askedAt) {
          giveUp();
          foundNothing(place, skip, askedAt);
        },
      };
    }
    return waitMs;
  }

  async function take(payload: unknown, question: Asked | undefined): Promise<void> {
    const entry = await learn(payload);
    const isClaimed = entry && (await question?.offer?.hand(entry));
    question?.giveUp();
    if (!entry || isClaimed) return;
    const best = pool.best(entry.kind, pool.free());
    const place = best && pool.occupy(best);
    const claimed = await claim(entry, place);
    if (claimed && place) floor.inBackground(serve(place, claimed).finally(() => leave(place)));
    else if (place) leave(place);
  }

  async function learn(payload: unknown): Promise<Entry | undefined> {
    const read = entrySchema.safeParse(payload);
    if (!read.success) {
      log.error({ payload }, "an entry of the queue cannot be read");
      return undefined;
    }
    const { kind } = read.data;
    if (kinds.size >= MOST_KINDS) kinds.clear();
    kinds.add(kind);
    await untilThere(() => pool.know([needsOf(kind)]));
    return read.data;
  }

  async function claim(entry: Entry, place: Place | undefined): Promise<Claimed | undefined> {
    let claimed: Claimed | undefined;
    await untilThere(async () => void (claimed = await claims.claim(entry, place)));
    return claimed;
  }

  function leave(place: { release(): void }): void {
    place.release();
    claimers.changed();
  }

  /** Runs one job after the other, until a commit that ends one claims no other. */
  async function serve(place: Place, first: Claimed): Promise<void> {
    let job: Claimed | undefined = first;
    while (job) {
      const { next, end } = claims.offer(place);
      await floor.run(job, next).finally(end);
      job = next.job();
    }
  }

  /** Makes entries for jobs that wait without one, and removes entries of jobs that no longer wait. In pieces, since others commit too. */
  async function repair(): Promise<void> {
    await database.commitFreeing(removeStale);
    let last: number | undefined = 0;
    while (last !== undefined && !isStopped) last = await mendAfter(last);
  }

  /** Returns the last job of the piece; undefined if there are no more. */
  function mendAfter(last: number): Promise<number | undefined> {
    return database.commitFreeing(async (tx) => {
      const lost = await seqsWithoutEntry(tx, last);
      if (lost.length > 0) await enqueueAll(tx, await waitingJobs(tx, { seqs: lost }));
      return lost.at(-1);
    });
  }

  /** If one entry belongs to a job that no longer waits, many may. */
  function removeAllStale(): void {
    if (isTidying) return;
    isTidying = true;
    floor.inBackground(database.commitFreeing(removeStale).finally(() => (isTidying = false)));
  }

  /** While the database is away or accepts nothing, the entry stays with this process; if the process is given up, another one gets it. */
  async function untilThere(work: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        log.error({ err: error }, "no job could be begun");
        if (isStopped || !asStorageFailure(error)) return;
        await sleep(PAUSE_MS);
      }
    }
  }

  return {
    start() {
      floor.inBackground(untilThere(repair));
      claimers.start();
      return Promise.resolve();
    },
    enqueue: (tx, job, isFirst) => enqueueAll(tx, [job], isFirst ? "first" : undefined),
    // The database wakes the workers that are not held back.
    waits: ({ kind }) => void (asked.came(kind) && claimers.wake()),
    forget: (userId, seqs) =>
      database.commitFreeing((tx) => (seqs ? removeEntries(tx, userId, seqs) : beginClearing(tx, userId, processes.id))),
    waitAgain(userId) {
      const end = () => database.commitFreeing((tx) => endClearing(tx, userId));
      floor.inBackground(untilThere(end).then(() => untilThere(repair)));
      return Promise.resolve();
    },
    repair: async () => ((await processes.mayBegin("queue", REPAIR_MS)) ? repair() : undefined),
    takeBack: freeWorkers,
    changed: claimers.changed,
    goOn: (job, place) => serve(place, job),
    guess: () => undefined,
    async stop() {
      isStopped = true;
      await claimers.stop();
    },
  };
}

/** A kind begins with the number of its needs. */
function needsOf(kind: string): number | null {
  const [needs = ""] = kind.split("|");
  return needs === "" ? null : Number(needs);
}

export type SharedQueues = { create: CreateQueue; close(): Promise<void> };
type Limits = { statementMs?: number; connectMs?: number };

/** For the claims, one that listens, and one spare. */
const MAX_CONNECTIONS = 6;
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
