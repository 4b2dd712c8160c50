// The states of a job and every legal transition between them:
//
//   pending ──claim──▶ in_progress ──succeed──▶ completed
//      │                 │    │
//      │                 │    └──fail──▶ failed      (a node's exception, or WorkerLost after three attempts)
//      └──cancel──▶ cancelled ◀──cancel──┘
//   in_progress ──requeue──▶ pending                 (its process or worker ended; the attempt remains counted)
//
// A pending job in a runner's own queue has a `slot`. It is started, requeued or cancelled, and no other slot claims it.
//
// completed, failed and cancelled are terminal. State changes happen inside a commit, only through `moveJob` and `moveJobs`.

import { sql, type Updateable } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { query, type Transaction } from "../store/database";
import { type JobRow } from "../store/schema";

const nextStates: Readonly<Record<KnownJobState, readonly KnownJobState[]>> = {
  pending: ["in_progress", "cancelled"],
  in_progress: ["completed", "failed", "cancelled", "pending"],
  completed: [],
  failed: [],
  cancelled: [],
};

/** A job for the queue. `kind` describes its requirements and the runners that have already tried it (runners/pool.ts). */
export type WaitingJob = { userId: number; seq: number; kind: string };

export const MAX_ATTEMPTS = 3;
export const terminalStates: readonly KnownJobState[] = ["completed", "failed", "cancelled"];

/** Add this to a condition on the state. Without it, the planner does not use the small index of unfinished jobs. */
export const isUnfinished = sql<boolean>`state in ('pending', 'in_progress')`;

export const isInOwnQueue = sql<boolean>`slot is null`;

export function isTerminal(state: KnownJobState): boolean {
  return terminalStates.includes(state);
}

/** Returns false if the job is no longer in `from`, or another attempt has started since `fence`. */
export async function moveJob(
  tx: Transaction,
  transition: { seq: number; from: KnownJobState; to: KnownJobState; at: number; fence?: number | undefined },
  changes: Omit<Updateable<JobRow>, "state" | "seq" | "id" | "user_id"> = {},
): Promise<boolean> {
  return (await moveJobs(tx, { ...transition, seqs: [transition.seq] }, changes)) === 1;
}

export function startJob(tx: Transaction, { seq, fence }: { seq: number; fence: number }, startMs: number): Promise<boolean> {
  return moveJob(tx, { seq, fence, from: "pending", to: "in_progress", at: startMs }, { start_time: startMs });
}

export async function moveJobs(
  tx: Transaction,
  transition: { seqs: readonly number[]; from: KnownJobState; to: KnownJobState; at: number; fence?: number | undefined },
  changes: Omit<Updateable<JobRow>, "state" | "seq" | "id" | "user_id"> = {},
): Promise<number> {
  if (!nextStates[transition.from].includes(transition.to))
    throw new Error(`illegal job transition from ${transition.from} to ${transition.to}`);
  const update = query
    .updateTable("jobs")
    .set(() => {
      // If the clock is set back, the job keeps its later time.
      const timestamp = tx.dialect.greatest(sql.ref("update_time"), sql.val(transition.at));
      return { ...changes, state: transition.to, update_time: timestamp, state_time: timestamp };
    })
    .where("seq", "in", tx.dialect.numbers(transition.seqs))
    .where("state", "=", transition.from);
  return tx.run(transition.fence === undefined ? update : update.where("fence", "=", transition.fence));
}
