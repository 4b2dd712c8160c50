// The states of a job and every legal step between them:
//
//   pending ──claim──▶ in_progress ──succeed──▶ completed
//      │                 │    │
//      │                 │    └──fail──▶ failed      (a node's exception; WorkerLost after three attempts)
//      └──cancel──▶ cancelled ◀──cancel──┘
//   in_progress ──give back──▶ pending               (the process or its worker went away; the attempt stays counted)
//
// A pending job that waits in a runner's own queue has a `slot`. It is started, given back or cancelled, and no other slot claims it.
//
// completed, failed and cancelled are terminal: no step leads out of them. Steps are taken inside a commit, by `move` and `moveAll` alone.

import { sql, type Updateable } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { query, type Transaction } from "../store/database";
import { type JobRow } from "../store/schema";

const next: Readonly<Record<KnownJobState, readonly KnownJobState[]>> = {
  pending: ["in_progress", "cancelled"],
  in_progress: ["completed", "failed", "cancelled", "pending"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** A job for the queue. `kind`: its requirements, and the runners that have tried it (runners/pool.ts). */
export type WaitingJob = { userId: number; seq: number; kind: string };

export const MAX_ATTEMPTS = 3;
export const terminalStates: readonly KnownJobState[] = ["completed", "failed", "cancelled"];

/** Added to a condition on the state, so that the planner uses the small index of unfinished jobs: it does not infer this by itself. */
export const isUnfinished = sql<boolean>`state in ('pending', 'in_progress')`;

export const isInOwnQueue = sql<boolean>`slot is null`;

export function isTerminal(state: KnownJobState): boolean {
  return terminalStates.includes(state);
}

/** Returns false if the job is no longer in `from`, or another attempt has begun since `fence`. */
export async function move(
  tx: Transaction,
  step: { seq: number; from: KnownJobState; to: KnownJobState; at: number; fence?: number | undefined },
  changes: Omit<Updateable<JobRow>, "state" | "seq" | "id" | "user_id"> = {},
): Promise<boolean> {
  return (await moveAll(tx, { ...step, seqs: [step.seq] }, changes)) === 1;
}

export function begin(tx: Transaction, { seq, fence }: { seq: number; fence: number }, at: number): Promise<boolean> {
  return move(tx, { seq, fence, from: "pending", to: "in_progress", at }, { start_time: at });
}

export async function moveAll(
  tx: Transaction,
  step: { seqs: readonly number[]; from: KnownJobState; to: KnownJobState; at: number; fence?: number | undefined },
  changes: Omit<Updateable<JobRow>, "state" | "seq" | "id" | "user_id"> = {},
): Promise<number> {
  if (!next[step.from].includes(step.to)) throw new Error(`a job never goes from ${step.from} to ${step.to}`);
  const update = query
    .updateTable("jobs")
    .set(() => {
      // If the clock is set back, the job keeps its later time.
      const at = tx.dialect.greater(sql.ref("update_time"), sql.val(step.at));
      return { ...changes, state: step.to, update_time: at, state_time: at };
    })
    .where("seq", "in", tx.dialect.numbers(step.seqs))
    .where("state", "=", step.from);
  return tx.run(step.fence === undefined ? update : update.where("fence", "=", step.fence));
}
