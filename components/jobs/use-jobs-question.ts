"use client";

import { useSearchParams } from "next/navigation";
import { useMemo, useState } from "react";
import { initialOf, type Poll, type Stamped, usePoll } from "@/lib/browser/use-poll";
import { type Failure } from "@/lib/contract/failure";
import { type JobSearchQuery } from "@/lib/contract/console-job-search";
import { type Result } from "@/lib/shared/result";
import { type JobsView, toJobsView } from "./job-row";
import { jobsApiPath, jobsHref, readJobsQuery } from "./jobs-address";

type Asking = {
  /** As the server read the address, and what it found. */
  query: JobSearchQuery;
  first: Result<Stamped<JobsView>, Failure>;
  connectionId: string | undefined;
};
type Shown = { query: JobSearchQuery; view: JobsView; atMs: number | undefined };

const motionOf = (view: JobsView) => (view.rows.some(({ state }) => state === "in_progress" || state === "pending") ? "moving" : "still");

/** The question of the address, and the newest answer: until the first one to another question is here, the last one to the question before it. */
export function useJobsQuestion({ query, first, connectionId }: Asking): { question: JobSearchQuery; poll: Poll<JobsView>; shown?: Shown } {
  const question = useQuestion(query);
  const path = connectionId ? jobsApiPath(question, connectionId) : undefined;
  const known = question === query ? initialOf(first) : {};
  const poll = usePoll(path, { ...known, read: toJobsView, motion: motionOf, isAskedAnew: true });
  const { value: view, atMs, failure } = poll;
  const [last, setLast] = useState<Shown>();
  if (view === undefined) return { question, poll, shown: failure ? undefined : last };
  if (last?.view === view && last.query === question) return { question, poll, shown: last };
  const shown = { query: question, view, atMs };
  setLast(shown);
  return { question, poll, shown };
}

/** The same object while the address asks for the same list, and the server's own where it is the one that it read. */
function useQuestion(query: JobSearchQuery): JobSearchQuery {
  const search = useSearchParams().toString();
  const href = useMemo(() => jobsHref(readJobsQuery(new URLSearchParams(search))), [search]);
  return useMemo(() => (href === jobsHref(query) ? query : readJobsQuery(new URL(href, "http://page").searchParams)), [href, query]);
}
