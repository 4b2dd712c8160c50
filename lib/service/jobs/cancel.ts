// Cancels jobs by id, whether they wait or run. Jobs that have ended stay as they are.

import { type JobEvents } from "../events/elsewhere";
import { type Database } from "../store/database";
import { cancelPendingJobs } from "./queue-view";
import { type Engine } from "./run/engine";

/** Returns the ids that were really cancelled. */
export async function cancelJobs(
  parts: { database: Database; engine: Engine; events: JobEvents; now: () => number },
  userId: number,
  ids: readonly string[],
): Promise<string[]> {
  // Pending jobs first: one that starts in between is then found running.
  const pending = await cancelPendingJobs(parts, userId, ids);
  const running = await parts.engine.cancelRunning(userId, ids);
  if (pending.length > 0) parts.events.queueChanged(userId);
  return [...pending, ...running];
}
