// Rows of jobs as the engine and the views read them.

import { type Selectable, sql } from "kysely";
import { isObject } from "@/lib/contract/json/json";
import { parseExactJson } from "@/lib/contract/json/parse-json";
import { type Graph, graphSchema } from "@/lib/contract/schemas/graph";
import { asRefusal, ServiceError } from "../service-error";
import { query, type Reader } from "../store/database";
import { type JobRow } from "../store/schema";
import { isBeingCleared, isCleared, wasCleared } from "./history-cleared";
import { isUnfinished } from "./transitions";

const DAMAGED =
  "What the service stored of this job is damaged and cannot be read. Whoever runs the service can restore it from a backup; removing the job from the history removes it from every list.";

export type StoredJob = Selectable<JobRow>;

/** A job whose history was cleared no longer exists, though its row may still be stored. */
export async function findJob(reader: Reader, userId: number, id: string): Promise<StoredJob | undefined> {
  const job = await reader.row(query.selectFrom("jobs").selectAll().where("id", "=", id).where("user_id", "=", userId));
  return job && (await isCleared(reader, job)) ? undefined : job;
}

/** Which of `ids` exist for the user, by the same rule as findJob. */
export async function findJobIds(reader: Reader, userId: number, ids: readonly string[]): Promise<Set<string>> {
  const isShown = (await isBeingCleared(reader, userId)) ? sql<boolean>`(${isUnfinished} or not ${wasCleared})` : sql<boolean>`true`;
  const found = query
    .selectFrom("jobs")
    .select("id")
    .where("id", "in", reader.dialect.texts(ids))
    .where(sql<boolean>`${reader.dialect.rowByRow("user_id")} = ${userId}`)
    .where(isShown);
  return new Set((await reader.rows(found)).map(({ id }) => id));
}

/** In the order of `seqs`. */
export async function readJobs(reader: Reader, seqs: readonly number[]): Promise<StoredJob[]> {
  return reader.rows(reader.dialect.inOrder<StoredJob>("jobs.*", "jobs", seqs));
}

/** Reads the text that was checked on submission. A runner gets the graph unchanged: it parses values itself. */
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

/** For the details of one job: damaged content is reported, not read as empty. */
function parseStored(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    throw damaged(cause);
  }
}

export function damaged(cause?: unknown): ServiceError {
  return new ServiceError("INTERNAL", DAMAGED, undefined, { cause });
}

/** For a list: what cannot be read is left empty, so that one damaged row does not break the others. */
export function orEmpty<T>(read: () => T, empty: T): T {
  try {
    return read();
  } catch (error) {
    if (asRefusal(error)?.message !== DAMAGED) throw error;
    return empty;
  }
}
