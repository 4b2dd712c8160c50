"use client";

import useSWR from "swr";
import { callApi } from "@/lib/browser/api";
import { withQuery } from "@/lib/browser/urls";
import { type StopAbility } from "@/lib/contract/console";

async function readAbility(path: `/${string}`): Promise<boolean> {
  const result = await callApi<StopAbility>(path);
  // Not known yet: trying it shows.
  return !result.ok || result.value.canStop;
}

/** False where the service is known to have no way to stop what runs. Asked for only while something does. */
export function useCanStop(connection: string | undefined, isRunning: boolean): boolean {
  const path = isRunning && connection !== undefined ? withQuery("/api/console/jobs/stop", { connection }) : null;
  const { data } = useSWR(path, readAbility, { revalidateOnFocus: false, revalidateIfStale: true });
  return data !== false;
}
