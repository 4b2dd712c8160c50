"use client";

import { useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";
import { type Receipt, receiptOfClear } from "./receipt";

/** All that wait, also those beyond the list; behind a question, which says itself why there is no answer. */
export function useClearing(connection: string | undefined, refresh: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [receipt, setReceipt] = useState<Receipt>();
  async function clear(count: number): Promise<ApiFailure | undefined> {
    setBusy(true);
    const result = await callApi<QueueAnswer>(withQuery("/api/queue", { connection }), { method: "POST", json: { clear: true } });
    setBusy(false);
    if (!result.ok) return result.failure;
    const told = receiptOfClear(count, result.value);
    const refreshed = refresh();
    // Where the service names nothing, the list after it is all that is known.
    if (told.kind === "untold") await refreshed;
    setReceipt(told);
    await refreshed;
    return undefined;
  }
  return { isBusy, receipt, clear, dismiss: () => setReceipt(undefined) };
}
