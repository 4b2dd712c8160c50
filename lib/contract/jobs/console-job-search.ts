// Finding jobs in the console's ledger: what may be asked, in an address of Jobs or History and of the route behind them, and what comes back.
// Components import the types only; what a browser needs of it is in job-search.ts.

import { type z } from "zod";
import { jobParams, searchParams } from "./job-search";
import { querySchema } from "../schemas/lenient";
import { type JobsAnswer } from "../schemas/job";

export const jobSearchQuerySchema = querySchema({ ...jobParams, ...searchParams });
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
