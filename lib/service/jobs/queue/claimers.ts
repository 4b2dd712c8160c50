// graphile-worker workers that claim jobs while a matching runner is free.

import { EventEmitter } from "node:events";
import { type Worker, type WorkerEvents } from "graphile-worker";
import { type Pool } from "pg";
import { type ServiceLog } from "@/lib/service/options";
import { asStorageFailure } from "@/lib/service/service-error";
import { type Database } from "@/lib/service/store/database";
import { type Processes } from "@/lib/service/store/processes";
import { sleep } from "@/lib/shared/async";
import { toStoreError } from "@/lib/shared/database/postgres";
import { EVERY, freeWorkers, QUEUE_SCHEMA, queueLogger } from "./queue-entries";

/** At most a fifth of a process's time is spent on searching in vain. */
const TIMES = 4;
const MAX_MS = 1000;
/** Every free place is asked for so often, in case a notice was lost. */
const EVERY_MS = 1000;

export function createAskedPlaces(clock: () => number) {
  const lastClaims = new Map<string, number>();
  const vain = new Map<string, { skipped: readonly string[]; until: number }>();
  let newsAt = -Infinity;
  const lastOf = (place: string) => lastClaims.get(place) ?? -Infinity;
  return {
    /** A job is looked for, for this place. */
    asks: (place: string): void => void lastClaims.set(place, clock()),

    /** `skip`: the kinds that were not asked for. */
    foundNothing(place: string, skip: readonly string[], askedAt: number): void {
      lastClaims.set(place, Math.max(lastOf(place), askedAt));
      vain.set(place, { skipped: skip, until: clock() + Math.min(MAX_MS, TIMES * (clock() - askedAt)) });
    },

    /** For how long not to ask this question. */
    restMs(place: string, skip: readonly string[]): number {
      const last = vain.get(place);
      return last?.skipped.every((kind) => skip.includes(kind)) ? last.until - clock() : 0;
    },

    /** A job of this kind waits now. Returns whether this ends a wait. */
    came(kind: string): boolean {
      const ended = [...vain].filter(([, { skipped }]) => !skipped.includes(kind));
      for (const [place] of ended) vain.delete(place);
      return ended.length > 0;
    },

    /** Some process has put jobs into the queue. */
    news: (): void => void (newsAt = clock()),

    /** It was not asked for since then, or not lately. */
    isDue: (place: string): boolean => lastOf(place) <= newsAt || lastOf(place) < clock() - EVERY_MS,

    inTurn: <Offered extends { place: string }>(places: readonly Offered[]): Offered[] =>
      places.toSorted((one, other) => lastOf(one.place) - lastOf(other.place)),
  };
}

/** How many claims run at once. */
const CLAIMERS = 4;
/** The most time that a lost notice costs. */
const POLL_MS = 1000;
const PAUSE_MS = 1000;

/** What a worker asks for: an entry of any kind except these. */
export type Question = {
  skip: string[];
  /** Called if none of the waiting jobs fits. */
  foundNothing(askedAt: number): void;
  giveUp(): void;
};

type ClaimerParts = { pgPool: Pool; processes: Processes; database: Database; log: ServiceLog; slots: number };
/** `ask`: returns a question, or for how long there is none; a change may bring one earlier. `news`: jobs came into the queue. */
type Desk<Q> = { ask(): Q | number; take(payload: unknown, question: Q | undefined): Promise<void>; news(): void };

