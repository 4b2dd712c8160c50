// Cancels waiting and running jobs of any process.

import { type RawBuilder, sql, type SqlBool } from "kysely";
import { removeFromServer } from "@/lib/comfyui/client";
import { createComfyServer } from "@/lib/comfyui/http";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { endAttempt } from "@/lib/service/runners/attempts";
import { type Database, query, type Transaction } from "@/lib/service/store/database";
import { type StoreDialect } from "@/lib/service/store/dialect";
import { type StoredJob } from "../job-row";
import { type JobQueue } from "../queue/job-queue";
import { isTerminal } from "../transitions";
import { type ActiveRun } from "./claim";
import { type Background, type EngineDependencies } from "./engine-dependencies";
import { cancelPending, cancelRunning } from "./finish";
import { createRunRecord } from "./run-record";

export const CANCELLED_CHANNEL = "cancelled";

/** A commit of this size takes about 40 ms. Larger ones would block other users. */
const MAX_JOBS_PER_COMMIT = 3000;

type CancellableState = Extract<KnownJobState, "pending" | "in_progress">;
type CancellerDependencies = {
  dependencies: Pick<EngineDependencies, "database" | "processes" | "events" | "now">;
  activeRuns: ReadonlyMap<string, ActiveRun>;
  queue: Pick<JobQueue, "removeWaiting">;
  background: Pick<Background, "add">;
  reportEnd(run: ActiveRun): Promise<void>;
};

export function createCanceller({ dependencies, activeRuns, queue, background, reportEnd }: CancellerDependencies) {
  const { database, processes, events, now } = dependencies;
  const isRunByOtherProcess = processes.isRunElsewhere;

  const findRun = ({ id, fence }: Job) => {
    const run = activeRuns.get(id);
    return run?.fence === fence ? run : undefined;
  };

  async function cancelSelected(tx: Transaction, jobs: ReturnType<typeof selectJobs>): Promise<Job[]> {
    const nowMs = now();
    // Skips jobs that this process claimed but doesn't run: their run is starting or belongs to another attempt.
    const cancellableJobs = (await tx.rows(jobs)).filter((job) => job.state === "pending" || job.is_elsewhere || findRun(job));
    const pendingJobs = cancellableJobs.filter(({ state }) => state === "pending");
    if (pendingJobs.length > 0) await cancelPending(tx, pendingJobs.map(({ seq }) => seq), nowMs); // prettier-ignore
    const handedOverJobs = cancellableJobs.filter(isHandedOver);
    for (const job of handedOverJobs) {
      const record = findRun(job)?.record ?? createRunRecord(job.id, {}, [], job.start_time ?? nowMs);
      if (job.state === "in_progress") await cancelRunning(tx, job, record, nowMs);
      await endAttempt(tx, job, "lost", nowMs, "It was cancelled.");
    }
    if (handedOverJobs.some((job) => !findRun(job))) await processes.notify(CANCELLED_CHANNEL, null, tx);
    return cancellableJobs;
  }

  async function cancelBatch(jobs: ReturnType<typeof selectJobs>): Promise<Job[]> {
    const cancelledJobs = await database.commitWithReserve((tx) => cancelSelected(tx, jobs));
    for (const job of cancelledJobs.filter(isHandedOver)) {
      const run = findRun(job);
      run?.cancel();
      if (run) await reportEnd(run);
      if (!run || run.remote) background.add(clearCancelled(database, job.seq));
    }
    return cancelledJobs;
  }

  async function removeWaiting(userId: number, cancelledJobs: readonly Job[]): Promise<void> {
    const seqs = cancelledJobs.filter((job) => !isHandedOver(job)).map(({ seq }) => seq);
    if (seqs.length > 0) await queue.removeWaiting(userId, seqs);
  }

  async function cancelInStates(userId: number, states: readonly CancellableState[], ids?: readonly string[]): Promise<string[]> {
    const uniqueIds = ids && [...new Set(ids)];
    const cancelledIds: string[] = [];
    for (let start = 0; start < (uniqueIds?.length ?? 1); start += MAX_JOBS_PER_COMMIT) {
      const batch = uniqueIds?.slice(start, start + MAX_JOBS_PER_COMMIT);
      const filter = { userId, states, isElsewhere: isRunByOtherProcess };
      const cancelledJobs = await cancelBatch(batch ? selectJobsById(database.dialect, filter, batch) : selectJobs(filter));
      await removeWaiting(userId, cancelledJobs);
      cancelledIds.push(...cancelledJobs.map(({ id }) => id));
    }
    return cancelledIds;
  }

  return {
    async cancel(userId: number, states: readonly CancellableState[], ids?: readonly string[]): Promise<string[]> {
      const startedRuns = [...activeRuns.values()].filter(
        (run) => run.userId === userId && run.isStarted() && (ids?.includes(run.id) ?? true),
      );
      const cancelledIds = await cancelInStates(userId, states, ids);
      // A job that runs here may be stored as pending: its start is not stored yet, or it was just requeued.
      if (!states.includes("pending")) cancelledIds.push(...(await cancelInStates(userId, ["pending"], startedRuns.map(({ id }) => id)))); // prettier-ignore
      if (cancelledIds.length > 0) events.notifyQueueChanged(userId);
      return cancelledIds;
    },

    /** Cancels all jobs waiting now. Jobs submitted later are kept. */
    async clearQueue(userId: number): Promise<string[]> {
      const pendingJobs = selectJobs({ userId, states: ["pending"], isElsewhere: isRunByOtherProcess });
      const lastSeq = (await database.row(pendingJobs.orderBy("seq", "desc").limit(1)))?.seq;
      if (lastSeq === undefined) return [];
      const oldestJobs = pendingJobs.where("seq", "<=", lastSeq).orderBy("create_time").orderBy("id").limit(MAX_JOBS_PER_COMMIT);
      const cancelledIds: string[] = [];
      // Continues after the last job so that PostgreSQL doesn't rescan cancelled rows. A final pass finds requeued jobs.
      try {
        for (let lastJob: Job | undefined, isDone = false; !isDone;) {
          const cancelledJobs = await cancelBatch(lastJob ? oldestJobs.where(isAfter(lastJob)) : oldestJobs);
          for (const { id } of cancelledJobs) cancelledIds.push(id);
          await removeWaiting(userId, cancelledJobs);
          isDone = !lastJob && cancelledJobs.length === 0;
          lastJob = cancelledJobs.at(-1);
        }
      } finally {
        if (cancelledIds.length > 0) events.notifyQueueChanged(userId);
      }
      return cancelledIds;
    },

    async endStaleRuns(): Promise<void> {
      for (const run of await findStaleRuns(database, activeRuns)) run.cancel();
    },
  };
}

