// The queue as its user sees it and manages it: only pending jobs are cancelled here, and the receipt lists what really was.

import { sql } from "kysely";
import { writeExactJson } from "@/lib/contract/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { type Engine } from "./engine";
import { isNoted, note } from "./cancel-notes";
import { cancelPending } from "./finish";
import { isBeingCleared } from "./history-cleared";
import { countJobs } from "./list-jobs";
import { type QueueClears } from "./queue-clears";
import { inPieces, listText, queuedTexts } from "./stored-texts";

/** GET /api/prompt counts exactly. */
const MOST_LISTED = 5000;

/** As JSON text in pieces: [position from 1, id, graph, output node ids, { create_time }]; oldest first. */
export function* listQueue(database: Database, userId: number): Iterable<string> {
  const waiting = (state: KnownJobState) =>
    database.rows(
      query
        .selectFrom("jobs")
        .select(["seq", "id", "create_time"])
        .where("user_id", "=", userId)
        .where("state", "=", state)
        .where(isWaiting)
        .orderBy("seq")
        .limit(MOST_LISTED),
    );
  const running = waiting("in_progress");
  const pending = waiting("pending");
  function* tuples(jobs: typeof running): Iterable<string> {
    let position = 0;
    for (const { seq, id, create_time } of jobs) {
      // A tuple holds a whole graph: one is held at a time. One that was removed meanwhile is left out.
      const texts = queuedTexts(database, seq);
      if (texts)
        yield listText([String((position += 1)), writeExactJson(id), texts.prompt, texts.outputs, writeExactJson({ create_time })]);
    }
  }
  yield* inPieces('{"queue_running":[', tuples(running), "]");
  yield* inPieces(',"queue_pending":[', tuples(pending), "]}");
}

type CancelParts = { database: Database; engine: Pick<Engine, "forgetPending" | "submitted">; now: () => number };
type QueueParts = CancelParts & { queueClears: QueueClears };

/** Of a row that says so. */
const isWaiting = sql<boolean>`not ${isNoted}`;

/** More than a second of rows. */
const LONG = 2000;
/** A commit cancels so many; a queue of a hundred thousand must not hold up everybody else. */
const AT_ONCE = 200;
const NOTED_AT_ONCE = 4000;

/** clear wins over delete. */
export async function manageQueue(parts: QueueParts, userId: number, body: ManageBody) {
  if (body.clear) return { deleted: await clearQueue(parts, userId), cleared: true };
  return { deleted: await cancelPendingJobs(parts, userId, body.delete ?? []), cleared: false };
}

/** Unknown, running and ended ids are left out of the answer. */
export async function cancelPendingJobs(parts: CancelParts, userId: number, ids: readonly string[]): Promise<string[]> {
  const asked = [...new Set(ids)];
  const deleted: string[] = [];
  for (let start = 0; start < asked.length; start += AT_ONCE) {
    const some = asked.slice(start, start + AT_ONCE);
    const cancelled = await cancelSome(parts, userId, pendingAmong(userId, some));
    parts.engine.forgetPending(
      userId,
      cancelled.map((job) => job.seq),
    );
    deleted.push(...cancelled.map((job) => job.id));
  }
  return deleted;
}

/**
 * Everything that waits now. None of it starts while its turn to be cancelled has not come; what is sent meanwhile stays.
 * Of a long queue the jobs are only noted, as their rows take seconds.
 */
async function clearQueue(parts: QueueParts, userId: number): Promise<string[]> {
  const { database, engine, queueClears } = parts;
  const last = database.row(pendingOf(userId).clearOrderBy().orderBy("seq", "desc").limit(1))?.seq;
  if (last === undefined) return [];
  const deleted: string[] = [];
  const left = pendingOf(userId).where("seq", "<=", last);
  const take = countJobs(database, userId, ["pending"]) > LONG ? noteSome : cancelSome;
  engine.forgetPending(userId);
  try {
    for (let end: Waiting | undefined; ;) {
      const cancelled = await take(
        parts,
        userId,
        end ? left.where(sql<boolean>`(create_time, id) > (${end.create_time}, ${end.id})`) : left,
      );
      for (const { id } of cancelled) deleted.push(id);
      end = cancelled.at(-1);
      if (!end) return deleted;
    }
  } catch (error) {
    // What could not be cancelled waits on, and has to be known to wait.
    for (const { seq } of database.rows(left.clearOrderBy().orderBy("seq"))) engine.submitted(userId, seq);
    throw error;
  } finally {
    queueClears.noted(userId);
  }
}

type Waiting = { seq: number; id: string; create_time: number };
const columns = ["seq", "id", "create_time"] as const;

/** In the order of the index that holds nothing else of the user. */
function pendingOf(userId: number) {
  const pending = query.selectFrom("jobs").select(columns).where("user_id", "=", userId).where("state", "=", "pending").where(isWaiting);
  return pending.orderBy("create_time").orderBy("id");
}

/** The pluses keep the planner from walking all that waits instead of looking up the few. */
function pendingAmong(userId: number, ids: readonly string[]) {
  const isPending = sql<boolean>`+user_id = ${userId} and +state = 'pending'`;
  return query.selectFrom("jobs").select(columns).where("id", "in", ids).where(isPending).where(isWaiting).orderBy("seq");
}

type Take = (parts: CancelParts, userId: number, waiting: ReturnType<typeof pendingOf>) => Promise<Waiting[]>;

const cancelSome: Take = ({ database, now }, _userId, waiting) => {
  return database.commitFreeing(() => cancelRows(database, database.rows(waiting.limit(AT_ONCE)), now()));
};

const noteSome: Take = ({ database, now }, userId, waiting) => {
  return database.commitFreeing(() => {
    // Of a history that is being cleared only rows say what ends from then on.
    if (isBeingCleared(database, userId)) return cancelRows(database, database.rows(waiting.limit(AT_ONCE)), now());
    const jobs = database.rows(waiting.limit(NOTED_AT_ONCE));
    note(database, userId, jobs.map((job) => job.seq), now()); // prettier-ignore
    return jobs;
  });
};

function cancelRows(database: Database, jobs: Waiting[], at: number): Waiting[] {
  if (jobs.length > 0) cancelPending(database, jobs, at);
  return jobs;
}
