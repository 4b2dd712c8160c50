// The history: jobs that have ended, newest first. Removing an entry removes the job from every list; its assets stay.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type Database } from "../store/database";
import { removeEndedByIds } from "./ended-jobs";
import { type HistoryClears } from "./history-clears";
import { countJobs, listJobs } from "./list-jobs";
import { orEmpty, readJobs, type StoredJob } from "./job-row";
import { readError, readResult } from "./job-view";
import { extraDataText, inPieces, inputTexts, listText, objectText } from "./stored-texts";
import { isTerminal, terminalStates } from "./transitions";

/** As JSON text in pieces: which jobs is known at once, and what each of them holds is read when its piece is. */
export function listHistory(database: Database, userId: number, page: { max_items: number; offset: number }): Iterable<string> {
  const status = [...terminalStates];
  const { seqs } = listJobs(database, userId, {
    status,
    sort_by: "create_time",
    sort_order: "desc",
    limit: page.max_items,
    offset: page.offset,
  });
  return inPieces(
    `{"history":[`,
    each(readJobs(database, seqs), (job) => toListed(database, job)),
    "]}",
  );
}

/** The same, by id. A job whose row is damaged is left out. */
export function listOlderHistory(database: Database, userId: number, page: { max_items: number; offset: number }): Iterable<string> {
  const status = [...terminalStates];
  const last = () => Math.max(0, countJobs(database, userId, status) - page.max_items);
  const { seqs } = listJobs(database, userId, {
    status,
    sort_by: "create_time",
    sort_order: "asc",
    limit: page.max_items,
    offset: page.offset < 0 ? last() : page.offset,
  });
  const entryOf = (job: StoredJob) => {
    const entry = orEmpty(() => toOlderEntry(database, job), undefined);
    return entry && `${writeExactJson(job.id)}:${entry}`;
  };
  return inPieces("{", each(readJobs(database, seqs), entryOf), "}");
}

function* each(jobs: readonly StoredJob[], toText: (job: StoredJob) => string | undefined): Iterable<string> {
  for (const job of jobs) {
    const text = toText(job);
    if (text !== undefined) yield text;
  }
}

/** As JSON text. Undefined for a job that has not ended. */
export function toOlderEntry(database: Database, job: StoredJob): string | undefined {
  const inputs = inputTexts(database, job.seq);
  const result = isTerminal(job.state) ? readResult(database, job) : undefined;
  if (!result) return undefined;
  const { prompt, extra_data, outputs_to_execute } = inputs ?? noInputs;
  const tuple = listText([String(job.number), writeExactJson(job.id), prompt, extra_data, outputs_to_execute]);
  return objectText(errorOf(job), { prompt: tuple, ...result });
}

const noInputs = { prompt: "{}", extra_data: "{}", outputs_to_execute: "[]" };

function errorOf(job: StoredJob): { error_message?: string } {
  const error = orEmpty(() => readError(job), undefined);
  return error === undefined ? {} : { error_message: error };
}

function toListed(database: Database, job: StoredJob): string {
  const result = orEmpty(() => readResult(database, job), undefined);
  const extraData = orEmpty(() => extraDataText(database, job.seq), undefined);
  return objectText(
    { prompt_id: job.id, create_time: job.create_time, workflow_id: job.workflow_id, ...errorOf(job) },
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
  const prompt = objectText({ priority: job.number, prompt_id: job.id }, inputs ?? noInputs);
  return objectText(errorOf(job), { prompt, ...result });
}

type HistoryParts = { database: Database; clears: HistoryClears; now: () => number };

/** clear wins over delete. Tells how many entries went. */
export async function manageHistory({ database, clears, now }: HistoryParts, userId: number, body: ManageBody): Promise<string> {
  if (!body.clear) return `${await removeEndedByIds(database, userId, body.delete ?? [])} removed from the history.`;
  return `The history was cleared: ${await clears.clear(userId, now())} removed.`;
}
