// Which jobs of a user appear in no view although their rows are still there: those that had ended when the history was cleared, until the
// background has removed them. Waiting and running jobs are never among them; a trigger notes the jobs that end meanwhile.

import { type RawBuilder, sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/jobs/job-list";
import { query, type Reader } from "@/lib/service/store/database";
import { plainStatement } from "@/lib/service/store/statement";
import { isTerminal } from "./transitions";

/** True between a clear and the end of the removal. */
export async function isBeingCleared(reader: Reader, userId: number): Promise<boolean> {
  const marked = plainStatement("SELECT 1 FROM users WHERE id = ? AND history_cleared_until IS NOT NULL", [userId]);
  return (await reader.row(marked)) !== undefined;
}

/** A condition on a row of `jobs` that has ended, while its user's history is being cleared. */
export const wasCleared: RawBuilder<boolean> = sql<boolean>`not exists
  (select 1 from ended_since_clear where ended_since_clear.user_id = jobs.user_id and job_seq = jobs.seq)`;

export async function isCleared(reader: Reader, job: { user_id: number; seq: number; state: KnownJobState }): Promise<boolean> {
  if (!isTerminal(job.state) || !(await isBeingCleared(reader, job.user_id))) return false;
  const since = query.selectFrom("ended_since_clear").select("job_seq").where("user_id", "=", job.user_id).where("job_seq", "=", job.seq);
  return (await reader.row(since)) === undefined;
}
