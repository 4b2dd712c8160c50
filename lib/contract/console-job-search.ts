// Finding jobs in the console's ledger: the query, in an address of Jobs or History and of the route behind them, and the answer.
// Components import the types only; the part that browsers need is in jobs/job-search.ts.

import { type z } from "zod";
import { jobParams, searchParams } from "./jobs/job-search";
import { type JobsAnswer } from "./schemas/job";
import { querySchema } from "./schemas/lenient";

export const jobSearchQuerySchema = querySchema({ ...jobParams, ...searchParams });
export type JobSearchQuery = z.infer<typeof jobSearchQuerySchema>;

export type JobReach = {
  /** `reading`: older jobs are still being read. `newest`: the ledger keeps, or the service lists, only the newest. */
  extent: "all" | "newest" | "reading";
  /** Every job since then is found; absent if nothing was read yet. */
  sinceMs?: number;
  /** How many known jobs have inputs that have not been read. */
  unread: number;
  /** The service did not answer just now: this is the state at that time. */
  asOfMs?: number;
};
export type JobSearchAnswer = JobsAnswer & { reach: JobReach };

/** Members who submitted jobs through the console, on one connection. */
export type JobPeople = { people: { id: string; name: string }[] };
