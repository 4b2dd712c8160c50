// Statements that kysely's builder cannot say (a named index, a full-text match), or that run too often to be built each time, as
// ones that the database runs. Values are bound, never joined into the text.

import { CompiledQuery, type RawBuilder, sql } from "kysely";
import { writeExactJson } from "@/lib/contract/json/exact-json";
import { query } from "./database";

type Statement<R> = { compile(): CompiledQuery<R> };

export function statement<R>(text: RawBuilder<R>): Statement<R> {
  return { compile: () => text.compile(query) };
}

export function plainStatement<R>(text: string, values: readonly (string | number)[] = []): Statement<R> {
  return { compile: () => CompiledQuery.raw(text, [...values]) as CompiledQuery<R> }; // the caller names what the text answers
}

/** For `in`: one text of a statement for however many there are. */
export function numbers(values: readonly number[]): RawBuilder<number> {
  return sql<number>`(select value from json_each(${writeExactJson(values)}))`;
}
