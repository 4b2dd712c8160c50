"use client";

import { useEffect, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type JobReach, type JobSearchAnswer } from "@/lib/contract/console-job-search";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { useConnection } from "../connection-context";

const NEWEST = 100;
/** Nobody is asked for each letter of an id that is being typed. */
const PAUSE_MS = 200;

/** The newest jobs, asked for once when the commands open; where they cannot be had, pages and actions still work. */
export function useRecentJobs(): readonly JobListItem[] {
  const connection = useConnection()?.id;
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

/** Jobs by words of their prompt, their error, their workflow's or person's name, however old. What was found stays while the next is looked for. */
export function useFoundJobs(typed: string): FoundJobs | undefined {
  const connection = useConnection()?.id;
  const text = typed.trim();
  const [answer, setAnswer] = useState<FoundJobs>();
  const isAsked = text.length >= SHORTEST && connection !== undefined;
  useEffect(() => {
    if (!isAsked) return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const path = withQuery("/api/console/jobs/search", { text, limit: MOST_FOUND, connection });
      const result = await callApi<JobSearchAnswer>(path, { signal: leaving.signal });
      if (leaving.signal.aborted) return;
      setAnswer(result.ok ? { text, jobs: result.value.jobs, reach: result.value.reach } : { text, jobs: [], failure: result.failure });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [isAsked, text, connection]);
  return isAsked ? answer : undefined;
}

export type SoughtJob = { id: string } & (
  { kind: "asking" } | { kind: "found"; job: JobListItem } | { kind: "failed"; failure: ApiFailure }
);

/** The job of an id that is not among the newest. */
export function useSoughtJob(id: string | undefined): SoughtJob | undefined {
  const connection = useConnection()?.id;
  const [answer, setAnswer] = useState<SoughtJob>();
  useEffect(() => {
    if (id === undefined || !connection) return;
    const leaving = new AbortController();
    const timer = setTimeout(async () => {
      const path = withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
      const result = await callApi<JobListItem>(path, { signal: leaving.signal });
      if (leaving.signal.aborted) return;
      setAnswer(result.ok ? { id, kind: "found", job: result.value } : { id, kind: "failed", failure: result.failure });
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [id, connection]);
  if (id === undefined || !connection) return undefined;
  return answer?.id === id ? answer : { id, kind: "asking" };
}
