import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/job";
import { type Database, type Reader } from "@/lib/service/store/database";
import {
  batchBySize,
  extraDataTexts,
  inputTexts,
  listText,
  objectText,
  readJobs,
  readOrDefault,
  requireTexts,
  resultTexts,
  type StoredJob,
  streamList,
} from "../job-row";
import { readError, resultOf } from "../job-view";
import { countJobs, listJobs } from "../list-jobs";
import { terminalStates } from "../transitions";
import { clearHistory, removeEndedByIds } from "./ended-jobs";

type Page = { max_items: number; offset: number };

export async function listHistory(reader: Reader, userId: number, page: Page): Promise<AsyncIterable<string>> {
  const status = [...terminalStates];
  const { seqs } = await listJobs(reader, userId, {
    status,
    sort_by: "create_time",
    sort_order: "desc",
    limit: page.max_items,
    offset: page.offset,
  });
  return streamList(`{"history":[`, listed(reader, await readJobs(reader, seqs)), "]}");
}

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
  return streamList("{", olderEntries(reader, await readJobs(reader, seqs)), "}");
}

async function* listed(reader: Reader, jobs: readonly StoredJob[]): AsyncIterable<string> {
  for await (const batch of batchBySize(reader, jobs)) {
    const seqs = batch.map((job) => job.seq);
    const results = await resultTexts(reader, seqs);
    const inputs = await extraDataTexts(reader, seqs);
    for (const job of batch) {
      if (!inputs.has(job.seq)) continue; // removed while the list is read
      const result = readOrDefault(() => resultOf(job, results), undefined);
      const error = readOrDefault(() => errorOf(job), {});
      const prompt = objectText({ priority: job.number, prompt_id: job.id }, { extra_data: inputs.get(job.seq)?.extra_data ?? "{}" });
      yield objectText(
        { prompt_id: job.id, create_time: job.create_time, workflow_id: job.workflow_id, ...error },
        { prompt, outputs: result?.outputs ?? "{}", status: result?.status ?? "{}", meta: result?.meta ?? "{}" },
      );
    }
  }
}

async function* olderEntries(reader: Reader, jobs: readonly StoredJob[]): AsyncIterable<string> {
  for await (const batch of batchBySize(reader, jobs)) {
    const texts = await entryTexts(reader, batch);
    for (const job of batch) {
      const entry = readOrDefault(() => olderEntryOf(job, texts), undefined);
      if (entry !== undefined) yield `${writeExactJson(job.id)}:${entry}`;
    }
  }
}

export async function toOlderEntry(reader: Reader, job: StoredJob): Promise<string | undefined> {
  return olderEntryOf(job, await entryTexts(reader, [job]));
}

export async function toHistoryEntry(reader: Reader, job: StoredJob): Promise<string | undefined> {
  const texts = await entryTexts(reader, [job]);
  const result = resultOf(job, texts.results);
  return (
    result && objectText(errorOf(job), { prompt: objectText({ priority: job.number, prompt_id: job.id }, inputsOf(job, texts)), ...result })
  );
}

type EntryTexts = Awaited<ReturnType<typeof entryTexts>>;

async function entryTexts(reader: Reader, jobs: readonly StoredJob[]) {
  const seqs = jobs.map((job) => job.seq);
  return { inputs: await inputTexts(reader, seqs), results: await resultTexts(reader, seqs) };
}

function olderEntryOf(job: StoredJob, texts: EntryTexts): string | undefined {
  const result = resultOf(job, texts.results);
  if (!result) return undefined;
  const { prompt, extra_data, outputs_to_execute } = inputsOf(job, texts);
  const tuple = listText([String(job.number), writeExactJson(job.id), prompt, extra_data, outputs_to_execute]);
  return objectText(
    readOrDefault(() => errorOf(job), {}),
    { prompt: tuple, ...result },
  );
}

function inputsOf({ seq }: StoredJob, { inputs }: EntryTexts) {
  const { prompt, extra_data, outputs_to_execute } = requireTexts(inputs.get(seq) ?? noInputs);
  return { prompt, extra_data, outputs_to_execute };
}

const noInputs = { prompt: "{}", extra_data: "{}", outputs_to_execute: "[]" };

function errorOf(job: StoredJob): { error_message?: string } {
  const error = readError(job);
  return error === undefined ? {} : { error_message: error };
}

type HistoryParts = { database: Database; now: () => number };

export async function manageHistory({ database, now }: HistoryParts, userId: number, body: ManageBody): Promise<string> {
  if (!body.clear) return `${await removeEndedByIds(database, userId, body.delete ?? [])} removed from the history.`;
  return `The history was cleared: ${await clearHistory(database, userId, now())} removed.`;
}
