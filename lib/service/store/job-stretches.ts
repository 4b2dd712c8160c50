// How finely the counts of jobs by time and by duration are cut; shared by the tables that keep them and the list that reads them.
// Must never change without a migration: the counts in existing databases are cut this way.

import { type JobsQuery } from "@/lib/contract/schemas/job";

export type SortBy = JobsQuery["sort_by"];

/** A stretch holds the values that are equal after that many bits are dropped; how many it takes is for the migration to say. */
export const stretches = {
  create_time: [
    { kind: 0, bits: 26 },
    { kind: 1, bits: 17 },
  ],
  execution_time: [
    { kind: 2, bits: 13 },
    { kind: 3, bits: 3 },
  ],
} as const satisfies Record<SortBy, readonly { kind: number; bits: number }[]>;
