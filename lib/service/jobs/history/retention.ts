// How long the history is kept: ended jobs beyond an age, or a number for each user, are removed in the same way as by POST /api/history.
// Off unless configured. Waiting and running jobs are never counted or removed, and assets stay.

import { type ServiceSettings } from "@/lib/service/settings";
import { type Database, query } from "@/lib/service/store/database";
import { countJobs } from "../list-jobs";
import { terminalStates } from "../transitions";
import { removeEnded } from "./ended-jobs";

const DAY_MS = 86_400_000;

export type RetentionParts = { database: Database; settings: Pick<ServiceSettings, "retentionDays" | "retentionJobs">; now: () => number };

export function hasRetention({ retentionDays, retentionJobs }: RetentionParts["settings"]): boolean {
  return retentionDays !== undefined || retentionJobs !== undefined;
}

/** Returns how many jobs were removed. */
export async function applyRetention({ database, settings, now }: RetentionParts, goOn: () => boolean): Promise<number> {
  const { retentionDays, retentionJobs } = settings;
  let removed = 0;
  for (const { id: userId } of await database.rows(query.selectFrom("users").select("id"))) {
    if (retentionDays !== undefined) {
      removed += await removeEnded(database, { userId, endedUntil: now() - retentionDays * DAY_MS, goOn });
    }
    if (retentionJobs !== undefined) {
      const atMost = (await countJobs(database, userId, terminalStates)) - retentionJobs;
      removed += await removeEnded(database, { userId, endedUntil: now(), atMost, goOn });
    }
  }
  return removed;
}
