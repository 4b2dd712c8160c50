"use client";

import { type PlaceOf, usePlace } from "@/components/frame/use-place";
import { type JobsQuery } from "@/lib/contract/schemas/job";
import { jobsHref, type JobsPlace } from "./jobs-address";

export type JobsChange = Partial<JobsQuery>;
export type Place = PlaceOf<JobsQuery>;

export function useJobsPlace(query: JobsQuery, place: JobsPlace): Place {
  return usePlace(query, (next) => jobsHref(next, place));
}
