// Cancelling by id, whether a job waits or runs. What has ended stays as it is.

import { type Database } from "../store/database";
import { type Engine } from "./engine";
import { cancelPendingJobs } from "./queue";

/** Returns the ids that were really cancelled. */
export async function cancelJobs(
  parts: { database: Database; engine: Engine; now: () => number },
  userId: number,
  ids: readonly string[],
): Promise<string[]> {
  // Pending first: what starts in between is found running.
  const pending = await cancelPendingJobs(parts, userId, ids);
  const running = await parts.engine.cancelRunning(userId, ids);
  return [...pending, ...running];
}
