"use client";

import { usePoll } from "@/lib/browser/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { useConnection } from "./connection-context";

const totalOf = (answer: JobsAnswer) => answer.pagination.total;
const inBackground = () => "background" as const;

/** How many jobs there are and how many of them run or wait; undefined until it is known, or where a service does not say. */
export function useCounts(): { jobs?: number; queue?: number } {
  const connection = useConnection()?.id;
  const path = (status?: string) => (connection ? withQuery("/api/jobs", { status, limit: 1, connection }) : undefined);
  const jobs = usePoll(path(), { read: totalOf, motion: inBackground });
  const queue = usePoll(path("pending,in_progress"), { read: totalOf, motion: inBackground });
  return { jobs: jobs.value, queue: queue.value };
}
