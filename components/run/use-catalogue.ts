"use client";

import useSWR from "swr";
import { callApi } from "@/lib/browser/api";
import { type ApiFailure } from "@/lib/browser/read-failure";
import { withQuery } from "@/lib/browser/urls";
import { lacksOperation } from "@/lib/contract/failure";
import { type ObjectInfo } from "@/lib/contract/schemas/object-info";

export type Catalogue = { info?: ObjectInfo; isMissing: "no" | "absent" | "failed"; readAgain: () => void };

/** The service's node catalogue, asked for once a workflow is open. It may be megabytes: read once per connection, never polled. */
export function useCatalogue(connection: string | undefined, isWanted: boolean): Catalogue {
  const path = isWanted ? withQuery("/api/object_info", { connection }) : undefined;
  const { data, error, mutate } = useSWR<ObjectInfo, ApiFailure>(path, read, {
    revalidateOnFocus: false,
    revalidateOnReconnect: false,
    revalidateIfStale: false,
    shouldRetryOnError: false,
  });
  return { info: data, isMissing: data || !error ? "no" : lacksOperation(error) ? "absent" : "failed", readAgain: () => void mutate() };
}

async function read(path: `/${string}`): Promise<ObjectInfo> {
  const result = await callApi<ObjectInfo>(path);
  if (!result.ok) throw result.failure;
  return result.value;
}
