import { useMemo } from "react";
import useSWR from "swr";
import { callApi } from "@/lib/browser/api";
import { isSessionOver } from "@/lib/browser/poll/use-poll";
import { withQuery } from "@/lib/browser/urls";
import { type JobsAnswer } from "@/lib/contract/schemas/job";
import { toJobView } from "@/lib/contract/views/job-view";
import { type QueueList } from "./queue-list";
import { type RunTimes, runTimesOf, type StartRange, startRanges } from "./start-range";

/** More workflows than a queue that people read row by row has. */
const MOST_WORKFLOWS = 12;
const RUNS = 20;
const AT_ONCE = 3;
const FRESH_MS = 60_000;

const known = new Map<string, { atMs: number; times: RunTimes | undefined }>();

async function readRunTimes(connection: string, workflowIds: readonly string[]): Promise<ReadonlyMap<string, RunTimes>> {
  const ids = workflowIds.slice(0, MOST_WORKFLOWS);
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    await Promise.all(ids.slice(at, at + AT_ONCE).map((id) => keepFresh(connection, id)));
  }
  return new Map(
    ids.flatMap((id) => {
      const times = known.get(`${connection} ${id}`)?.times;
      return times ? [[id, times] as const] : [];
    }),
  );
}

async function keepFresh(connection: string, id: string): Promise<void> {
  const key = `${connection} ${id}`;
  const last = known.get(key);
  if (last && Date.now() - last.atMs < FRESH_MS) return;
  const path = withQuery("/api/jobs", { workflow_id: id, status: "completed", limit: RUNS, connection });
  const result = await callApi<JobsAnswer>(path);
  // The earlier times are kept.
  if (!result.ok) return;
  const times = runTimesOf(result.value.jobs.flatMap((item) => toJobView(item).runMs ?? []));
  known.set(key, { atMs: Date.now(), times });
}

const EVERY_MS = 60_000;

/** When each waiting job may start, as of `atMs`; computed once for the whole list. */
export function useStarts(
  connection: string | undefined,
  { running, pending }: Pick<QueueList, "running" | "pending">,
  atMs: number | undefined,
): (id: string) => StartRange | undefined {
  const seen = new Set([...running, ...pending].flatMap(({ workflowId }) => workflowId ?? []));
  const ids = pending.length > 0 ? [...seen].slice(0, MOST_WORKFLOWS) : [];
  const { data: times } = useSWR(
    connection && ids.length > 0 ? ["run-times", connection, ...ids] : null,
    () => readRunTimes(connection ?? "", ids),
    { refreshInterval: EVERY_MS, keepPreviousData: true, revalidateOnFocus: false, isPaused: isSessionOver },
  );
  const starts = useMemo(() => {
    const ranges = startRanges({ running, pending, timesOf: (id) => times?.get(id ?? ""), nowMs: atMs ?? 0 });
    return new Map(pending.map(({ id }, index) => [id, ranges[index]]));
  }, [running, pending, times, atMs]);
  return (id) => starts.get(id);
}
