"use client";

import { useSWRConfig } from "swr";
import { withQuery } from "@/lib/browser/urls";
import { usePoll } from "@/lib/browser/use-poll";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { useConnection } from "./connection-context";

const totalOf = (answer: JobsAnswer) => answer.pagination.total;
const inBackground = () => "background" as const;

function countPaths(connection: string) {
  const path = (status?: string) => withQuery("/api/jobs", { status, limit: 1, connection });
  return { jobs: path(), queue: path("pending,in_progress") };
}

/** How many jobs there are and how many of them run or wait; undefined until it is known, or where a service does not say. */
export function useCounts(): { jobs?: number; queue?: number } {
  const connection = useConnection()?.id;
  const paths = connection ? countPaths(connection) : undefined;
  const jobs = usePoll(paths?.jobs, { read: totalOf, motion: inBackground });
  const queue = usePoll(paths?.queue, { read: totalOf, motion: inBackground });
  return { jobs: jobs.value, queue: queue.value };
}

/** After an act that changes them. */
export function useRefreshCounts(): () => Promise<void> {
  const { mutate } = useSWRConfig();
  const connection = useConnection()?.id;
  return async () => {
    if (!connection) return;
    const { jobs, queue } = countPaths(connection);
    await Promise.all([mutate(jobs), mutate(queue)]);
  };
}
