"use client";

import { useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";
import { failed, ok, type Result } from "@/lib/shared/result";
import { addReceipts, type Receipt, receiptOf } from "./receipt";

/** The most ids that one call of the interface takes. */
const MOST_IDS = 1000;
const nobody: ReadonlySet<string> = new Set();

/** Cancels exactly the ids that were shown: a job that joined the queue meanwhile is not cancelled unseen. */
export function useCancel(connection: string | undefined) {
  const [busyIds, setBusyIds] = useState(nobody);
  async function cancel(ids: readonly string[]): Promise<Result<Receipt, { failure: ApiFailure; done: Receipt }>> {
    setBusyIds(new Set(ids));
    let done: Receipt = { cancelled: 0, tooLate: 0 };
    try {
      for (let start = 0; start < ids.length; start += MOST_IDS) {
        const chunk = ids.slice(start, start + MOST_IDS);
        const result = await callApi<QueueAnswer>(withQuery("/api/queue", { connection }), { method: "POST", json: { delete: chunk } });
        if (!result.ok) return failed({ failure: result.failure, done });
        done = addReceipts(done, receiptOf(chunk, result.value));
      }
      return ok(done);
    } finally {
      setBusyIds(nobody);
    }
  }
  return { busyIds, cancel };
}