export function createClaimers<Q extends Question>(
  { pgPool, processes, database, log, slots }: ClaimerParts,
  { ask, take, news }: Desk<Q>,
) {
  const workers = new Set<Worker>();
  let wakers: (() => void)[] = [];
  let isStopped = false;
  let isPausing = false;
  let serving: Promise<void> | undefined;
  let giveUp: () => void = () => undefined;
  /** Questions that are about to be sent, in their order. */
  let posed: (Q | undefined)[] = [];
  /** Workers that may have been given an entry although the answer was lost. */
  const unsure = new Set<string>();

  /** Called before each claim, and waits until there is something to ask. */
  async function kindsToSkip(): Promise<string[]> {
    await freeUnsure();
    let question = isStopped || isPausing ? undefined : ask();
    while (typeof question === "number") {
      await woken(question);
      question = isStopped || isPausing ? undefined : ask();
    }
    posed.push(question);
    return question?.skip ?? [EVERY];
  }

  async function woken(mostMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((wake) => {
      wakers.push(wake);
      if (mostMs < Infinity) timer = setTimeout(wake, mostMs);
    });
    clearTimeout(timer);
  }

  function wake(): void {
    const waiting = wakers;
    wakers = [];
    for (const one of waiting) one();
  }

  function changed(): void {
    wake();
    if (!isStopped) for (const worker of workers) worker.nudge();
  }

  async function freeUnsure(): Promise<void> {
    if (unsure.size === 0) return;
    const ids = [...unsure];
    await database.commitFreeing((tx) => freeWorkers(tx, ids));
    for (const id of ids) unsure.delete(id);
  }

  /** Serves again and again: a worker that could not report the end of its work ends, and the library starts no other in its place. */
  async function serve(): Promise<void> {
    while (!isStopped) {
      await serveOnce().catch((error: unknown) => log.warn({ err: error }, "the queue cannot be served now"));
      if (!isStopped) await sleep(PAUSE_MS);
    }
  }

  async function serveOnce(): Promise<void> {
    const broken = new Promise<void>((resolve) => (giveUp = resolve));
    const [{ run }, logger] = [await import("graphile-worker"), await queueLogger(log)];
    let listed: () => void = () => undefined;
    const isListed = new Promise<void>((resolve) => (listed = resolve));
    const own = new Set<Worker>();
    const events: WorkerEvents = new EventEmitter();
    const asked = new Map<Worker, { question: Q; at: number }>();
    const answered = new Map<string, Q>();
    let isAnswered = false;
    events.on("worker:create", ({ worker }) => own.add(worker));
    events.on("pool:listen:notification", news);
    events.on("worker:getJob:start", ({ worker }) => {
      const question = posed.shift();
      if (question) asked.set(worker, { question, at: performance.now() });
    });
    events.on("worker:getJob:empty", ({ worker }) => {
      const sent = asked.get(worker);
      asked.delete(worker);
      isAnswered = true;
      sent?.question.foundNothing(sent.at);
    });
    events.on("worker:getJob:error", ({ worker, error }) => {
      // An outage of the database is logged where the lease is renewed.
      if (!asStorageFailure(toStoreError(error))) log.error({ err: error }, "no entry of the queue could be read");
      const sent = asked.get(worker);
      // Otherwise the worker had sent no question, and was given nothing.
      if (!sent) return;
      asked.delete(worker);
      sent.question.giveUp();
      unsure.add(worker.workerId);
      // The library keeps how its first question for the numbers of tasks ended, even if it failed: all later ones would fail alike.
      if (!isAnswered) giveUp();
    });
    events.on("job:start", ({ worker, job }) => {
      const sent = asked.get(worker);
      asked.delete(worker);
      isAnswered = true;
      if (sent) answered.set(job.id, sent.question);
    });
    events.on("worker:stop", ({ worker }) => {
      workers.delete(worker);
      giveUp();
    });
    posed = [];
    const runner = await run({
      ...{ pgPool, schema: QUEUE_SCHEMA, logger, events },
      taskList: {
        run(payload, { job }) {
          const question = answered.get(job.id);
          answered.delete(job.id);
          return take(payload, question);
        },
      },
      ...{ concurrency: CLAIMERS, pollInterval: POLL_MS, noHandleSignals: true, crontab: "" },
      forbiddenFlags: () => isListed.then(kindsToSkip),
    });
    runner.promise.catch(() => giveUp());
    const workerIds = [...own].map(({ workerId }) => workerId);
    try {
      // A process that takes over from this one frees what they hold.
      await processes.describe({ slots, workerIds });
      for (const worker of own) workers.add(worker);
      listed();
      await broken;
    } finally {
      workers.clear();
      listed();
      isPausing = true;
      wake();
      await runner.stop().catch(() => undefined); // it stops by itself
      isPausing = false;
      for (const question of [...posed, ...[...asked.values()].map((sent) => sent.question)]) question?.giveUp();
      asked.clear();
      await database
        .commitFreeing((tx) => freeWorkers(tx, workerIds))
        .catch((error: unknown) => {
          for (const id of workerIds) unsure.add(id);
          log.warn({ err: error }, "entries of the queue could not be freed");
        });
    }
  }

  return {
    start: () => void (serving = serve()),
    /** Wakes the workers that wait for something to ask. */
    wake,
    /** Like `wake`, for all workers. */
    changed,
    async stop(): Promise<void> {
      isStopped = true;
      giveUp();
      wake();
      await serving;
    },
  };
}
