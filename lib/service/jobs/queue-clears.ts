// What clearing a long queue leaves to be done: each job that was noted as cancelled gets the row, the result and the counts of one that is.
// A row stands in fourteen indexes and several counters, so that of a hundred thousand takes many seconds; nobody waits for it, and others
// get as much of the time. A stop or a crash loses nothing: the next start goes on.

import { type ServiceLog } from "../options";
import { type Database, query } from "../store/database";
import { hasNotes } from "./cancel-notes";
import { cancelPending } from "./finish";
import { isBeingCleared } from "./history-cleared";

/** Some ten milliseconds of a commit. */
const AT_ONCE = 100;

export type QueueClears = ReturnType<typeof createQueueClears>;

export function createQueueClears(database: Database, log: ServiceLog) {
  const underWay = new Map<number, Promise<void>>();
  let isStopping = false;

  /** Of the user's notes, or of those for these ids. Returns how many rows followed. */
  function moveSome(userId: number, ids?: readonly string[]): number {
    // Then they are removed, and not moved.
    if (isBeingCleared(database, userId)) return 0;
    const noted = query
      .selectFrom("cancel_notes")
      .innerJoin("jobs", "seq", "job_seq")
      .select(["seq", "id", "at"])
      .where("cancel_notes.user_id", "=", userId);
    const jobs = database.rows((ids ? noted.where("id", "in", ids) : noted).limit(AT_ONCE));
    for (const at of new Set(jobs.map((job) => job.at))) {
      cancelPending(
        database,
        jobs.filter((job) => job.at === at),
        at,
      );
    }
    const seqs = jobs.map((job) => job.seq);
    return seqs.length === 0
      ? 0
      : database.run(query.deleteFrom("cancel_notes").where("user_id", "=", userId).where("job_seq", "in", seqs));
  }

  async function moveAll(userId: number): Promise<void> {
    while (!isStopping) {
      const begun = performance.now();
      if ((await database.commitFreeing(() => moveSome(userId))) === 0) return;
      const took = performance.now() - begun;
      await new Promise((resolve) => setTimeout(resolve, took));
    }
  }

  function inBackground(userId: number): void {
    if (isStopping || underWay.has(userId)) return;
    const work = moveAll(userId)
      .catch((error: unknown) => log.error({ err: error }, "jobs that were cancelled keep the rows of waiting ones until the next start"))
      .finally(() => underWay.delete(userId));
    underWay.set(userId, work);
  }

  return {
    /** Goes on with what an earlier process left. */
    start(): void {
      for (const { user_id: userId } of database.rows(query.selectFrom("cancel_notes").select("user_id").distinct())) inBackground(userId);
    },

    /** There are notes of the user. */
    noted: inBackground,

    /** For whoever works on their rows: resolves once those of these jobs of the user are what they are shown as. */
    async settle(userId: number, ids: readonly string[]): Promise<void> {
      for (let start = 0; start < ids.length && hasNotes(database, userId); start += AT_ONCE) {
        await database.commitFreeing(() => moveSome(userId, ids.slice(start, start + AT_ONCE)));
      }
    },

    /** What is under way ends after its present piece. */
    async stop(): Promise<void> {
      isStopping = true;
      await Promise.all(underWay.values());
    },
  };
}
