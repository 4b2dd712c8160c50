// The attempts to run jobs on runners, as they are stored. Inside commits.
// Guarantees: an attempt is stored before anything of it is sent; whatever an attempt writes of itself is written only while its fencing
// number is the job's and it has not been given up.

import { sql } from "kysely";
import { type Database, query } from "../store/database";
import { type AttemptRow } from "../store/schema";

/** `clientId`: our own name for it there, whatever id the runner gives the job. */
export type Attempt = { seq: number; number: number; fence: number; promptId: string; clientId: string };

/** A job's numbers begin anew only where nothing of the earlier attempt was sent. */
export function beginAttempt(database: Database, attempt: Attempt, runner: string, at: number, leaseMs: number): void {
  const { seq, number, fence, promptId, clientId } = attempt;
  const values = {
    fence,
    runner,
    prompt_id: promptId,
    client_id: clientId,
    state: "sending" as const,
    lease_until: at + leaseMs,
    started_at: at,
  };
  database.run(query.insertInto("attempts").values({ job_seq: seq, number, ...values, ended_at: null, reason: null }));
}

/** False: the attempt is no longer the job's, and must end. */
export function writeAttempt(
  database: Database,
  attempt: Attempt,
  changes: Partial<Pick<AttemptRow, "state" | "prompt_id" | "lease_until">>,
): boolean {
  const isOwn = sql<boolean>`exists (select 1 from jobs where seq = ${attempt.seq} and fence = ${attempt.fence} and state = 'in_progress')`;
  const update = query
    .updateTable("attempts")
    .set(changes)
    .where("job_seq", "=", attempt.seq)
    .where("number", "=", attempt.number)
    .where("fence", "=", attempt.fence)
    .where("ended_at", "is", null)
    .where(isOwn);
  return database.run(update) === 1;
}

/** A restarted service goes on with what it had sent: whatever the old process still does is stale from here on. Undefined: there is none. */
export function takeOver(database: Database, seq: number): (Attempt & { runner: string }) | undefined {
  const open = openAttempt(database, seq);
  if (!open) return undefined;
  const fence = database.row(
    query
      .updateTable("jobs")
      .set(({ eb }) => ({ fence: eb("fence", "+", 1) }))
      .where("seq", "=", seq)
      .where("state", "=", "in_progress")
      .returning("fence"),
  )?.fence;
  if (fence === undefined) return undefined;
  database.run(query.updateTable("attempts").set({ fence }).where("job_seq", "=", seq).where("number", "=", open.number));
  return { seq, number: open.number, fence, promptId: open.prompt_id, clientId: open.client_id, runner: open.runner };
}

/** `lost`: it may still run there, and is to be cleared away. */
export function endAttempt(
  database: Database,
  { seq, fence }: Pick<Attempt, "seq" | "fence">,
  state: "over" | "lost",
  at: number,
  reason?: string,
): void {
  const changes = { state, ended_at: at, reason: reason ?? null };
  database.run(
    query.updateTable("attempts").set(changes).where("job_seq", "=", seq).where("fence", "=", fence).where("ended_at", "is", null),
  );
}

/** Of an attempt of which nothing was sent. */
export function forgetAttempt(database: Database, { seq, fence }: Pick<Attempt, "seq" | "fence">): void {
  database.run(query.deleteFrom("attempts").where("job_seq", "=", seq).where("fence", "=", fence));
}

function openAttempt(database: Database, seq: number): AttemptRow | undefined {
  return database.row(query.selectFrom("attempts").selectAll().where("job_seq", "=", seq).where("ended_at", "is", null));
}

/** Given up until then, and perhaps still there. */
export function lostAttempts(database: Database, runner: string, until: number): AttemptRow[] {
  return database.rows(
    query.selectFrom("attempts").selectAll().where("runner", "=", runner).where("state", "=", "lost").where("ended_at", "<=", until),
  );
}

export function clearedAway(database: Database, { job_seq, number }: AttemptRow): void {
  database.run(query.updateTable("attempts").set({ state: "over" }).where("job_seq", "=", job_seq).where("number", "=", number));
}

/** How a job ended on a runner, for its figures. Three in a row of different users put it aside; the built-in one never. */
export function noteEnd(
  database: Database,
  end: { runner: string | null; userId: number; isGood: boolean; ms: number; needs?: number | null },
): void {
  const { runner, userId, isGood, ms } = end;
  const id = runner ?? "built-in";
  const column = isGood ? "done" : "failed";
  database.run(
    query
      .updateTable("runners")
      .set(({ eb }) => ({ [column]: eb(column, "+", 1), run_ms: eb("run_ms", "+", Math.round(ms)) }))
      .where("id", "=", id),
  );
  if (runner === null) return;
  const row = database.row(query.selectFrom("runners").select(["failed_users", "mode"]).where("id", "=", runner));
  if (!row) return;
  const users = isGood ? [] : [...new Set([...readUsers(row.failed_users), userId])];
  const isPutAside = users.length >= FAILURES_OF_USERS && row.mode === "ready";
  const mode = isPutAside
    ? { mode: "set_aside" as const, mode_reason: `The jobs of ${users.length} different users failed here, one after the other.` }
    : {};
  database.run(query.updateTable("runners").set({ failed_users: `[${users.join(",")}]`, ...mode }).where("id", "=", runner)); // prettier-ignore
}

const FAILURES_OF_USERS = 3;

function readUsers(text: string): number[] {
  return text.replace(/[[\]]/g, "").split(",").filter(Boolean).map(Number);
}
