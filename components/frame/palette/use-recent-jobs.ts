import { useEffect, useEffectEvent, useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type JobReach, type JobSearchAnswer } from "@/lib/contract/console";
import { type JobListItem, type JobsAnswer } from "@/lib/contract/schemas/job";
import { type Result } from "@/lib/shared/result";
import { useSeenConnection } from "../connection/connection-context";

const RECENT_LIMIT = 100;

/** The newest jobs, requested once when the commands open; if that fails, pages and actions still work. */
export function useRecentJobs(): readonly JobListItem[] {
  const connection = useSeenConnection()?.id;
  const [jobs, setJobs] = useState<readonly JobListItem[]>([]);
  useEffect(() => {
    if (!connection) return;
    const controller = new AbortController();
    void callApi<JobsAnswer>(withQuery("/api/jobs", { limit: RECENT_LIMIT, connection }), { signal: controller.signal }).then((result) => {
      if (result.ok && !controller.signal.aborted) setJobs(result.value.jobs);
    });
    return () => controller.abort();
  }, [connection]);
  return jobs;
}

const MIN_LENGTH = 2;
const MAX_FOUND = 12;
export type FoundJobs = { text: string; jobs: readonly JobListItem[]; reach?: JobReach; failure?: ApiFailure };

/** Searches jobs of any age by words of their prompt, error, workflow or member. */
export function useJobSearch(typed: string): FoundJobs | undefined {
  const connection = useSeenConnection()?.id;
  const text = typed.trim();
  const isRequested = text.length >= MIN_LENGTH && connection !== undefined;
  const path = isRequested ? withQuery("/api/console/jobs/search", { text, limit: MAX_FOUND, connection }) : undefined;
  return useDebouncedRequest<JobSearchAnswer, FoundJobs>(path, (result) =>
    result.ok ? { text, jobs: result.value.jobs, reach: result.value.reach } : { text, jobs: [], failure: result.failure },
  );
}

type JobLookup = { id: string } & ({ kind: "asking" } | { kind: "found"; job: JobListItem } | { kind: "failed"; failure: ApiFailure });

/** The job with this id, if it is not among the newest. */
export function useJobLookup(id: string | undefined): JobLookup | undefined {
  const connection = useSeenConnection()?.id;
  const path = id === undefined || !connection ? undefined : withQuery(`/api/jobs/${encodeURIComponent(id)}`, { connection });
  const jobLookup = useDebouncedRequest<JobListItem, JobLookup>(path, (result) => ({
    id: id ?? "",
    ...(result.ok ? { kind: "found", job: result.value } : { kind: "failed", failure: result.failure }),
  }));
  if (id === undefined || !connection) return undefined;
  return jobLookup?.id === id ? jobLookup : { id, kind: "asking" };
}

const DEBOUNCE_MS = 200;

/**
 * The parsed response of `path`, requested a moment after the last change. The previous value is returned while the next one loads. Undefined
 * without a path.
 */
export function useDebouncedRequest<Answer, Found>(
  path: `/${string}` | undefined,
  parse: (result: Result<Answer, ApiFailure>) => Found,
): Found | undefined {
  const [latestValue, setValue] = useState<Found>();
  const handleResult = useEffectEvent((result: Result<Answer, ApiFailure>) => setValue(parse(result)));
  useEffect(() => {
    if (path === undefined) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const result = await callApi<Answer>(path, { signal: controller.signal });
      if (!controller.signal.aborted) handleResult(result);
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [path]);
  return path === undefined ? undefined : latestValue;
}
