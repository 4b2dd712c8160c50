// Filters for jobs, and which of them the ledger answers instead of the service. Free of zod: browsers load it with the first page.

import { type Params, type ValuesOf } from "../params";
import { jobStates } from "./states";

export const outputTypes = ["image", "video", "audio"] as const;

export const jobParams = {
  status: { kind: "words", values: jobStates },
  workflow_id: { kind: "text", most: 200 },
  output_type: { kind: "word", values: outputTypes },
  sort_by: { kind: "word", values: ["create_time", "execution_time"], usual: "create_time" },
  sort_order: { kind: "word", values: ["asc", "desc"], usual: "desc" },
  offset: { kind: "integer", min: 0, usual: 0 },
  limit: { kind: "integer", min: 1, max: 1000, usual: 100 },
} as const satisfies Params;

/** `text` is words; `from` (included) and `to` (excluded) are milliseconds since 1970; `within` is hours back from now; `member` is an id. */
export const searchParams = {
  text: { kind: "text", most: 200, isTrimmed: true },
  member: { kind: "text", most: 200, isTrimmed: true },
  from: { kind: "integer", min: 0 },
  to: { kind: "integer", min: 0 },
  within: { kind: "integer", min: 1, max: 24 * 366 },
} as const satisfies Params;
export type JobSearch = ValuesOf<typeof searchParams>;

export const searchNames: readonly string[] = Object.keys(searchParams);

export function isSearch(query: JobSearch): boolean {
  return searchNames.some((name) => Reflect.get(query, name) !== undefined);
}
