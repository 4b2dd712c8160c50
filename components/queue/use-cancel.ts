"use client";

import { useState } from "react";
import { callApi, type CallInit } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type StopReceipt } from "@/lib/contract/console";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";
import { type Receipt, receiptOf, receiptOfClear } from "./receipt";

const nobody: ReadonlySet<string> = new Set();

/** Jobs that were meant: those that waited and those that ran when the person decided. */
export type Meant = { pending: readonly string[]; running: readonly string[] };
/** `left`: those of whom nothing is known, since the failure stands in the way. */
export type Cancelled = { receipt?: Receipt; stop?: StopReceipt; failure?: ApiFailure; left?: Meant };

/** `cancel` means exactly the jobs that were shown; `clear` means all that wait, also those beyond the list. */
export function useCancel(connection: string | undefined) {
  const [busyIds, setBusyIds] = useState(nobody);
  const call = <T>(path: `/${string}`, json: unknown, init?: CallInit) =>
    callApi<T>(withQuery(path, { connection }), { method: "POST", json, ...init });

  async function cancel({ pending, running }: Meant, isLeaving: boolean): Promise<Cancelled> {
    const init = isLeaving ? { keepalive: true } : {};
    setBusyIds(new Set([...pending, ...running]));
    const [queue, stop] = await Promise.all([
      pending.length > 0 ? call<QueueAnswer>("/api/queue", { delete: pending }, init) : undefined,
      running.length > 0 ? call<StopReceipt>("/api/console/jobs/stop", { ids: running }, init) : undefined,
    ]);
    setBusyIds(nobody);
    const failure = queue && !queue.ok ? queue.failure : stop && !stop.ok ? stop.failure : undefined;
    const left = { pending: queue && !queue.ok ? pending : [], running: stop && !stop.ok ? running : [] };
    return {
      ...(queue?.ok && { receipt: receiptOf(pending, queue.value) }),
      ...(stop?.ok && { stop: stop.value }),
      ...(failure && { failure, left }),
    };
  }

  async function clear(shown: readonly string[], count: number): Promise<Cancelled> {
    setBusyIds(new Set(shown));
    const result = await call<QueueAnswer>("/api/queue", { clear: true });
    setBusyIds(nobody);
    return result.ok ? { receipt: receiptOfClear(count, result.value) } : { failure: result.failure };
  }

  /** Everything that runs, at services that cannot stop one alone. */
  async function interruptAll(): Promise<Cancelled> {
    const result = await call<undefined>("/api/interrupt", {});
    return result.ok ? {} : { failure: result.failure };
  }

  return { busyIds, cancel, clear, interruptAll };
}
