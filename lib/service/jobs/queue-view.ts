// The queue in client responses, and its operations: delete, clear and cancel.

import { sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type JobEvents } from "../events/elsewhere";
import { endAttempt } from "../runners/attempts";
import { type Database, query, type Reader } from "../store/database";
import { type StoreDialect } from "../store/dialect/dialect";
import { inPieces, listText, queuedTexts, together } from "./job-row";
import { type Engine } from "./run/engine";
import { cancelPending } from "./run/finish";

/** The list is cut here; GET /api/prompt counts exactly. */
const MOST_LISTED = 5000;

/** As JSON text in pieces: [position from 1, id, graph, output node ids, { create_time }]; oldest first. */
export async function* listQueue(reader: Reader, userId: number): AsyncIterable<string> {
  const waiting = (state: KnownJobState) =>
    reader.rows(
      query
        .selectFrom("jobs")
        .select(["seq", "id", "create_time"])
        .where("user_id", "=", userId)
        .where("state", "=", state)
        .orderBy("seq")
        .limit(MOST_LISTED),
    );
  const running = await waiting("in_progress");
  const pending = await waiting("pending");
  async function* tuples(jobs: typeof running): AsyncIterable<string> {
    let position = 0;
    for await (const some of together(reader, jobs)) {
      const texts = await queuedTexts(reader, some.map((job) => job.seq)); // prettier-ignore
      for (const { seq, id, create_time } of some) {
        const stored = texts.get(seq);
        // A job that was removed meanwhile is left out; a damaged text is empty.
        if (!stored) continue;
        const { prompt, outputs_to_execute } = stored;
        const parts = [String((position += 1)), writeExactJson(id), prompt ?? "{}", outputs_to_execute ?? "[]"];
        yield listText([...parts, writeExactJson({ create_time })]);
      }
    }
  }
  yield* inPieces('{"queue_running":[', tuples(running), "]");
  yield* inPieces(',"queue_pending":[', tuples(pending), "]}");
}

type QueueParts = { database: Database; engine: Pick<Engine, "forgetPending" | "waitAgain" | "cancelledAtRunners">; now: () => number };

/** Jobs cancelled per commit: about forty milliseconds, since a queue of a hundred thousand must not hold up other users. */
const AT_ONCE = 3000;

/** `clear` wins over `delete`. */
export async function manageQueue(parts: QueueParts, userId: number, body: ManageBody) {
  if (body.clear) return { deleted: await clearQueue(parts, userId), cleared: true };
  return { deleted: await cancelPendingJobs(parts, userId, body.delete ?? []), cleared: false };
}

/** Unknown, running and ended ids are left out of the answer. */
async function cancelPendingJobs(parts: QueueParts, userId: number, ids: readonly string[]): Promise<string[]> {
  const asked = [...new Set(ids)];
  const deleted: string[] = [];
  for (let start = 0; start < asked.length; start += AT_ONCE) {
    const cancelled = await cancelSome(parts, pendingAmong(parts.database.dialect, userId, asked.slice(start, start + AT_ONCE)));
    await parts.engine.forgetPending(
      userId,
      cancelled.map((job) => job.seq),
    );
    for (const { id } of cancelled) deleted.push(id);
  }
  return deleted;
}

/** Cancels everything that waits now. None of these jobs starts before its cancel; jobs that are sent meanwhile stay. */
async function clearQueue(parts: QueueParts, userId: number): Promise<string[]> {
  const { database, engine } = parts;
  const last = (await database.row(pendingOf(userId).orderBy("seq", "desc").limit(1)))?.seq;
  if (last === undefined) return [];
  const left = pendingOf(userId).where("seq", "<=", last);
  const oldest = left.orderBy("create_time").orderBy("id").limit(AT_ONCE);
  const deleted: string[] = [];
  await engine.forgetPending(userId);
  try {
    // From where it was: PostgreSQL would read what was cancelled before again with every piece. What came back meanwhile is found from the start.
    for (let place: Pending | undefined, isOver = false; !isOver;) {
      const cancelled = await cancelSome(parts, place ? oldest.where(isAfter(place)) : oldest);
      for (const { id } of cancelled) deleted.push(id);
      isOver = !place && cancelled.length === 0;
      place = cancelled.at(-1);
    }
    return deleted;
  } finally {
    // Jobs that could not be cancelled still wait, and the queue has to know this.
    await engine.waitAgain(userId, last);
  }
}

/** `slot`: of the runner whose own queue contains the job. */
type Pending = { seq: number; id: string; create_time: number; slot: string | null; fence: number };
const pendingColumns = ["seq", "id", "create_time", "slot", "fence"] as const;

const isAfter = ({ create_time, id }: Pending) => sql<boolean>`(create_time, id) > (${create_time}, ${id})`;

function pendingOf(userId: number) {
  return query.selectFrom("jobs").select(pendingColumns).where("user_id", "=", userId).where("state", "=", "pending");
}

/** Row by row, which keeps the planner from walking the whole queue instead of looking up a few ids. */
function pendingAmong({ rowByRow }: StoreDialect, userId: number, ids: readonly string[]) {
  const isPending = sql<boolean>`${rowByRow("user_id")} = ${userId} and ${rowByRow("state")} = 'pending'`;
  return query.selectFrom("jobs").select(pendingColumns).where("id", "in", ids).where(isPending).orderBy("seq");
}

async function cancelSome({ database, engine, now }: QueueParts, waiting: ReturnType<typeof pendingOf>): Promise<Pending[]> {
  const atRunner = ({ slot }: Pending) => slot !== null;
  const cancelled = await database.commitFreeing(async (tx) => {
    const jobs = await tx.rows(waiting);
    if (jobs.length > 0) await cancelPending(tx, jobs.map((job) => job.seq), now()); // prettier-ignore
    for (const job of jobs.filter(atRunner)) await endAttempt(tx, job, "lost", now(), "It was cancelled.");
    return jobs;
  });
  await engine.cancelledAtRunners(cancelled.filter(atRunner).map(({ seq }) => seq));
  return cancelled;
}

/** Returns the ids that were really cancelled. */
export async function cancelJobs(
  parts: { database: Database; engine: Engine; events: JobEvents; now: () => number },
  userId: number,
  ids: readonly string[],
): Promise<string[]> {
  // Pending jobs first: one that starts in between is then found running.
  const pending = await cancelPendingJobs(parts, userId, ids);
  const running = await parts.engine.cancelRunning(userId, ids);
  if (pending.length > 0) parts.events.queueChanged(userId);
  return [...pending, ...running];
}
