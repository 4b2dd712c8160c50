// The history: jobs that have ended, newest first. Removing an entry removes the job from every list; its assets stay.

import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/queue";
import { type Database, type Reader } from "@/lib/service/store/database";
import { removeEndedByIds } from "./ended-jobs";
import { type HistoryClears } from "./history-clears";
import { countJobs, listJobs } from "../list-jobs";
import { orEmpty, readJobs, type StoredJob } from "../job-row";
import { readError, readResult } from "../job-view";
import { extraDataText, inPieces, inputTexts, listText, objectText } from "../stored-texts";
import { isTerminal, terminalStates } from "../transitions";

type Page = { max_items: number; offset: number };

/** As JSON text in pieces: which jobs is known at once, and what each of them holds is read when its piece is. */
export async function listHistory(reader: Reader, userId: number, page: Page): Promise<AsyncIterable<string>> {
  const status = [...terminalStates];
  const { seqs } = await listJobs(reader, userId, {
    status,
    sort_by: "create_time",
    sort_order: "desc",
    limit: page.max_items,
    offset: page.offset,
  });
  return inPieces(
    `{"history":[`,
    each(await readJobs(reader, seqs), (job) => toListed(reader, job)),
    "]}",
  );
}

/** The same, by id. A job whose row is damaged is left out. */
export async function listOlderHistory(reader: Reader, userId: number, page: Page): Promise<AsyncIterable<string>> {
  const status = [...terminalStates];
  const last = async () => Math.max(0, (await countJobs(reader, userId, status)) - page.max_items);
  const { seqs } = await listJobs(reader, userId, {
    status,
    sort_by: "create_time",
    sort_order: "asc",
    limit: page.max_items,
    offset: page.offset < 0 ? await last() : page.offset,
  });
  const entryOf = async (job: StoredJob) => {
    const entry = await orEmpty(() => toOlderEntry(reader, job), undefined);
    return entry && `${writeExactJson(job.id)}:${entry}`;
  };
  return inPieces("{", each(await readJobs(reader, seqs), entryOf), "}");
}

async function* each(jobs: readonly StoredJob[], toText: (job: StoredJob) => Promise<string | undefined>): AsyncIterable<string> {
  for (const job of jobs) {
    const text = await toText(job);
    if (text !== undefined) yield text;
  }
}

/** As JSON text. Undefined for a job that has not ended. */
export async function toOlderEntry(reader: Reader, job: StoredJob): Promise<string | undefined> {
  const inputs = await inputTexts(reader, job.seq);
  const result = isTerminal(job.state) ? await readResult(reader, job) : undefined;
  if (!result) return undefined;
  const { prompt, extra_data, outputs_to_execute } = inputs ?? noInputs;
  const tuple = listText([String(job.number), writeExactJson(job.id), prompt, extra_data, outputs_to_execute]);
  return objectText(await errorOf(job), { prompt: tuple, ...result });
}

const noInputs = { prompt: "{}", extra_data: "{}", outputs_to_execute: "[]" };

async function errorOf(job: StoredJob): Promise<{ error_message?: string }> {
  const error = await orEmpty(() => readError(job), undefined);
  return error === undefined ? {} : { error_message: error };
}

async function toListed(reader: Reader, job: StoredJob): Promise<string> {
  const result = await orEmpty(() => readResult(reader, job), undefined);
  const extraData = await orEmpty(() => extraDataText(reader, job.seq), undefined);
  return objectText(
    { prompt_id: job.id, create_time: job.create_time, workflow_id: job.workflow_id, ...(await errorOf(job)) },
    {
      prompt: objectText({ priority: job.number, prompt_id: job.id }, { extra_data: extraData ?? "{}" }),
      outputs: result?.outputs ?? "{}",
      status: result?.status ?? "{}",
      meta: result?.meta ?? "{}",
    },
  );
}

/** As JSON text. Undefined for a job that has not ended. */
export async function toHistoryEntry(reader: Reader, job: StoredJob): Promise<string | undefined> {
  const inputs = await inputTexts(reader, job.seq);
  const result = isTerminal(job.state) ? await readResult(reader, job) : undefined;
  if (!result) return undefined;
  const prompt = objectText({ priority: job.number, prompt_id: job.id }, inputs ?? noInputs);
  return objectText(await errorOf(job), { prompt, ...result });
}

type HistoryParts = { database: Database; clears: HistoryClears; now: () => number };

/** clear wins over delete. Tells how many entries went. */
export async function manageHistory({ database, clears, now }: HistoryParts, userId: number, body: ManageBody): Promise<string> {
  if (!body.clear) return `${await removeEndedByIds(database, userId, body.delete ?? [])} removed from the history.`;
  return `The history was cleared: ${await clears.clear(userId, now())} removed.`;
}
