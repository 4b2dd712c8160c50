"use client";

import { useMemo } from "react";
import useSWR from "swr";
import { type QueueList } from "./queue-rows";
import { MOST_WORKFLOWS, readRunTimes } from "./read-run-times";
import { type StartRange, startRanges } from "./start-range";

const EVERY_MS = 60_000;

/** When each of those that wait may start, as of `atMs`; reckoned once for the whole list. */
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
    { refreshInterval: EVERY_MS, keepPreviousData: true, revalidateOnFocus: false },
  );
  const starts = useMemo(() => {
    const ranges = startRanges({ running, pending, timesOf: (id) => times?.get(id ?? ""), nowMs: atMs ?? 0 });
    return new Map(pending.map(({ id }, index) => [id, ranges[index]]));
  }, [running, pending, times, atMs]);
  return (id) => starts.get(id);
}
