// A statement that kysely's builder cannot say (a named index, a full-text match) as one that the database runs.
// Values are bound, never joined into the text.

import { type CompiledQuery, type RawBuilder } from "kysely";
import { query } from "./database";

export function statement<R>(text: RawBuilder<R>): { compile(): CompiledQuery<R> } {
  return { compile: () => text.compile(query) };
}
