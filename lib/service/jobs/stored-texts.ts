// What is stored of a job as JSON goes into answers as the text that it is: a graph of thousands of nodes that is polled is neither
// read nor written anew, and no digit of it can change.
// Guarantees: an answer is JSON however damaged its row is, because the database looks through every text first (a fifth of the time of reading it).

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { query, type Reader } from "../store/database";
import { type StoreDialect } from "../store/dialect/dialect";
import { damaged } from "./job-row";

/** Null for a text that is damaged. `text`: of the column, as it is told. */
function sound({ isJson }: StoreDialect, column: string, text = column): RawBuilder<string | null> {
  return sql.raw(`case when ${isJson(column)} then ${text} end`);
}

/** The editor's drawing is by far the largest part of it, and lists leave it out. What is longer still is told of one job alone. */
const LONGEST_IN_LIST = 64 * 1024;
const withoutDrawing = (dialect: StoreDialect) =>
  sound(dialect, "extra_data", dialect.withoutMember("extra_data", "workflow", "extra_pnginfo"));

export async function inputTexts(reader: Reader, seq: number) {
  const columns = (["prompt", "extra_data", "outputs_to_execute"] as const).map((column) => sound(reader.dialect, column).as(column));
  const row = await reader.row(query.selectFrom("job_inputs").select(columns).where("job_seq", "=", seq));
  return row && { prompt: whole(row.prompt), extra_data: whole(row.extra_data), outputs_to_execute: whole(row.outputs_to_execute) };
}

export async function extraDataText(reader: Reader, seq: number): Promise<string | undefined> {
  const row = await reader.row(
    query.selectFrom("job_inputs").select(withoutDrawing(reader.dialect).as("extra_data")).where("job_seq", "=", seq),
  );
  const text = row && whole(row.extra_data);
  return text !== undefined && text.length > LONGEST_IN_LIST ? "{}" : text;
}

export async function resultTexts(reader: Reader, seq: number) {
  const columns = (["outputs", "messages", "meta"] as const).map((column) => sound(reader.dialect, column).as(column));
  const row = await reader.row(query.selectFrom("job_results").select(columns).where("job_seq", "=", seq));
  return row && { outputs: whole(row.outputs), messages: whole(row.messages), meta: whole(row.meta) };
}

/** For the queue, where a damaged row is empty among the others. */
export async function queuedTexts(reader: Reader, seq: number) {
  const columns = [
    sound(reader.dialect, "prompt").as("prompt"),
    sound(reader.dialect, "outputs_to_execute").as("outputs_to_execute"),
  ] as const;
  const row = await reader.row(query.selectFrom("job_inputs").select(columns).where("job_seq", "=", seq));
  return row && { prompt: row.prompt ?? "{}", outputs: row.outputs_to_execute ?? "[]" };
}

function whole(text: string | null): string {
  if (text === null) throw damaged();
  return text;
}

/** An object's JSON, some of whose fields are JSON already. */
export function objectText(fields: Record<string, unknown>, texts: Readonly<Record<string, string>>): string {
  const written = writeExactJson(fields).slice(1, -1);
  const members = Object.entries(texts).map(([name, text]) => `${writeExactJson(name)}:${text}`);
  return `{${[...(written === "" ? [] : [written]), ...members].join(",")}}`;
}

export function listText(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

/** Piece by piece, for what may be longer than anybody wants to hold. */
export async function* inPieces(open: string, items: AsyncIterable<string>, close: string): AsyncIterable<string> {
  yield open;
  let isFirst = true;
  for await (const item of items) {
    yield isFirst ? item : `,${item}`;
    isFirst = false;
  }
  yield close;
}
