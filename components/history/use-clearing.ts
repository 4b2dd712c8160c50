"use client";

import { useState } from "react";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";

/** All entries, behind a question, which says itself why there is no answer. */
export function useClearing(connection: string | undefined, refresh: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false);
  const [isDone, setDone] = useState(false);
  async function clear(): Promise<ApiFailure | undefined> {
    setDone(false);
    setBusy(true);
    const result = await callApi(withQuery("/api/history", { connection }), { method: "POST", json: { clear: true } });
    setBusy(false);
    if (!result.ok) return result.failure;
    await refresh();
    setDone(true);
    return undefined;
  }
  return { isBusy, isDone, clear, dismiss: () => setDone(false) };
}
