import { type RawBuilder, type Selectable, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph, graphSchema } from "@/lib/contract/schemas/graph";
import { ServiceError, toErrorBody } from "../service-error";
import { query, type Reader } from "../store/database";
import { type StoreDialect } from "../store/dialect";
import { type JobRow } from "../store/schema";

const DAMAGED_MESSAGE =
  "The stored job is damaged and cannot be read. The operator can restore it from a backup. Removing it from the history removes it from every list.";

export type StoredJob = Selectable<JobRow>;

export async function findJob(reader: Reader, userId: number, id: string): Promise<StoredJob | undefined> {
  return reader.row(query.selectFrom("jobs").selectAll().where("id", "=", id).where("user_id", "=", userId));
}

export async function findJobIds(reader: Reader, userId: number, ids: readonly string[]): Promise<Set<string>> {
  const existingIds = query
    .selectFrom("jobs")
    .select("id")
    .where("id", "in", reader.dialect.texts(ids))
    .where(sql<boolean>`${reader.dialect.rowByRow("user_id")} = ${userId}`);
  return new Set((await reader.rows(existingIds)).map(({ id }) => id));
}

export async function readJobs(reader: Reader, seqs: readonly number[]): Promise<StoredJob[]> {
  return reader.rows(reader.dialect.selectInOrder<StoredJob>("jobs.*", "jobs", seqs));
}

/** Parses the text that was checked on submission. Remote runners get the graph unchanged, because they parse values themselves. */
export function readGraph(inputs: { prompt: string; graph: string }, isRemote: boolean): Graph {
  return graphSchema.parse(parseExactJson(isRemote || inputs.graph === "" ? inputs.prompt : inputs.graph));
}

export function readRecord(text: string): Record<string, unknown> {
  const value = parseStored(text);
  return isObject(value) ? value : {};
}

export function readStrings(text: string): string[] {
  const value = parseStored(text);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/** For the details of one job, which report damaged content. */
function parseStored(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw createDamagedJobError(cause);
  }
}

export function createDamagedJobError(cause?: unknown): ServiceError {
  return new ServiceError("INTERNAL", DAMAGED_MESSAGE, undefined, { cause });
}

/** For lists, in which damaged content becomes empty, so that one damaged row doesn't break the others. */
export function readOrDefault<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch (error) {
    if (toErrorBody(error)?.message !== DAMAGED_MESSAGE) throw error;
    return fallback;
  }
}

function selectIfJson({ isJson }: StoreDialect, column: string, text = column): RawBuilder<string | null> {
  return sql.raw(`case when ${isJson(column)} then ${text} end`);
}

/** Lists omit the editor's workflow, which is by far the largest part. Longer texts are returned only with the job itself. */
const MAX_LISTED_LENGTH = 64 * 1024;
const selectWithoutWorkflow = (dialect: StoreDialect) =>
  selectIfJson(dialect, "extra_data", dialect.removeMember("extra_data", "workflow", "extra_pnginfo"));

type Texts<Column extends string> = Readonly<Record<Column, string | null>>;
type InputTexts = Texts<"prompt" | "extra_data" | "outputs_to_execute">;
type ByJob<T> = ReadonlyMap<number, T>;

export async function readInputTexts(reader: Reader, seqs: readonly number[]): Promise<ByJob<InputTexts>> {
  const columns = (["prompt", "extra_data", "outputs_to_execute"] as const).map((column) =>
    selectIfJson(reader.dialect, column).as(column),
  );
  return toJobMap(await reader.rows(selectByJobs(reader, "job_inputs", seqs).select(columns)));
}

export async function readQueuedTexts(reader: Reader, seqs: readonly number[]): Promise<ByJob<Texts<"prompt" | "outputs_to_execute">>> {
  const columns = (["prompt", "outputs_to_execute"] as const).map((column) => selectIfJson(reader.dialect, column).as(column));
  return toJobMap(await reader.rows(selectByJobs(reader, "job_inputs", seqs).select(columns)));
}

export async function readExtraDataTexts(reader: Reader, seqs: readonly number[]): Promise<ByJob<Texts<"extra_data">>> {
  const rows = await reader.rows(selectByJobs(reader, "job_inputs", seqs).select(selectWithoutWorkflow(reader.dialect).as("extra_data")));
  const isLong = (text: string | null) => text !== null && text.length > MAX_LISTED_LENGTH;
  return toJobMap(rows.map((row) => (isLong(row.extra_data) ? { ...row, extra_data: "{}" } : row)));
}

export async function readResultTexts(reader: Reader, seqs: readonly number[]): Promise<ByJob<Texts<"outputs" | "messages" | "meta">>> {
  const columns = (["outputs", "messages", "meta"] as const).map((column) => selectIfJson(reader.dialect, column).as(column));
  return toJobMap(await reader.rows(selectByJobs(reader, "job_results", seqs).select(columns)));
}

function selectByJobs({ dialect }: Reader, table: "job_inputs" | "job_results", seqs: readonly number[]) {
  return query.selectFrom(table).select("job_seq").where("job_seq", "in", dialect.numbers(seqs));
}

function toJobMap<Row extends { job_seq: number }>(rows: readonly Row[]): Map<number, Row> {
  return new Map(rows.map((row) => [row.job_seq, row]));
}

export function requireTexts<Column extends string>(texts: Texts<Column>): Readonly<Record<Column, string>> {
  if (!isComplete(texts)) throw createDamagedJobError();
  return texts;
}

function isComplete<Column extends string>(texts: Texts<Column>): texts is Readonly<Record<Column, string>> {
  return !Object.values(texts).includes(null);
}

const MAX_BATCH_LENGTH = 256 * 1024;

/** Batches jobs in order by text length, to avoid one query per job and more than one long graph in memory. */
export async function* batchBySize<Job extends { seq: number }>(reader: Reader, jobs: readonly Job[]): AsyncIterable<Job[]> {
  const length = sql<number>`octet_length(prompt) + octet_length(extra_data)
    + coalesce((select octet_length(outputs) + octet_length(messages) from job_results where job_seq = job_inputs.job_seq), 0)`;
  const seqs = jobs.map((job) => job.seq);
  const lengths = toJobMap(await reader.rows(selectByJobs(reader, "job_inputs", seqs).select(length.as("length"))));
  let batch: Job[] = [];
  let batchLength = 0;
  for (const job of jobs) {
    const jobLength = lengths.get(job.seq)?.length ?? 0;
    if (batch.length > 0 && batchLength + jobLength > MAX_BATCH_LENGTH) {
      yield batch;
      [batch, batchLength] = [[], 0];
    }
    batch.push(job);
    batchLength += jobLength;
  }
  if (batch.length > 0) yield batch;
}

export function formatObject(fields: Record<string, unknown>, texts: Readonly<Record<string, string>>): string {
  const fieldsText = writeExactJson(fields).slice(1, -1);
  const members = Object.entries(texts).map(([name, text]) => `${writeExactJson(name)}:${text}`);
  return `{${[...(fieldsText === "" ? [] : [fieldsText]), ...members].join(",")}}`;
}

export function formatList(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

export async function* streamList(prefix: string, items: AsyncIterable<string>, suffix: string): AsyncIterable<string> {
  yield prefix;
  let isFirst = true;
  for await (const item of items) {
    yield isFirst ? item : `,${item}`;
    isFirst = false;
  }
  yield suffix;
}