type Job = Pick<StoredJob, (typeof columns)[number]> & { is_elsewhere: SqlBool };
const columns = ["seq", "id", "create_time", "state", "slot", "fence", "start_time"] as const;

const isHandedOver = ({ state, slot }: Job) => state === "in_progress" || slot !== null;
const isAfter = ({ create_time, id }: Job) => sql<boolean>`(create_time, id) > (${create_time}, ${id})`;

type JobFilter = { userId: number; states: readonly CancellableState[]; isElsewhere: RawBuilder<SqlBool> };

function selectJobs({ userId, states, isElsewhere }: JobFilter) {
  const userJobs = query.selectFrom("jobs").select(columns).select(isElsewhere.as("is_elsewhere"));
  return userJobs.where("user_id", "=", userId).where("state", "in", states);
}

/** Orders waiting jobs first. `rowByRow` makes the planner look up the ids instead of scanning the whole queue. */
function selectJobsById({ rowByRow }: StoreDialect, { userId, states, isElsewhere }: JobFilter, ids: readonly string[]) {
  const isCancellable = sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} in (${sql.join(states)})`;
  const selectedJobs = query.selectFrom("jobs").select(columns).select(isElsewhere.as("is_elsewhere")).where("id", "in", ids);
  return selectedJobs.where(isCancellable).orderBy("state", "desc").orderBy("seq");
}

/** Removes the job from its runner at once. runner-chores.ts repeats this, because a request in flight may arrive later. */
async function clearCancelled(database: Database, seq: number): Promise<void> {
  const lostAttempt = query
    .selectFrom("attempts")
    .innerJoin("runners", "runners.id", "attempts.runner")
    .select(["address", "prompt_id", "client_id"])
    .where("job_seq", "=", seq)
    .where("state", "=", "lost")
    .orderBy("number", "desc")
    .limit(1);
  const attempt = await database.row(lostAttempt);
  if (attempt?.address)
    await removeFromServer(createComfyServer(attempt.address), { promptId: attempt.prompt_id, clientId: attempt.client_id });
}

/** Runs whose job was cancelled or taken over by another process. Ignores claims that are not committed yet. */
async function findStaleRuns(database: Database, activeRuns: ReadonlyMap<string, ActiveRun>): Promise<ActiveRun[]> {
  if (activeRuns.size === 0) return [];
  const seqs = database.dialect.numbers([...activeRuns.values()].map(({ seq }) => seq));
  const rows = await database.rows(query.selectFrom("jobs").select(["seq", "fence", "state", "slot"]).where("seq", "in", seqs));
  const rowBySeq = new Map(rows.map((row) => [row.seq, row]));
  // Read `activeRuns` after the query, because a run may have ended meanwhile.
  return [...activeRuns.values()].filter((run) => {
    const row = rowBySeq.get(run.seq);
    const isOver = row && (isTerminal(row.state) || (row.state === "pending" && row.slot === null));
    return row && (row.fence > run.fence || (row.fence === run.fence && isOver));
  });
}
