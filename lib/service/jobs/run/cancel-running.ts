// Cancels running jobs, at whichever process they run: in the store, by their state inside the commit. The process that runs a job
// gets a notice and ends it.

import { sql } from "kysely";
import { clearAway } from "@/lib/comfyui/client";
import { comfyServer } from "@/lib/comfyui/http";
import { endAttempt } from "@/lib/service/runners/attempts";
import { type Database, query, type Reader, type Transaction } from "@/lib/service/store/database";
import { isTerminal } from "../transitions";
import { type Running } from "./claim";
import { type EngineParts } from "./engine-parts";
import { cancelPending, cancelRunning } from "./finish";
import { createRunRecord } from "./run-record";

/** The channel that tells processes that jobs were cancelled. */
export const CANCELLED = "cancelled";

type Parts = Pick<EngineParts, "processes" | "now">;
type Which = { userId: number; jobIds?: readonly string[] | undefined };
export type Cancelled = { id: string; seq: number; run: Running | undefined };

/** The user's running jobs: these, or all. */
export function runningJobs(reader: Reader, { processes: { isNotRunHere } }: Parts, { userId, jobIds }: Which) {
  const running = query
    .selectFrom("jobs")
    .select(["id", "seq", "fence", "start_time", sql<number>`case when ${isNotRunHere} then 1 else 0 end`.as("is_elsewhere")])
    .where("user_id", "=", userId)
    .where("state", "=", "in_progress");
  return reader.rows(jobIds === undefined ? running : running.where("id", "in", reader.dialect.texts(jobIds)));
}

/** Inside a commit. `ran`: those of these jobs that this process ran when the request came; `running`: by id, the jobs that it runs now. */
export async function cancelAll(
  tx: Transaction,
  parts: Parts,
  which: Which,
  { ran, running }: { ran: readonly Running[]; running: ReadonlyMap<string, Running> },
): Promise<Cancelled[]> {
  const { processes, now } = parts;
  const cancelled: Cancelled[] = [];
  let isOthers = false;
  for (const { id, seq, fence, start_time, is_elsewhere } of await runningJobs(tx, parts, which)) {
    const here = running.get(id);
    const run = here?.fence === fence ? here : undefined;
    if (!run && is_elsewhere === 0) continue;
    // What a job put out at another process is known only there.
    const record = run?.record ?? createRunRecord(id, {}, [], start_time ?? now());
    if (!(await cancelRunning(tx, { id, seq, fence }, record, now()))) continue;
    await endAttempt(tx, { seq, fence }, "lost", now(), "It was cancelled.");
    cancelled.push({ id, seq, run });
    isOthers ||= !run;
  }
  // Its worker was lost a moment ago, and the job waits again.
  for (const run of ran) {
    if (cancelled.some(({ id }) => id === run.id)) continue;
    if (await cancelPending(tx, [run.seq], now())) cancelled.push({ id: run.id, seq: run.seq, run });
  }
  if (isOthers) await processes.tell(CANCELLED, null, tx);
  return cancelled;
}

/** Clears up at the job's runner at once. The rounds look again, since a request that was just sent may arrive later. */
export async function clearCancelled(database: Database, seq: number): Promise<void> {
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
export async function staleRuns(database: Database, running: ReadonlyMap<string, Running>): Promise<Running[]> {
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
