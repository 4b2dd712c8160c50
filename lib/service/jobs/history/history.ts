import { writeExactJson } from "@/lib/contract/json/exact-json";
import { type ManageBody } from "@/lib/contract/schemas/job";
import { type Database, type Reader } from "@/lib/service/store/database";
import {
  batchBySize,
  formatList,
  formatObject,
  readExtraDataTexts,
  readInputTexts,
  readJobs,
  readOrDefault,
  readResultTexts,
  requireTexts,
  type StoredJob,
  streamList,
} from "../job-row";
import { getResult, readError } from "../job-view";
import { countJobs, listJobs } from "../list-jobs";
import { terminalStates } from "../transitions";
import { clearHistory, removeEndedByIds } from "./ended-jobs";

type HistoryPage = { max_items: number; offset: number };

export async function listHistory(database: Database, userId: number, page: HistoryPage): Promise<AsyncIterable<string>> {
  const jobs = await database.readSnapshot((reader) => readPage(reader, userId, page, "desc"));
  return streamList(`{"history":[`, toListEntries(database, jobs), "]}");
}

export async function listOlderHistory(database: Database, userId: number, page: HistoryPage): Promise<AsyncIterable<string>> {
  const jobs = await database.readSnapshot(async (reader) => {
    const getLastOffset = async () => Math.max(0, (await countJobs(reader, userId, terminalStates)) - page.max_items);
    return readPage(reader, userId, { ...page, offset: page.offset < 0 ? await getLastOffset() : page.offset }, "asc");
  });
  return streamList("{", toOlderEntries(database, jobs), "}");
}

async function readPage(reader: Reader, userId: number, { max_items, offset }: HistoryPage, sort_order: "asc" | "desc") {
  const order = { sort_by: "create_time", sort_order } as const;
  const { seqs } = await listJobs(reader, userId, { status: [...terminalStates], ...order, limit: max_items, offset });
  return readJobs(reader, seqs);
}

async function* toListEntries(reader: Reader, jobs: readonly StoredJob[]): AsyncIterable<string> {
  for await (const batch of batchBySize(reader, jobs)) {
    const seqs = batch.map((job) => job.seq);
    const results = await readResultTexts(reader, seqs);
    const inputs = await readExtraDataTexts(reader, seqs);
    for (const job of batch) {
      if (!inputs.has(job.seq)) continue; // removed while the list was read
      const result = readOrDefault(() => getResult(job, results), undefined);
      const error = readOrDefault(() => getError(job), {});
      const prompt = formatObject({ priority: job.number, prompt_id: job.id }, { extra_data: inputs.get(job.seq)?.extra_data ?? "{}" });
      yield formatObject(
        { prompt_id: job.id, create_time: job.create_time, workflow_id: job.workflow_id, ...error },
        { prompt, outputs: result?.outputs ?? "{}", status: result?.status ?? "{}", meta: result?.meta ?? "{}" },
      );
    }
  }
}

async function* toOlderEntries(reader: Reader, jobs: readonly StoredJob[]): AsyncIterable<string> {
  for await (const batch of batchBySize(reader, jobs)) {
    const texts = await readEntryTexts(reader, batch);
    for (const job of batch) {
      const entry = readOrDefault(() => formatOlderEntry(job, texts), undefined);
      if (entry !== undefined) yield `${writeExactJson(job.id)}:${entry}`;
    }
  }
}

export async function toOlderEntry(reader: Reader, job: StoredJob): Promise<string | undefined> {
  return formatOlderEntry(job, await readEntryTexts(reader, [job]));
}

export async function toHistoryEntry(reader: Reader, job: StoredJob): Promise<string | undefined> {
  const texts = await readEntryTexts(reader, [job]);
  const result = getResult(job, texts.results);
  return (
    result &&
    formatObject(getError(job), { prompt: formatObject({ priority: job.number, prompt_id: job.id }, getInputs(job, texts)), ...result })
  );
}

type EntryTexts = Awaited<ReturnType<typeof readEntryTexts>>;

async function readEntryTexts(reader: Reader, jobs: readonly StoredJob[]) {
  const seqs = jobs.map((job) => job.seq);
  return { inputs: await readInputTexts(reader, seqs), results: await readResultTexts(reader, seqs) };
}

function formatOlderEntry(job: StoredJob, texts: EntryTexts): string | undefined {
  const result = getResult(job, texts.results);
  if (!result) return undefined;
  const { prompt, extra_data, outputs_to_execute } = getInputs(job, texts);
  const tuple = formatList([String(job.number), writeExactJson(job.id), prompt, extra_data, outputs_to_execute]);
  return formatObject(
    readOrDefault(() => getError(job), {}),
    { prompt: tuple, ...result },
  );
}

function getInputs({ seq }: StoredJob, { inputs }: EntryTexts) {
  const { prompt, extra_data, outputs_to_execute } = requireTexts(inputs.get(seq) ?? emptyInputs);
  return { prompt, extra_data, outputs_to_execute };
}

const emptyInputs = { prompt: "{}", extra_data: "{}", outputs_to_execute: "[]" };

function getError(job: StoredJob): { error_message?: string } {
  const error = readError(job);
  return error === undefined ? {} : { error_message: error };
}

type HistoryDependencies = { database: Database; now: () => number };

export async function manageHistory({ database, now }: HistoryDependencies, userId: number, body: ManageBody): Promise<string> {
  if (!body.clear) return `${await removeEndedByIds(database, userId, body.delete ?? [])} removed from the history.`;
  return `The history was cleared: ${await clearHistory(database, userId, now())} removed.`;
}
