// Which questions about jobs the console's ledger answers, and not the service. Free of zod: browsers load it with the first page.

import { type JobSearch } from "./console-job-search";

export const searchNames = ["text", "member", "from", "to", "within"] as const satisfies readonly (keyof JobSearch)[];

export function isSearch(query: JobSearch): boolean {
  return searchNames.some((name) => query[name] !== undefined);
}
