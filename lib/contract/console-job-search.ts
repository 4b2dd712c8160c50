// Finding jobs in the console's ledger: what may be asked, in an address of Jobs or History and of the route behind them, and what comes back.
// Components import the types only; what a browser needs of it is in job-search.ts.

import { z } from "zod";
import { integerText, maybe } from "./schemas/lenient";
import { jobsQuerySchema, type JobsAnswer } from "./schemas/job";

const ms = integerText({ min: 0 });

/** `text` is words; `from` (included) and `to` (excluded) are milliseconds since 1970; `within` is hours back from now; `member` is an id. */
const searchSchema = z.object({
  text: maybe(z.string().trim().min(1).max(200)),
  member: maybe(z.string().trim().min(1).max(200)),
  from: maybe(ms),
  to: maybe(ms),
  within: maybe(integerText({ min: 1, max: 24 * 366 })),
});
export type JobSearch = z.infer<typeof searchSchema>;

export const jobSearchQuerySchema = jobsQuerySchema.extend(searchSchema.shape);
export type JobSearchQuery = z.infer<typeof jobSearchQuerySchema>;

export type JobReach = {
  /** `reading`: older jobs are still being read. `newest`: the ledger keeps, or the service lists, no more than the newest. */
  extent: "all" | "newest" | "reading";
  /** Every job since then is found; absent where nothing was read yet. */
  sinceMs?: number;
  /** So many jobs are known of which the inputs have not been read. */
  unread: number;
  /** The service did not answer just now: what is shown was so then. */
  asOfMs?: number;
};
export type JobSearchAnswer = JobsAnswer & { reach: JobReach };

/** Who submitted jobs through the console, on one connection. */
export type JobPeople = { people: { id: string; name: string }[] };
