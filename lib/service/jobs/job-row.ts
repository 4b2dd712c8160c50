// Rows of jobs as the engine and the views read them.

import { type Selectable } from "kysely";
import { type Graph, graphSchema } from "@/lib/contract/schemas/graph";
import { parseExactJson, writeExactJson } from "@/lib/contract/json/exact-json";
import { asRefusal, ServiceError } from "../service-error";
import { type Database, query } from "../store/database";
import { type JobRow } from "../store/schema";
import { plainStatement } from "../store/statement";
import { isCleared } from "./history-cleared";

const DAMAGED =
  "What the service stored of this job is damaged and cannot be read. Whoever runs the service can restore it from a backup; removing the job from the history removes it from every list.";

export type StoredJob = Selectable<JobRow>;

/** A job whose history was cleared is gone, though its row may still be there. */
export function findJob(database: Database, userId: number, id: string): StoredJob | undefined {
  const job = database.row(query.selectFrom("jobs").selectAll().where("id", "=", id).where("user_id", "=", userId));
  return job && isCleared(database, job) ? undefined : job;
}

const READ = "SELECT jobs.* FROM (SELECT value AS wanted FROM json_each(?)) CROSS JOIN jobs ON seq = wanted";

/** In the order of the numbers. */
export function readJobs(database: Database, seqs: readonly number[]): StoredJob[] {
  return database.rows(plainStatement<StoredJob>(READ, [writeExactJson(seqs)]));
}

/** The text that was checked at acceptance. */
export function readGraph(inputs: { prompt: string; graph: string }): Graph {
  return graphSchema.parse(parseExactJson(inputs.graph === "" ? inputs.prompt : inputs.graph));
}

export function readRecord(text: string): Record<string, unknown> {
  const value = parseStored(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function readStrings(text: string): string[] {
  const value = parseStored(text);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

/** The details of one job: what is damaged is said, and not taken for empty. */
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

/** In a list: what cannot be read is left empty, so that one damaged row does not take all others with it. */
export function orEmpty<T>(read: () => T, empty: T): T {
  try {
    return read();
  } catch (error) {
    if (asRefusal(error)?.message !== DAMAGED) throw error;
    return empty;
  }
}
