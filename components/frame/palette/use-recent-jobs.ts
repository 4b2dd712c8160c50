import { useEffect, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type JobReach, type JobSearchAnswer } from "@/lib/contract/console";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { useSeenConnection } from "../connection/connection-context";
import { useSought } from "./use-sought";

const NEWEST = 100;

/** The newest jobs, requested once when the commands open; if that fails, pages and actions still work. */
export function useRecentJobs(): readonly JobListItem[] {
  const connection = useSeenConnection()?.id;
  const [jobs, setJobs] = useState<readonly JobListItem[]>([]);
  useEffect(() => {
    if (!connection) return;
    const leaving = new AbortController();
    void callApi<JobsAnswer>(withQuery("/api/jobs", { limit: NEWEST, connection }), { signal: leaving.signal }).then((result) => {
      if (result.ok && !leaving.signal.aborted) setJobs(result.value.jobs);
    });
    return () => leaving.abort();
  }, [connection]);
  return jobs;
}

const SHORTEST = 2;
const MOST_FOUND = 12;
export type FoundJobs = { text: string; jobs: readonly JobListItem[]; reach?: JobReach; failure?: ApiFailure };

/** Jobs of any age, by words of their prompt, error, workflow name or person's name. */
export function useFoundJobs(typed: string): FoundJobs | undefined {
  const connection = useSeenConnection()?.id;
  const text = typed.trim();
  const isAsked = text.length >= SHORTEST && connection !== undefined;
  const path = isAsked ? withQuery("/api/console/jobs/search", { text, limit: MOST_FOUND, connection }) : undefined;
  return useSought<JobSearchAnswer, FoundJobs>(path, (result) =>
    result.ok ? { text, jobs: result.value.jobs, reach: result.value.reach } : { text, jobs: [], failure: result.failure },
  );
}

export type SoughtJob = { id: string } & (
  { kind: "asking" } | { kind: "found"; job: JobListItem } | { kind: "failed"; failure: ApiFailure }
);

/** The job with this id, if it is not among the newest. */
export function useSoughtJob(id: string | undefined): SoughtJob | undefined {
  const connection = useSeenConnection()?.id;
  const path = id === undefined || !connection ? undefined : withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const answer = useSought<JobListItem, SoughtJob>(path, (result) => ({
    id: id ?? "",
    ...(result.ok ? { kind: "found", job: result.value } : { kind: "failed", failure: result.failure }),
  }));
  if (id === undefined || !connection) return undefined;
  return answer?.id === id ? answer : { id, kind: "asking" };
}
