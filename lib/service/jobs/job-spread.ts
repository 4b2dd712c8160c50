// How a user's jobs are spread over time and over durations: kept counts of coarse and of fine stretches, by state.
// They say near which value a deep page of the list begins, so that a walk starts there and not at the first job.

import { sql } from "kysely";
import { type KnownJobState } from "@/lib/contract/states";
import { type Database, query } from "../store/database";
import { type SortBy, stretches } from "../store/job-stretches";

export type Place = { userId: number; states?: readonly KnownJobState[]; sortBy: SortBy; descending: boolean; offset: number };

/** The first value to look at, and how many matching jobs of that value on (in the order asked for) are still to be left out. */
export function findStart(database: Database, place: Place): { value: number; offset: number } | undefined {
  let within: { from: number; to: number } | undefined;
  let left = place.offset;
  for (const { kind, bits } of stretches[place.sortBy]) {
    const found = database.rows(countsOf(place, kind, bits, within)).find(({ n }) => {
      if (n > left) return true;
      left -= n;
      return false;
    });
    if (!found) return undefined;
    const size = 2 ** bits;
    within = { from: found.bucket * size, to: (found.bucket + 1) * size - 1 };
  }
  return within && { value: place.descending ? within.to : within.from, offset: left };
}

function countsOf({ userId, states, descending }: Place, kind: number, bits: number, within?: { from: number; to: number }) {
  let counts = query
    .selectFrom("job_spread")
    .select(({ fn }) => ["bucket", fn.sum<number>("n").as("n")])
    .where("user_id", "=", userId)
    .where("kind", "=", kind);
  if (states) counts = counts.where(sql<boolean>`state in (${sql.join(states.map((state) => sql.lit(state)))})`);
  if (within)
    counts = counts.where("bucket", ">=", Math.floor(within.from / 2 ** bits)).where("bucket", "<=", Math.floor(within.to / 2 ** bits));
  return counts.groupBy("bucket").orderBy("bucket", descending ? "desc" : "asc");
}
