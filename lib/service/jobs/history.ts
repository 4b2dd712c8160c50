// The history: jobs that have ended, newest first. Removing an entry removes the job from every list; its assets stay.

import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type Database } from "../store/database";
import { type QueueClears } from "./queue-clears";
import { removeEndedByIds } from "./ended-jobs";
import { type HistoryClears } from "./history-clears";
import { listJobs } from "./list-jobs";
import { orEmpty, type StoredJob } from "./job-row";
import { readResult } from "./job-view";
import { extraDataText, inputTexts, listText, objectText } from "./stored-texts";
import { isTerminal, terminalStates } from "./transitions";

/** As JSON text. */
export function listHistory(database: Database, userId: number, page: { max_items: number; offset: number }): string {
  const status = [...terminalStates];
  const { jobs } = listJobs(database, userId, {
    status,
    sort_by: "create_time",
    sort_order: "desc",
    limit: page.max_items,
    offset: page.offset,
  });
  return listText(jobs.map((job) => toListed(database, job)));
}

function toListed(database: Database, job: StoredJob): string {
  const result = orEmpty(() => readResult(database, job), undefined);
  const extraData = orEmpty(() => extraDataText(database, job.seq), undefined);
  return objectText(
    { prompt_id: job.id, create_time: job.create_time, workflow_id: job.workflow_id },
    {
      prompt: objectText({ priority: job.number, prompt_id: job.id }, { extra_data: extraData ?? "{}" }),
      outputs: result?.outputs ?? "{}",
      status: result?.status ?? "{}",
      meta: result?.meta ?? "{}",
    },
  );
}

/** As JSON text. Undefined for a job that has not ended. */
export function toHistoryEntry(database: Database, job: StoredJob): string | undefined {
  const inputs = inputTexts(database, job.seq);
  const result = isTerminal(job.state) ? readResult(database, job) : undefined;
  if (!result) return undefined;
  const prompt = objectText(
    { priority: job.number, prompt_id: job.id },
    inputs ?? { prompt: "{}", extra_data: "{}", outputs_to_execute: "[]" },
  );
  return objectText({}, { prompt, ...result });
}

type HistoryParts = { database: Database; clears: HistoryClears; queueClears: QueueClears; now: () => number };

/** clear wins over delete. Tells how many entries went. */
export async function manageHistory(
  { database, clears, queueClears, now }: HistoryParts,
  userId: number,
  body: ManageBody,
): Promise<string> {
  if (!body.clear) {
    const ids = body.delete ?? [];
    await queueClears.settle(userId, ids);
    return `${await removeEndedByIds(database, userId, ids)} removed from the history.`;
  }
  return `The history was cleared: ${await clears.clear(userId, now())} removed.`;
}
