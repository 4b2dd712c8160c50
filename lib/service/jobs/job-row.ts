// Rows of jobs as the engine and the views read them.

import { type Selectable } from "kysely";
import { type Graph, graphSchema } from "@/lib/contract/schemas/graph";
import { type Database, query } from "../store/database";
import { type JobRow } from "../store/schema";

export type StoredJob = Selectable<JobRow>;

export function findJob(database: Database, userId: number, id: string): StoredJob | undefined {
  return database.row(query.selectFrom("jobs").selectAll().where("id", "=", id).where("user_id", "=", userId));
}

/** The text that was checked at acceptance. */
export function readGraph(inputs: { prompt: string; graph: string }): Graph {
  return graphSchema.parse(JSON.parse(inputs.graph === "" ? inputs.prompt : inputs.graph));
}

export function readRecord(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function readStrings(text: string): string[] {
  const value: unknown = JSON.parse(text);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}
