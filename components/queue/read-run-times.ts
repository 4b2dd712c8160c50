// How long the last runs of some workflows took, each asked for at most once a minute and few at a time.
// Guarantees: at most MOST_WORKFLOWS calls for one queue, of one page each; a workflow whose runs cannot be read is left out.

import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { toJobView } from "@/lib/contract/job-view";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { type RunTimes, runTimesOf } from "./start-range";

/** More workflows than that wait at once in no queue that somebody reads row by row. */
export const MOST_WORKFLOWS = 12;
const RUNS = 20;
const AT_ONCE = 3;
const FRESH_MS = 60_000;

const known = new Map<string, { atMs: number; times: RunTimes | undefined }>();

export async function readRunTimes(connection: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, RunTimes>> {
  const ids = workflowIds.slice(0, MOST_WORKFLOWS);
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => keepFresh(connection, id)));
  }
  return new Map(
    ids.flatMap((id) => {
      const times = known.get(`${connection} ${id}`)?.times;
      return times ? [[id, times] as const] : [];
    }),
  );
}

async function keepFresh(connection: string, id: string): Promise<void> {
  const key = `${connection} ${id}`;
  const last = known.get(key);
  if (last && Date.now() - last.atMs < FRESH_MS) return;
  const path = withQuery("/api/jobs", { workflow_id: id, status: "completed", limit: RUNS, connection });
  const result = await callApi<JobsAnswer>(path);
  // What was read before is better than nothing.
  if (!result.ok) return;
  const times = runTimesOf(result.value.jobs.flatMap((item) => toJobView(item).runMs ?? []));
  known.set(key, { atMs: Date.now(), times });
}
