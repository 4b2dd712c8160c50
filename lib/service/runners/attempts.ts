// Attempts to run jobs on runners. An attempt is stored before it is sent, and may write only while its fence matches the job's.

import { sql } from "kysely";
import { query, type Reader, type Transaction } from "../store/database";
import { type Processes } from "../store/processes";
import { type AttemptRow } from "../store/schema";

/** `clientId` identifies the attempt on the runner, in addition to the runner's job id. */
export type Attempt = { seq: number; number: number; fence: number; promptId: string; clientId: string };

export const isHandedOver = sql<boolean>`(state = 'in_progress' or (state = 'pending' and slot is not null))`;

/** A job's attempt numbers restart only if no earlier attempt was sent. */
export async function startAttempt(tx: Transaction, attempt: Attempt, runner: string, nowMs: number): Promise<void> {
  const { seq, number, fence, promptId, clientId } = attempt;
  const ids = { job_seq: seq, number, fence, runner, prompt_id: promptId, client_id: clientId };
  const times = { lease_until: nowMs, started_at: nowMs, ended_at: null };
  await tx.run(query.insertInto("attempts").values({ ...ids, ...times, state: "sending", reason: null }));
}

const isOpenAttempt = ({ seq, number, fence }: Attempt) =>
  sql<boolean>`job_seq = ${seq} and number = ${number} and fence = ${fence} and ended_at is null
    and exists (select 1 from jobs where seq = ${seq} and fence = ${fence} and state in ('pending', 'in_progress'))`;

/** Returns false if another attempt has replaced this one, which must then end. */
export async function isCurrentAttempt(reader: Reader, attempt: Attempt): Promise<boolean> {
  return (await reader.row(query.selectFrom("attempts").select("number").where(isOpenAttempt(attempt)))) !== undefined;
}

/** Stores the runner's job id. Returns the same as `isCurrentAttempt`. */
export async function storePromptId(tx: Transaction, attempt: Attempt, promptId: string): Promise<boolean> {
  return (await tx.run(query.updateTable("attempts").set({ state: "sent", prompt_id: promptId }).where(isOpenAttempt(attempt)))) === 1;
}

/** Continues the attempt of a dead process. Returns undefined if there is none, or if another process took it over. */
export async function takeOverAttempt(
  tx: Transaction,
  { id, isHolderMissing }: Pick<Processes, "id" | "isHolderMissing">,
  seq: number,
): Promise<(Attempt & { runner: string }) | undefined> {
  const openAttempt = await tx.row(query.selectFrom("attempts").selectAll().where("job_seq", "=", seq).where("ended_at", "is", null));
  if (!openAttempt) return undefined;
  const updatedJob = await tx.row(
    query
      .updateTable("jobs")
      .set(({ eb }) => ({ fence: eb("fence", "+", 1), holder: id }))
      .where("seq", "=", seq)
      .where("state", "in", ["pending", "in_progress"])
      .where(isHolderMissing)
      .returning("fence"),
  );
  if (!updatedJob) return undefined;
  const { fence } = updatedJob;
  await tx.run(query.updateTable("attempts").set({ fence }).where("job_seq", "=", seq).where("number", "=", openAttempt.number));
  return {
    seq,
    number: openAttempt.number,
    fence,
    promptId: openAttempt.prompt_id,
    clientId: openAttempt.client_id,
    runner: openAttempt.runner,
  };
}

/** `lost`: the job may still run on its runner and must be removed from it. */
export async function endAttempt(
  tx: Transaction,
  { seq, fence }: Pick<Attempt, "seq" | "fence">,
  state: "over" | "lost",
  nowMs: number,
  reason?: string,
): Promise<void> {
  const changes = { state, ended_at: nowMs, reason: reason ?? null };
  await tx.run(
    query.updateTable("attempts").set(changes).where("job_seq", "=", seq).where("fence", "=", fence).where("ended_at", "is", null),
  );
}

export async function deleteAttempt(tx: Transaction, { seq, fence }: Pick<Attempt, "seq" | "fence">): Promise<void> {
  await tx.run(query.deleteFrom("attempts").where("job_seq", "=", seq).where("fence", "=", fence));
}

/** Suffix of an attempt's reason when the runner's cache was cleared because it listed missing files. */
export const CACHE_CLEARED_SUFFIX = "Its cache was cleared.";

/** Whether an earlier attempt of the job ended with that reason. */
export async function wasCacheCleared(reader: Reader, seq: number): Promise<boolean> {
  const endedAttempt = query
    .selectFrom("attempts")
    .select("number")
    .where("job_seq", "=", seq)
    .where("reason", "like", `%${CACHE_CLEARED_SUFFIX}`);
  return (await reader.row(endedAttempt)) !== undefined;
}

export async function findOpenClients(reader: Reader, runner: string): Promise<ReadonlySet<string>> {
  const openAttempts = query
    .selectFrom("attempts")
    .select("client_id")
    .where("runner", "=", runner)
    .where("state", "in", ["sending", "sent"]);
  return new Set((await reader.rows(openAttempts)).map(({ client_id }) => client_id));
}

export async function findLostAttempts(reader: Reader, runner: string, cutoffMs: number): Promise<AttemptRow[]> {
  return reader.rows(
    query.selectFrom("attempts").selectAll().where("runner", "=", runner).where("state", "=", "lost").where("ended_at", "<=", cutoffMs),
  );
}

export async function markCleared(tx: Transaction, { job_seq, number }: AttemptRow): Promise<void> {
  await tx.run(query.updateTable("attempts").set({ state: "over" }).where("job_seq", "=", job_seq).where("number", "=", number));
}

const MAX_FAILED_USERS = 3;

/** Three failures in a row by different users set the runner aside. `ms` may be negative if clocks differ. */
export async function recordEnd(
  tx: Transaction,
  outcome: { runner: string | null; userId: number; isSuccess: boolean; isRejected?: boolean; ms: number },
): Promise<void> {
  const { runner, userId, isSuccess, isRejected, ms } = outcome;
  const id = runner ?? "built-in";
  const column = isSuccess ? "done" : "failed";
  await tx.run(
    query
      .updateTable("runners")
      .set(({ eb }) => ({ [column]: eb(column, "+", 1), run_ms: eb("run_ms", "+", Math.max(0, Math.round(ms))) }))
      .where("id", "=", id),
  );
  // A rejected workflow is not the runner's fault.
  if (runner === null || isRejected) return;
  const row = await tx.row(query.selectFrom("runners").select(["failed_users", "mode"]).where("id", "=", runner));
  if (!row) return;
  const userIds = isSuccess ? [] : [...new Set([...row.failed_users.matchAll(/\d+/g)].map(Number)).add(userId)];
  const isSetAside = userIds.length >= MAX_FAILED_USERS && row.mode === "ready";
  const mode = isSetAside
    ? { mode: "set_aside" as const, mode_reason: `Jobs of ${userIds.length} different users failed here in a row.` }
    : {};
  await tx.run(query.updateTable("runners").set({ failed_users: `[${userIds.join(",")}]`, ...mode }).where("id", "=", runner)); // prettier-ignore
}
