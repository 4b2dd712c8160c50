// The waiting jobs as stored, oldest first: all, those of a user up to one, or some.

import { kindWith, triedRunners } from "@/lib/service/runners/pool";
import { query, type Reader } from "@/lib/service/store/database";
import { type Waiting } from "../run/job-queue";
import { isInOwnQueue, isUnfinished } from "../transitions";

type Which = { userId: number; last: number } | { seqs: readonly number[] };

export async function waitingJobs(reader: Reader, which?: Which): Promise<(Waiting & { needs: number | null })[]> {
  const pending = query
    .selectFrom("jobs")
    .select(["seq", "user_id", "needs"])
    .where(isUnfinished)
    .where("state", "=", "pending")
    .where(isInOwnQueue);
  const some = !which
    ? pending
    : "seqs" in which
      ? pending.where("seq", "in", reader.dialect.numbers(which.seqs))
      : pending.where("user_id", "=", which.userId).where("seq", "<=", which.last);
  const [jobs, tried] = [await reader.rows(some.orderBy("seq")), await triedRunners(reader)];
  return jobs.map(({ seq, user_id, needs }) => ({ userId: user_id, seq, needs, kind: kindWith(needs, tried.get(seq)) }));
}
