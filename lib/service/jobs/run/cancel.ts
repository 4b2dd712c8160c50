// Cancels jobs, waiting or running, at whichever process they run: in the store, by their state inside the commit. The process that runs a
// job is notified, and ends it.

import { type RawBuilder, sql, type SqlBool } from "kysely";
import { clearAway } from "@/lib/comfyui/client";
import { comfyServer } from "@/lib/comfyui/http";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { endAttempt } from "@/lib/service/runners/attempts";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { type StoreDialect } from "@/lib/service/store/dialect/dialect";
import { type StoredJob } from "../job-row";
import { type JobQueue } from "../queue/job-queue";
import { isTerminal } from "../transitions";
import { type Running } from "./claim";
import { type Background, type EngineParts } from "./engine-parts";
import { cancelPending, cancelRunning } from "./finish";
import { createRunRecord } from "./run-record";

/** The channel that tells processes that jobs were cancelled. */
export const CANCELLED = "cancelled";

/** Jobs cancelled per commit: about forty milliseconds, since a queue of a hundred thousand must not hold up other users. */
const AT_ONCE = 3000;

type Cancellable = Extract<KnownJobState, "pending" | "in_progress">;
type Parts = {
  parts: Pick<EngineParts, "database" | "processes" | "events" | "now">;
  running: ReadonlyMap<string, Running>;
  queue: Pick<JobQueue, "forget" | "waitAgain">;
  background: Pick<Background, "add">;
  /** Tells listeners how a run has ended. */
  tellEnd(run: Running): Promise<void>;
};

export function createCancels({ parts, running, queue, background, tellEnd }: Parts) {
  const { database, processes, events, now } = parts;
  const isElsewhere = processes.isNotRunHere;

  const runOf = ({ id, fence }: Job) => {
    const run = running.get(id);
    return run?.fence === fence ? run : undefined;
  };

  async function cancelIn(tx: Transaction, jobs: ReturnType<typeof jobsOf>): Promise<Job[]> {
    const at = now();
    // Of a job that this process holds and does not run, it cannot end the run: that one goes on in a moment, or is another attempt's.
    const found = (await tx.rows(jobs)).filter((job) => job.state === "pending" || job.is_elsewhere || runOf(job));
    const pending = found.filter(({ state }) => state === "pending");
    if (pending.length > 0) await cancelPending(tx, pending.map(({ seq }) => seq), at); // prettier-ignore
    const handedOver = found.filter(isHandedOver);
    for (const job of handedOver) {
      // What a job put out at another process is known only there.
      const record = runOf(job)?.record ?? createRunRecord(job.id, {}, [], job.start_time ?? at);
      if (job.state === "in_progress") await cancelRunning(tx, job, record, at);
      await endAttempt(tx, job, "lost", at, "It was cancelled.");
    }
    if (handedOver.some((job) => !runOf(job))) await processes.tell(CANCELLED, null, tx);
    return found;
  }

  async function cancelSome(jobs: ReturnType<typeof jobsOf>): Promise<Job[]> {
    const cancelled = await database.commitFreeing((tx) => cancelIn(tx, jobs));
    for (const job of cancelled.filter(isHandedOver)) {
      const run = runOf(job);
      run?.cancel();
      if (run) await tellEnd(run);
      if (!run || run.remote) background.add(clearCancelled(database, job.seq));
    }
    return cancelled;
  }

  return {
    /** Cancels the user's jobs in these states: those of `ids`, or all. Returns the ids that were really cancelled. */
    async cancel(userId: number, states: readonly Cancellable[], ids?: readonly string[]): Promise<string[]> {
      const unique = ids && [...new Set(ids)];
      const done: string[] = [];
      for (let start = 0; start < (unique?.length ?? 1); start += AT_ONCE) {
        const some = unique?.slice(start, start + AT_ONCE);
        const which = { userId, states, isElsewhere };
        const cancelled = await cancelSome(some ? jobsAmong(database.dialect, which, some) : jobsOf(which));
        const waited = cancelled.filter((job) => !isHandedOver(job));
        if (waited.length > 0) await queue.forget(userId, waited.map(({ seq }) => seq)); // prettier-ignore
        done.push(...cancelled.map(({ id }) => id));
      }
      if (done.length > 0) events.queueChanged(userId);
      return done;
    },

    /** Cancels everything that waits now. None of these jobs starts before its cancel; jobs that are sent meanwhile stay. */
    async clearQueue(userId: number): Promise<string[]> {
      const pending = jobsOf({ userId, states: ["pending"], isElsewhere });
      const last = (await database.row(pending.orderBy("seq", "desc").limit(1)))?.seq;
      if (last === undefined) return [];
      const oldest = pending.where("seq", "<=", last).orderBy("create_time").orderBy("id").limit(AT_ONCE);
      const done: string[] = [];
      await queue.forget(userId);
      try {
        // Continues after the last one: PostgreSQL would read what was cancelled before again. What came back meanwhile is found from the start.
        for (let place: Job | undefined, isOver = false; !isOver;) {
          const cancelled = await cancelSome(place ? oldest.where(isAfter(place)) : oldest);
          for (const { id } of cancelled) done.push(id);
          isOver = !place && cancelled.length === 0;
          place = cancelled.at(-1);
        }
        return done;
      } finally {
        // Jobs that could not be cancelled still wait, and the queue has to know this.
        await queue.waitAgain(userId, last);
        events.queueChanged(userId);
      }
    },

    /** Ends runs whose job was cancelled or taken over by another process; they write nothing. */
    async endStale(): Promise<void> {
      for (const run of await staleRuns(database, running)) run.cancel();
    },
  };
}

