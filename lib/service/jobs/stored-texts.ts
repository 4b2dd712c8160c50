// What is stored of a job as JSON goes into answers as the text that it is: a graph of thousands of nodes that is polled is neither
// read nor written anew, and no digit of it can change.
// Guarantees: an answer is JSON however damaged its row is, because SQLite looks through every text first (a fifth of the time of reading it).

import { type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { query, type Reader } from "../store/database";
import { damaged } from "./job-row";

/** Null for a text that is damaged. */
function sound(column: string): RawBuilder<string | null> {
  return sql<string | null>`iif(json_valid(${sql.ref(column)}), ${sql.ref(column)}, null)`;
}

/** The editor's drawing is by far the largest part of it, and lists leave it out. What is longer still is told of one job alone. */
const LONGEST_IN_LIST = 64 * 1024;
const withoutDrawing = sql<string | null>`iif(json_valid(extra_data), json_remove(extra_data, '$.extra_pnginfo.workflow'), null)`;

export async function inputTexts(reader: Reader, seq: number) {
  const columns = (["prompt", "extra_data", "outputs_to_execute"] as const).map((column) => sound(column).as(column));
  const row = await reader.row(query.selectFrom("job_inputs").select(columns).where("job_seq", "=", seq));
  return row && { prompt: whole(row.prompt), extra_data: whole(row.extra_data), outputs_to_execute: whole(row.outputs_to_execute) };
}

export async function extraDataText(reader: Reader, seq: number): Promise<string | undefined> {
  const row = await reader.row(query.selectFrom("job_inputs").select(withoutDrawing.as("extra_data")).where("job_seq", "=", seq));
  const text = row && whole(row.extra_data);
  return text !== undefined && text.length > LONGEST_IN_LIST ? "{}" : text;
}

export async function resultTexts(reader: Reader, seq: number) {
  const columns = (["outputs", "messages", "meta"] as const).map((column) => sound(column).as(column));
  const row = await reader.row(query.selectFrom("job_results").select(columns).where("job_seq", "=", seq));
  return row && { outputs: whole(row.outputs), messages: whole(row.messages), meta: whole(row.meta) };
}

/** For the queue, where a damaged row is empty among the others. */
export async function queuedTexts(reader: Reader, seq: number) {
  const columns = [sound("prompt").as("prompt"), sound("outputs_to_execute").as("outputs_to_execute")] as const;
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
