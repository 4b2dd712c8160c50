// Statements that kysely's builder cannot express (a named index, a full-text match), or that run too often to be built each time, in the
// form that the database runs. Values are bound, never joined into the text.

import { CompiledQuery, type RawBuilder } from "kysely";
import { query } from "./database";

type Statement<R> = { compile(): CompiledQuery<R> };

export function statement<R>(text: RawBuilder<R>): Statement<R> {
  return { compile: () => text.compile(query) };
}

export function plainStatement<R>(text: string, values: readonly unknown[] = []): Statement<R> {
  return { compile: () => CompiledQuery.raw(text, [...values]) as CompiledQuery<R> }; // the caller declares what the text returns
}
