"use client";

import { useState } from "react";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type QueueAnswer } from "@/lib/contract/schemas/queue";

const nobody: ReadonlySet<string> = new Set();

/** `cancel` means exactly the jobs that were shown; `clear` means all that wait, also those beyond the list. */
export function useCancel(connection: string | undefined) {
  const [busyIds, setBusyIds] = useState(nobody);
  async function send(ids: readonly string[], json: { delete: readonly string[] } | { clear: true }) {
    setBusyIds(new Set(ids));
    const result = await callApi<QueueAnswer>(withQuery("/api/queue", { connection }), { method: "POST", json });
    setBusyIds(nobody);
    return result;
  }
  return {
    busyIds,
    cancel: (ids: readonly string[]) => send(ids, { delete: ids }),
    clear: (shown: readonly string[]) => send(shown, { clear: true }),
  };
}
