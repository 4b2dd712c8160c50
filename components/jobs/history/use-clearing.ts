"use client";

import { useState } from "react";
import { clearAll } from "@/lib/browser/clear-all";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { endedJobsPath } from "./history-address";

/** All entries, behind a question, which says itself why there is no answer. */
export function useClearing(connection: string | undefined, refresh: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  /** How many entries are there afterwards: others than none where the answer was lost. */
  const [left, setLeft] = useState<number>();
  async function clear(): Promise<ApiFailure | undefined> {
    setLeft(undefined);
    setBusy(true);
    const result = await clearAll(withQuery("/api/history", { connection }), endedJobsPath(connection));
    setBusy(false);
    if (!result.ok) return result.failure;
    await refresh();
    setLeft(result.value.kind === "lost" ? result.value.left : 0);
    return undefined;
  }
  return { isBusy, left, clear, dismiss: () => setLeft(undefined) };
}