/** `slot`: of the worker that runs the job, or of the runner whose own queue contains it. */
type Job = Pick<StoredJob, (typeof columns)[number]> & { is_elsewhere: SqlBool };
const columns = ["seq", "id", "create_time", "state", "slot", "fence", "start_time"] as const;

const isHandedOver = ({ state, slot }: Job) => state === "in_progress" || slot !== null;
const isAfter = ({ create_time, id }: Job) => sql<boolean>`(create_time, id) > (${create_time}, ${id})`;

type Which = { userId: number; states: readonly Cancellable[]; isElsewhere: RawBuilder<SqlBool> };

function jobsOf({ userId, states, isElsewhere }: Which) {
  const all = query.selectFrom("jobs").select(columns).select(isElsewhere.as("is_elsewhere"));
  return all.where("user_id", "=", userId).where("state", "in", states);
}

/** Waiting ones first. Row by row, which keeps the planner from walking the whole queue instead of looking up a few ids. */
function jobsAmong({ rowByRow }: StoreDialect, { userId, states, isElsewhere }: Which, ids: readonly string[]) {
  const isOwn = sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} in (${sql.join(states)})`;
  const some = query.selectFrom("jobs").select(columns).select(isElsewhere.as("is_elsewhere")).where("id", "in", ids);
  return some.where(isOwn).orderBy("state", "desc").orderBy("seq");
}

/** Clears up at the job's runner at once. The rounds look again, since a request that was just sent may arrive later. */
async function clearCancelled(database: Database, seq: number): Promise<void> {
  const lost = query
    .selectFrom("attempts")
    .innerJoin("runners", "runners.id", "attempts.runner")
    .select(["address", "prompt_id", "client_id"])
    .where("job_seq", "=", seq)
    .where("state", "=", "lost")
    .orderBy("number", "desc")
    .limit(1);
  const there = await database.row(lost);
  if (there?.address) await clearAway(comfyServer(there.address), { promptId: there.prompt_id, clientId: there.client_id });
}

/** Those whose job was cancelled or taken over by another process. A claim that is not visible yet does not count as one. */
async function staleRuns(database: Database, running: ReadonlyMap<string, Running>): Promise<Running[]> {
  if (running.size === 0) return [];
  const seqs = database.dialect.numbers([...running.values()].map(({ seq }) => seq));
  const rows = await database.rows(query.selectFrom("jobs").select(["seq", "fence", "state", "slot"]).where("seq", "in", seqs));
  const stored = new Map(rows.map((row) => [row.seq, row]));
  // Read after the wait: a run that has ended meanwhile has nothing to cancel.
  return [...running.values()].filter((run) => {
    const row = stored.get(run.seq);
    const isOver = row && (isTerminal(row.state) || (row.state === "pending" && row.slot === null));
    return row && (row.fence > run.fence || (row.fence === run.fence && isOver));
  });
}
