// The history: jobs that have ended, newest first. Removing an entry removes the job from every list; its assets stay.

import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type Database, query } from "../store/database";
import { removeEnded, removeEndedByIds } from "./ended-jobs";
import { listJobs } from "./list-jobs";
import { orEmpty, readRecord, readStrings, type StoredJob } from "./job-row";
import { readInputs, readResult } from "./job-view";
import { isTerminal, terminalStates } from "./transitions";

export function listHistory(database: Database, userId: number, page: { max_items: number; offset: number }) {
  const status = [...terminalStates];
  const { jobs } = listJobs(database, userId, {
    status,
    sort_by: "create_time",
    sort_order: "desc",
    limit: page.max_items,
    offset: page.offset,
  });
  return jobs.map((job) => {
    const result = orEmpty(() => readResult(database, job), undefined);
    const extraData = orEmpty(() => readExtraData(database, job.seq), {});
    return {
      prompt_id: job.id,
      create_time: job.create_time,
      workflow_id: job.workflow_id,
      prompt: { priority: job.number, prompt_id: job.id, extra_data: withoutWorkflow(extraData) },
      outputs: result?.outputs ?? {},
      status: result?.status ?? {},
      meta: result?.meta ?? {},
    };
  });
}

/** The list shows no graphs: it does not read them either. */
function readExtraData(database: Database, seq: number): Record<string, unknown> {
  const row = database.row(query.selectFrom("job_inputs").select("extra_data").where("job_seq", "=", seq));
  return row ? readRecord(row.extra_data) : {};
}

/** Undefined for a job that has not ended. */
export function toHistoryEntry(database: Database, job: StoredJob) {
  const inputs = readInputs(database, job.seq);
  const result = readResult(database, job);
  if (!isTerminal(job.state) || !result) return undefined;
  const prompt = {
    priority: job.number,
    prompt_id: job.id,
    prompt: inputs?.prompt ?? {},
    extra_data: inputs?.extra_data ?? {},
    outputs_to_execute: readStrings(inputs?.outputs_to_execute ?? "[]"),
  };
  return { prompt, ...result };
}

/** clear wins over delete; what still waits or runs, or ends while this goes on, is left alone. Returns how many entries went. */
export async function manageHistory(
  { database, now }: { database: Database; now: () => number },
  userId: number,
  body: ManageBody,
): Promise<number> {
  return body.clear ? removeEnded(database, { userId, endedUntil: now() }) : removeEndedByIds(database, userId, body.delete ?? []);
}

/** The list leaves the editor's graph out: it is by far the largest part. */
function withoutWorkflow(extraData: Record<string, unknown>): Record<string, unknown> {
  const info = extraData.extra_pnginfo;
  if (typeof info !== "object" || info === null) return extraData;
  return { ...extraData, extra_pnginfo: Object.fromEntries(Object.entries(info).filter(([key]) => key !== "workflow")) };
}
